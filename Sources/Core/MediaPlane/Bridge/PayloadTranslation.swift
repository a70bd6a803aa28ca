import Primitives
import SDP

/// Which payload type of a receiver's m-line stands for which of a sender's: worked out when media begins to flow, looked up by every
/// packet.
///
/// Legs that were negotiated together have the same numbers, or numbers whose relation is known (`PayloadNumbering`). Legs that were
/// brought together later have what each agreed on with whoever was there before; there a format is found by what it is.
struct PayloadTranslation: Equatable, Sendable {
    /// The receiver's number by the sender's.
    private var numbers: [UInt8]
    /// The sender's telephone events that the receiver counts at another rate; hardly ever any.
    private var scaledEvents: [ScaledEvents] = []

    private struct ScaledEvents: Equatable, Sendable {
        var payloadType: PayloadType
        var rates: EventRates
    }

    private static let unknown: UInt8 = 0xFF

    /// Nothing can be translated.
    static let none = PayloadTranslation()

    private init() { numbers = [] }

    init(from sender: BridgeLine, to receiver: BridgeLine) {
        numbers = [UInt8](repeating: Self.unknown, count: 128)
        for codec in sender.codecs + sender.furtherCodecs where !codec.isRetransmission && !codec.isNamed("red") {
            if let counterpart = sender.counterpart(of: codec, on: receiver) {
                set(counterpart, for: codec)
            } else if let (events, rates) = receiver.events(like: codec) {
                set(events, for: codec)
                scaledEvents.append(ScaledEvents(payloadType: codec.payloadType, rates: rates))
            }
        }
        for codec in sender.codecs where codec.isRetransmission {
            let counterpart = receiver.codecs.first { $0.isRetransmission && translates(codec, to: $0) }
            set(
                codec.repairedPayloadType == nil ? sender.counterpart(of: codec, on: receiver) : counterpart, for: codec
            )
        }
        // Its packets repeat the numbers of what is in them (RFC 2198 §3), which the relay leaves alone.
        for codec in sender.codecs where codec.isNamed("red") {
            let payloads = sender.codecs.filter { codec.requiredPayloadTypes.contains($0.payloadType) }
            guard payloads.allSatisfy({ self[$0.payloadType] == $0.payloadType }) else { continue }
            set(sender.counterpart(of: codec, on: receiver), for: codec)
        }
    }

    /// `nil` for what the receiver does not know.
    subscript(payloadType: PayloadType) -> PayloadType? {
        guard !numbers.isEmpty, case let number = numbers[Int(payloadType.rawValue)], number != Self.unknown else {
            return nil
        }
        return PayloadType(maskingHeaderByte: number)
    }

    /// At which rates the events of this payload type count; `nil` for what is passed on as it is.
    func eventRates(of payloadType: PayloadType) -> EventRates? {
        for events in scaledEvents where events.payloadType == payloadType { return events.rates }
        return nil
    }

    private mutating func set(_ counterpart: Codec?, for codec: Codec) {
        if let counterpart { numbers[Int(codec.payloadType.rawValue)] = counterpart.payloadType.rawValue }
    }

    /// Whether a format repairs what the other repairs (RFC 4588 §8.1).
    private func translates(_ repair: Codec, to other: Codec) -> Bool {
        guard let repaired = repair.repairedPayloadType else { return false }
        return self[repaired] == other.repairedPayloadType
    }
}

extension BridgeLine {
    /// The receiver's codec that stands for this one, the one under the expected number first.
    fileprivate func counterpart(of codec: Codec, on receiver: BridgeLine) -> Codec? {
        let number = receiver.numbering.onLeg(numbering.inCall(codec.payloadType))
        let expected = receiver.codecs.codec(for: number).flatMap { $0.isSameEncoding(as: codec) ? $0 : nil }
        if let expected, expected.isSameFormat(as: codec) { return expected }
        return receiver.codecs.first { $0.isSameFormat(as: codec) } ?? expected
    }

    /// The receiver's telephone events for those of a sender that count at another rate, rather those that count like the audio.
    fileprivate func events(like codec: Codec) -> (events: Codec, rates: EventRates)? {
        guard codec.isTelephoneEvent else { return nil }
        let known = codecs.filter(\.isTelephoneEvent)
        let audio = primaryCodec?.clockRate
        guard let events = known.first(where: { $0.clockRate == audio }) ?? known.first,
            let rates = EventRates(
                sender: codec.clockRate, receiver: events.clockRate, audio: audio ?? events.clockRate)
        else { return nil }
        return (events, rates)
    }
}
