extension PeerDescription {
    /// Transports of a leg at a time; m-lines beyond them are refused.
    package static let maximumTransports = 8

    /// The m-lines that share a transport with this one, itself among them: those of its BUNDLE group with the tagged
    /// one first (RFC 9143 §7.3.1).
    package func sharers(of index: Int) -> [Int] { groups.first { $0.contains(index) } ?? [index] }

    /// Which transport each m-line is on.
    ///
    /// - Parameters:
    ///   - agreed: The m-lines of the leg so far. An m-line of the first transport keeps it, with those that are
    ///     bundled with it. Where nothing is agreed the first m-line that is carried has it.
    ///   - isCarried: Whether an m-line counts.
    func transportNumbers(agreed: [NegotiatedMedia], isCarried: (Int) -> Bool) -> [TransportNumber] {
        let isStanding = agreed.contains { !$0.isRejected }
        let owner = media.indices.first { index in
            guard isCarried(index) else { return false }
            guard isStanding else { return true }
            return index < agreed.count && !agreed[index].isRejected && agreed[index].transport == .first
        }
        let first = owner.map(sharers) ?? []
        return media.indices.map { index in
            if first.contains(index) { return .first }
            return TransportNumber(ofLine: sharers(of: index).filter(isCarried).min() ?? index)
        }
    }

    /// The m-line whose transport attributes count for a transport: the first that is carried, in the order of the
    /// group.
    func taggedLine(of number: TransportNumber, in numbers: [TransportNumber], isCarried: (Int) -> Bool) -> Int? {
        guard let member = media.indices.first(where: { numbers[$0] == number && isCarried($0) }) else { return nil }
        return sharers(of: member).first(where: isCarried)
    }
}
