package import Primitives

/// Gives packets of changing sources one continuous series of sequence numbers.
///
/// While a source stays, its numbers are moved by a constant, so that gaps and reordering show through and a NACK can be
/// moved back. A new source goes on one after the highest number used.
///
///     source X  100 101 102            source Y   7   8   9
///     outgoing  500 501 502                     503 504 505
///                            ▲ begin(at: 7): whatever is older than 7 has no place any more
package struct SequenceMapping: Equatable, Sendable {
    /// How far before its first packet the very first source may reach, when packets overtook each other at the start.
    private static let slack = 64
    /// The floor follows the highest number at this distance, so that it never comes round to the front.
    private static let reach = 0x2000

    /// The highest number given out, or the one before the first.
    package private(set) var highest: SequenceNumber
    private var offset: UInt16 = 0
    /// The oldest outgoing number of the present source.
    private var floor: SequenceNumber
    private var isFirst = true

    /// Begins in the lower half: a receiver that misses the first packets then cannot miss a wrap of the number as well,
    /// and with it SRTP's rollover counter (RFC 3711 §3.3.1).
    package init(random: inout some RandomSource) {
        self.init(lastUsed: SequenceNumber(UInt16(truncatingIfNeeded: random.next()) & 0x7FFF) + Self.slack)
    }

    /// As if `lastUsed` had been given out.
    package init(lastUsed: SequenceNumber) {
        highest = lastUsed
        floor = lastUsed + 1
    }

    /// Another source takes over with the packet numbered `number`, or the same one after a jump.
    package mutating func begin(at number: SequenceNumber) {
        let next = highest + 1
        offset = next.rawValue &- number.rawValue
        floor = isFirst ? next + -Self.slack : next
        isFirst = false
    }

    /// The number of a packet that has no source; what a source sent before has no place any more.
    package mutating func next() -> SequenceNumber {
        highest = highest + 1
        floor = highest + 1
        isFirst = false
        return highest
    }

    /// The outgoing number of the source's packet; `nil` if it is older than the source may reach.
    package mutating func translate(_ number: SequenceNumber) -> SequenceNumber? {
        guard let outgoing = outgoing(of: number) else { return nil }
        if outgoing.isNewer(than: highest) {
            highest = outgoing
            if highest - floor > 2 * Self.reach { floor = highest + -Self.reach }
        }
        return outgoing
    }

    /// The same without giving it out.
    package func outgoing(of number: SequenceNumber) -> SequenceNumber? {
        let outgoing = SequenceNumber(number.rawValue &+ offset)
        return outgoing - floor >= 0 ? outgoing : nil
    }

    /// How far the source's packet would be ahead of all that was given out; negative if it is behind.
    package func lead(of number: SequenceNumber) -> Int { SequenceNumber(number.rawValue &+ offset) - highest }

    /// The number that the present source gave to an outgoing packet; `nil` if it was none of its packets.
    package func source(of outgoing: SequenceNumber) -> SequenceNumber? {
        guard outgoing - floor >= 0, highest - outgoing >= 0 else { return nil }
        return SequenceNumber(outgoing.rawValue &- offset)
    }
}
