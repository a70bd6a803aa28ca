internal import CallControl

/// The places of sounds that are fetched: so many in all, and so many for one application. Who finds none waits for
/// one, in the order of coming.
///
/// A fetch ends by a time that is the same span after its wish for every fetch. So a place is there by that time for
/// everybody who waits, and nobody has to be told earlier that the time is over.
struct FetchPlaces {
    /// What becomes of a wish.
    enum Answer: Equatable {
        /// It has a place.
        case granted
        /// It will be told.
        case waits
        /// As many wait already as may.
        case refused
    }

    /// The most sounds that are fetched at a time.
    static let maximum = 32
    /// The most of them for one application.
    static let maximumOfOne = 8
    /// The most wishes of one application that wait.
    static let maximumWaiting = 256

    private var taken: [ApplicationName: Int] = [:]
    private var takenCount = 0
    private var waiting: [(number: Int, application: ApplicationName)] = []

    /// A sound is to be fetched for an application; `number` names the wish.
    mutating func ask(_ number: Int, for application: ApplicationName) -> Answer {
        if mayHave(application) {
            take(application)
            return .granted
        }
        guard waiting.count(where: { $0.application == application }) < Self.maximumWaiting else { return .refused }
        waiting.append((number, application))
        return .waits
    }

    /// A place of an application is free again.
    ///
    /// - Returns: the wish that has a place now; `nil`: there is none that may.
    mutating func leave(_ application: ApplicationName) -> Int? {
        let left = (taken[application] ?? 0) - 1
        taken[application] = left > 0 ? left : nil
        takenCount -= 1
        guard let next = waiting.firstIndex(where: { mayHave($0.application) }) else { return nil }
        let wish = waiting.remove(at: next)
        take(wish.application)
        return wish.number
    }

    private func mayHave(_ application: ApplicationName) -> Bool {
        takenCount < Self.maximum && (taken[application] ?? 0) < Self.maximumOfOne
    }

    private mutating func take(_ application: ApplicationName) {
        taken[application, default: 0] += 1
        takenCount += 1
    }
}
