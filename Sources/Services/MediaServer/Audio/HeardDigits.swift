package import Audio
package import MediaPlane

/// The DTMF digits that headless legs hear of other legs, once each: when the digit is released, or when nothing has
/// been heard of it for a while, because the end of its event was lost (RFC 4733 §2.5.1.4).
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
        /// Cycles of 20 ms since the last packet about it.
        var silence = 0
    }

    /// After so many cycles of 20 ms without a packet a digit counts as released.
    private static let patience = 15

    private var pressed = [Pressed?](repeating: nil, count: Bridge.maximumLegs)
    private var digits: [Digit] = []

    /// No digit is pressed.
    package init() {}

    /// Takes what a packet has changed.
    package mutating func note(_ change: DigitReception.Change, of leg: LegIndex) {
        let place = Int(leg.rawValue)
        switch change {
        case .started(let digit, let length, let isEnd):
            release(place)
            pressed[place] = Pressed(digit: digit, length: length)
            if isEnd { release(place) }
        case .lasts(let length):
            pressed[place]?.length = length
            pressed[place]?.silence = 0
        case .ended(let length):
            pressed[place]?.length = length
            release(place)
        }
    }

    /// A digit was found in the audio of a leg.
    package mutating func detected(_ digit: Character, of leg: LegIndex) {
        digits.append(Digit(leg: leg, digit: digit, length: nil))
    }

    /// A leg has left. A digit that is still pressed is not told: another leg may have its index by then.
    package mutating func forget(_ leg: LegIndex) { pressed[Int(leg.rawValue)] = nil }

    /// A cycle of 20 ms has passed.
    package mutating func pass() {
        for place in pressed.indices {
            guard let silence = pressed[place]?.silence else { continue }
            pressed[place]?.silence = silence + 1
            if silence >= Self.patience { release(place) }
        }
    }

    /// The digits since the last call, in their order.
    package mutating func take() -> [Digit] {
        guard !digits.isEmpty else { return [] }
        defer { digits = [] }
        return digits
    }

    private mutating func release(_ place: Int) {
        guard let latest = pressed[place] else { return }
        pressed[place] = nil
        digits.append(Digit(leg: LegIndex(place), digit: latest.digit, length: latest.length))
    }
}
