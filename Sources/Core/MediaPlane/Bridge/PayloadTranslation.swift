import Primitives
import SDP

/// The mapping from the payload types of a sender's m-line to those of a receiver's. It is computed when media starts
/// to flow, and looked up for every packet.
///
/// Legs that were negotiated together have the same payload types, or such with a known relation (`PayloadNumbering`).
/// Legs that were joined later have the payload types that each agreed on with its former counterpart; there, formats
/// are matched by their meaning.
struct PayloadTranslation: Equatable, Sendable {
    /// The receiver's payload type by the sender's.
    private var numbers: [UInt8]
    /// The sender's telephone-events for which the receiver uses another clock rate; usually none.
    private var scaledEvents: [ScaledEvents] = []

    private struct ScaledEvents: Equatable, Sendable {
        var payloadType: PayloadType
        var rates: EventRates
    }

    private static let unknown: UInt8 = 0xFF

    /// The mapping that translates nothing.
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
        // Red packets contain the payload types of their blocks (RFC 2198 §3), which the relay does not change.
        for codec in sender.codecs where codec.isNamed("red") {
            let payloads = sender.codecs.filter { codec.requiredPayloadTypes.contains($0.payloadType) }
            guard payloads.allSatisfy({ self[$0.payloadType] == $0.payloadType }) else { continue }
            set(sender.counterpart(of: codec, on: receiver), for: codec)
        }
    }

    /// The receiver's payload type; `nil` if the receiver does not know the format.
    subscript(payloadType: PayloadType) -> PayloadType? {
        guard !numbers.isEmpty, case let number = numbers[Int(payloadType.rawValue)], number != Self.unknown else {
            return nil
        }
        return PayloadType(maskingHeaderByte: number)
    }

    /// The clock rates of the events with this payload type; `nil` if they are relayed unchanged.
    func eventRates(of payloadType: PayloadType) -> EventRates? {
        for events in scaledEvents where events.payloadType == payloadType { return events.rates }
        return nil
    }

    private mutating func set(_ counterpart: Codec?, for codec: Codec) {
        if let counterpart { numbers[Int(codec.payloadType.rawValue)] = counterpart.payloadType.rawValue }
    }

    /// Whether a retransmission format repairs the same format as the other (RFC 4588 §8.1).
    private func translates(_ repair: Codec, to other: Codec) -> Bool {
        guard let repaired = repair.repairedPayloadType else { return false }
        return self[repaired] == other.repairedPayloadType
    }
}

extension BridgeLine {
    /// The receiver's codec for this one; the codec with the expected payload type is tried first.
    fileprivate func counterpart(of codec: Codec, on receiver: BridgeLine) -> Codec? {
        let number = receiver.numbering.onLeg(numbering.inCall(codec.payloadType))
        let expected = receiver.codecs.codec(for: number).flatMap { $0.isSameEncoding(as: codec) ? $0 : nil }
        if let expected, expected.isSameFormat(as: codec) { return expected }
        return receiver.codecs.first { $0.isSameFormat(as: codec) } ?? expected
    }

    /// The receiver's telephone-events for those of a sender with another clock rate, preferably those with the clock
    /// rate of the audio.
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
