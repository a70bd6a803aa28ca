package import Audio
package import MediaPlane
package import Primitives
internal import RTP

/// The DTMF digits that the peers of a call press, once each: when the digit is released, when the next one starts, or
/// when nothing has been heard of it for a while, because the end of its event was lost (RFC 4733 §2.5.1.4).
///
/// It does not matter whether the audio of the peer is relayed or decoded. A peer that presses more digits than
/// anybody can (`limit`) has further ones dropped and counted. Nothing is kept of peers that press none.
package struct HeardDigits {
    /// A digit that was pressed.
    package struct Digit: Equatable, Sendable {
        /// The leg whose peer pressed it.
        package let leg: LegIndex
        /// The digit.
        package let digit: Character
        /// How long it was pressed, in samples of 48 kHz; `nil`: unknown, because it was found in the audio.
        package let length: Int?

        /// Makes a digit of its parts; each parameter is the property of that name.
        package init(leg: LegIndex, digit: Character, length: Int?) {
            self.leg = leg
            self.digit = digit
            self.length = length
        }
    }

    private struct Pressed {
        let digit: Character
        var length: Int
        /// When something was last heard of it.
        var heard: MonotonicTime
    }

    private struct Peer {
        let leg: LegIndex
        /// The source of its latest telephone event.
        var source: SSRC?
        var reception = DigitReception()
        /// The digit that is down; `nil`: none is.
        var pressed: Pressed?
        var rate = RateLimit()
    }

    /// After so long without news of it a digit counts as released.
    package static let patience = Duration.milliseconds(320)

    /// How many digits of one peer are told. No request presses more than 128 digits, and nobody presses more than four
    /// a second for long.
    package static let limit = RateLimit.Configuration(burst: 128, interval: .milliseconds(250))

    private var peers: [Peer] = []
    private var digits: [Digit] = []
    private var dropped = 0

    /// No digit is pressed.
    package init() {}

    // MARK: What is heard

    /// Takes a packet that concerns digits (`Arrival.concernsDigits`).
    package mutating func receive(_ arrival: Arrival, _ payload: Span<UInt8>, at now: MonotonicTime) {
        let header = arrival.header
        guard arrival.isTelephoneEvent else {
            // Timestamps of the source start anew.
            for place in peers.indices where peers[place].leg == arrival.leg && peers[place].source == header.ssrc {
                peers[place].source = nil
            }
            return
        }
        guard let event = TelephoneEvent(parsing: payload) else { return }
        let place = place(of: arrival.leg)
        if arrival.isRestart || peers[place].source != header.ssrc { peers[place].reception.restart() }
        peers[place].source = header.ssrc
        let change = peers[place].reception.receive(
            event, isMarked: header.marker, at: header.timestamp, clockRate: Int(arrival.clockRate))
        if let change { note(change, at: place, now) }
    }

    /// Takes what a packet of a leg's peer has changed.
    package mutating func note(_ change: DigitReception.Change, of leg: LegIndex, at now: MonotonicTime) {
        note(change, at: place(of: leg), now)
    }

    /// A digit was found in the audio of a leg.
    package mutating func detected(_ digit: Character, of leg: LegIndex, at now: MonotonicTime) {
        tell(digit, length: nil, at: place(of: leg), now)
    }

    /// A leg has left. A digit that is still pressed is not told: another leg may have its index by then.
    package mutating func forget(_ leg: LegIndex) { peers.removeAll { $0.leg == leg } }

    // MARK: Time

    /// When `timeout` is due; `nil` while no digit is pressed.
    package var nextDeadline: MonotonicTime? {
        peers.lazy.compactMap(\.pressed?.heard).min().map { $0 + Self.patience }
    }

    /// Releases the digits of which nothing has been heard for too long. A call before `nextDeadline` does nothing.
    package mutating func timeout(at now: MonotonicTime) {
        for place in peers.indices {
            if let heard = peers[place].pressed?.heard, heard + Self.patience <= now { release(place, now) }
        }
    }

    // MARK: What is told

    /// The digits since the last call, in their order.
    package mutating func take() -> [Digit] {
        guard !digits.isEmpty else { return [] }
        defer { digits = [] }
        return digits
    }

    /// How many digits have been dropped since the last call, because their peers pressed too many.
    package mutating func takeDropped() -> Int {
        defer { dropped = 0 }
        return dropped
    }

    private mutating func note(_ change: DigitReception.Change, at place: Int, _ now: MonotonicTime) {
        switch change {
        case .started(let digit, let length, let isEnd):
            release(place, now)
            peers[place].pressed = Pressed(digit: digit, length: length, heard: now)
            if isEnd { release(place, now) }
        case .lasts(let length):
            peers[place].pressed?.length = length
            peers[place].pressed?.heard = now
        case .ended(let length):
            peers[place].pressed?.length = length
            release(place, now)
        }
    }

    private mutating func release(_ place: Int, _ now: MonotonicTime) {
        guard let latest = peers[place].pressed else { return }
        peers[place].pressed = nil
        tell(latest.digit, length: latest.length, at: place, now)
    }

    private mutating func tell(_ digit: Character, length: Int?, at place: Int, _ now: MonotonicTime) {
        guard peers[place].rate.admit(Self.limit, at: now) else {
            dropped += 1
            return
        }
        digits.append(Digit(leg: peers[place].leg, digit: digit, length: length))
    }

    private mutating func place(of leg: LegIndex) -> Int {
        if let known = peers.firstIndex(where: { $0.leg == leg }) { return known }
        peers.append(Peer(leg: leg))
        return peers.count - 1
    }
}
