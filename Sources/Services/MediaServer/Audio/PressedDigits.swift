internal import Audio
internal import Primitives
internal import RTP
internal import SDP

/// The DTMF digits that one leg is sent: as telephone events if its peer accepts them (RFC 4733), as tones in the audio
/// otherwise.
struct PressedDigits {
    /// A packet of a telephone event, and the time that passes with it.
    struct Event {
        enum TimestampStep: Equatable {
            /// The timestamp stays: all packets of an event have the timestamp of its start (RFC 4733 §2.5.1.2).
            case nothing
            /// The event continues in a new segment after so many samples of 48 kHz.
            case segment(Int)
            /// The digit has ended, and so many samples of 48 kHz have passed.
            case all(Int)
        }

        let payloadType: PayloadType
        let payload: TelephoneEvent
        /// Whether it is the first packet of the digit, which has the marker bit.
        let isFirst: Bool
        let timestampStep: TimestampStep
    }

    /// The format of telephone events; `nil` if the peer does not accept them.
    let format: TelephoneEventFormat?
    private var queue: DigitQueue?
    /// Cycles of 20 ms since the digit was pressed.
    private var cycles = 0
    /// Samples of these cycles by which the timestamp has advanced already.
    private var passed = 0

    /// - Parameter former: Its digits that wait are sent here, even if the format has changed.
    init(_ format: TelephoneEventFormat?, after former: PressedDigits?) {
        if let former { self = former.converted(to: format) } else { self.format = format }
    }

    private init(_ format: TelephoneEventFormat?, _ queue: DigitQueue?, cycles: Int, passed: Int) {
        (self.format, self.queue, self.cycles, self.passed) = (format, queue, cycles, passed)
    }

    private func converted(to format: TelephoneEventFormat?) -> PressedDigits {
        PressedDigits(format, queue, cycles: cycles, passed: passed)
    }

    /// Whether digits, or pauses between them, wait.
    var isPressing: Bool { queue != nil }
    var isPausing: Bool { queue?.isPausing == true }

    /// Appends digits to those that wait; `false` if there was no room for all of them.
    mutating func append(_ more: DigitQueue) -> Bool {
        if queue == nil { queue = DigitQueue() }
        return queue?.append(more) ?? false
    }

    /// Passes on a digit that another peer presses, for as long as it is pressed there; `false` if there was no room
    /// for it.
    mutating func follow(_ change: DigitReception.Change) -> Bool {
        if queue == nil { queue = DigitQueue() }
        return queue?.follow(change) ?? false
    }

    /// What is sent in the next 20 ms; `nil` if audio is sent.
    mutating func next() -> DigitQueue.Step? {
        switch queue?.next() {
        case .event(let step): return step
        case .done: queue = nil
        case .pause, nil: break
        }
        return nil
    }

    /// Makes a telephone event packet of a step, for a peer that accepts them.
    mutating func event(_ step: DigitQueue.Step) -> Event {
        guard let format else { preconditionFailure("only a peer who knows events is sent one") }
        let length = step.length - passed
        // An event too long for a duration of 16 bits continues in another segment, without a marker, at the end of
        // this one (RFC 4733 §2.5.1.3).
        let isFull = length > format.longestSegment
        let duration = isFull ? Int(UInt16.max) : length * format.clockRate / 48_000
        cycles += 1
        var timestampStep = Event.TimestampStep.nothing
        if step.isLast {
            timestampStep = .all(cycles * AudioMixer.frame - passed)
            (cycles, passed) = (0, 0)
        } else if isFull {
            timestampStep = .segment(format.longestSegment)
            passed += format.longestSegment
        }
        return Event(
            payloadType: format.payloadType,
            payload: TelephoneEvent(
                digit: step.digit, isEnd: step.isEnd && !isFull, duration: UInt16(clamping: duration)),
            isFirst: step.isFirst, timestampStep: timestampStep)
    }
}

/// The format in which a peer accepts DTMF digits as telephone events. Peers without it are sent tones.
struct TelephoneEventFormat {
    let payloadType: PayloadType
    /// Ticks per second of the durations. Timestamps advance at the clock rate of the audio even where this rate
    /// differs, as in browsers.
    let clockRate: Int

    /// Chooses the telephone events with the clock rate of the audio, or any others; `nil` if the codecs have none.
    init?(among codecs: [Codec], beside format: AudioFormat) {
        let events = codecs.filter { $0.isTelephoneEvent && $0.clockRate > 0 }
        guard let chosen = events.first(where: { $0.clockRate == format.clockRate }) ?? events.first else { return nil }
        payloadType = chosen.payloadType
        clockRate = chosen.clockRate
    }

    /// The greatest duration that one event can have, in samples of 48 kHz.
    var longestSegment: Int { Int(UInt16.max) * 48_000 / clockRate }
}
