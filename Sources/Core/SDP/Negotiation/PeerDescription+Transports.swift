extension PeerDescription {
    /// The most transports that a leg has at a time; m-lines that would need more are refused.
    package static let maximumTransports = 8

    /// The m-lines that share a transport with the one at `index`, including itself: those of its BUNDLE group, tagged
    /// m-line first (RFC 9143 §7.3.1).
    package func sharers(of index: Int) -> [Int] { groups.first { $0.contains(index) } ?? [index] }

    /// The transport of each m-line.
    ///
    /// - Parameters:
    ///   - agreed: The leg's m-lines as last agreed. An m-line on the first transport stays on it, together with those
    ///     that are bundled with it. If nothing is agreed, the first carried m-line gets the first transport.
    ///   - isCarried: Whether the m-line at an index is carried.
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

    /// The m-line whose transport attributes count for a transport: the first carried one in the order of the BUNDLE
    /// group; `nil` if the transport has no carried m-line.
    func taggedLine(of number: TransportNumber, in numbers: [TransportNumber], isCarried: (Int) -> Bool) -> Int? {
        guard let member = media.indices.first(where: { numbers[$0] == number && isCarried($0) }) else { return nil }
        return sharers(of: member).first(where: isCarried)
    }
}
