/// The choice of the worker that carries a new call.
package enum WorkerChoice {
    /// What is known of a worker.
    package struct Candidate: Sendable {
        /// Its load in percent when it was measured last.
        package var load: Int
        /// Its calls then.
        package var measuredCalls: Int
        /// The calls that have caused the load, those that had ended by then included (``WorkerLoad/servedCalls``).
        package var servedCalls: Int
        /// Its calls now.
        package var calls: Int

        /// Makes a candidate; each parameter is the property of that name.
        package init(load: Int, measuredCalls: Int, servedCalls: Int, calls: Int) {
            self.load = load
            self.measuredCalls = measuredCalls
            self.servedCalls = servedCalls
            self.calls = calls
        }

        /// What the load will be once it is measured again, if the new calls cost as much as the others, and at least
        /// a tenth of a percent each.
        package var expected: Int {
            let added = max(0, calls - measuredCalls)
            return load + (servedCalls > 0 ? max(added / 10, load * added / servedCalls) : added / 10)
        }
    }

    /// Workers whose loads differ by this many percent or fewer count as equally loaded.
    package static let tolerance = 5

    /// The place of a worker with little load: a random one of those that have the least, about.
    ///
    /// - Parameters:
    ///   - candidates: The workers in their order, at least one.
    ///   - random: Random bits.
    package static func place(among candidates: [Candidate], random: UInt64) -> Int {
        let loads = candidates.map(\.expected)
        guard let least = loads.min() else { preconditionFailure("there is a worker") }
        let places = loads.indices.filter { loads[$0] <= least + tolerance }
        return places[Int(random % UInt64(places.count))]
    }
}
