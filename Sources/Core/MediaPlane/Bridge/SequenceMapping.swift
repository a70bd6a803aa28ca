package import Primitives

/// Maps the packets of changing sources to one continuous series of sequence numbers.
///
/// While a source stays, a constant is added to its numbers. Gaps and reordering thus remain visible, and a NACK can be
/// mapped back. A new source continues one after the highest number used.
///
///     source X  100 101 102            source Y   7   8   9
///     outgoing  500 501 502                     503 504 505
///                            ▲ start(at: 7): older packets than 7 have no place any more
package struct SequenceMapping: Equatable, Sendable {
    /// How many numbers before its first packet the very first source may use, if packets overtook each other at the
    /// start.
    private static let slack = 64
    /// The distance at which `floor` follows the highest number, so that wrap-around never brings it to the front.
    private static let reach = 0x2000

    /// The highest number used, or the one before the first.
    package private(set) var highest: SequenceNumber
    private var offset: UInt16 = 0
    /// The lowest outgoing number of the present source.
    private var floor: SequenceNumber
    private var isFirst = true

    /// Makes a mapping with a random start in the lower half. A receiver that misses the first packets then cannot also
    /// miss a wrap-around, and with it SRTP's rollover counter (RFC 3711 §3.3.1).
    package init(random: inout some RandomSource) {
        self.init(lastUsed: SequenceNumber(UInt16(truncatingIfNeeded: random.next()) & 0x7FFF) + Self.slack)
    }

    /// Makes a mapping as if `lastUsed` had been used.
    package init(lastUsed: SequenceNumber) {
        highest = lastUsed
        floor = lastUsed + 1
    }

    /// Lets another source take over with the packet numbered `number`, or the same source after a jump.
    package mutating func start(at number: SequenceNumber) {
        let next = highest + 1
        offset = next.rawValue &- number.rawValue
        floor = isFirst ? next + -Self.slack : next
        isFirst = false
    }

    /// The number for a packet without source. Earlier packets of the present source have no number any more.
    package mutating func next() -> SequenceNumber {
        highest = highest + 1
        floor = highest + 1
        isFirst = false
        return highest
    }

    /// The outgoing number of the source's packet; `nil` if the packet is too old.
    package mutating func translate(_ number: SequenceNumber) -> SequenceNumber? {
        guard let outgoing = outgoing(of: number) else { return nil }
        if outgoing.isNewer(than: highest) {
            highest = outgoing
            if highest - floor > 2 * Self.reach { floor = highest + -Self.reach }
        }
        return outgoing
    }

    /// The same without counting the number as used.
    package func outgoing(of number: SequenceNumber) -> SequenceNumber? {
        let outgoing = SequenceNumber(number.rawValue &+ offset)
        return outgoing - floor >= 0 ? outgoing : nil
    }

    /// How far the source's packet would be ahead of the highest number used; negative if it is behind.
    package func lead(of number: SequenceNumber) -> Int { SequenceNumber(number.rawValue &+ offset) - highest }

    /// The present source's number of an outgoing packet; `nil` if the packet is not of that source.
    package func source(of outgoing: SequenceNumber) -> SequenceNumber? {
        guard outgoing - floor >= 0, highest - outgoing >= 0 else { return nil }
        return SequenceNumber(outgoing.rawValue &- offset)
    }
}
