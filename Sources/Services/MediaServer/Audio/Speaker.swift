internal import Audio
internal import MediaPlane
internal import Primitives
internal import RTP
internal import SDP

/// One leg whose audio the gateway codes itself.
final class Speaker {
    let feed: LineFeed
    let source: MediaSource
    private let line: Int
    private let format: AudioFormat
    private let sender: any AudioSender
    /// Payload type of telephone events that count like the audio; keys sound in the audio where there is none.
    private let event: PayloadType?
    private var isSpurt = true
    private var digits: DigitQueue?

    /// Goes on with the coder of `former` if the codec is the same; `nil` if nothing is made here for the leg.
    init?(keeping former: Speaker?, for state: AudioState) {
        guard state.feed.isMadeHere, let format = state.codecs.lazy.compactMap(AudioFormat.init).first else { return nil }
        feed = state.feed
        source = state.source
        line = state.line
        self.format = format
        event = state.codecs.first { $0.isNamed("telephone-event") && $0.clockRate == format.clockRate }?.payloadType
        if let former, former.format == format {
            (sender, isSpurt, digits) = (former.sender, former.isSpurt, former.digits)
        } else {
            guard let sender = format.makeSender() else { return nil }
            self.sender = sender
        }
    }

    func press(_ more: DigitQueue) {
        if digits == nil { digits = more } else { digits?.append(more) }
    }

    var isPressing: Bool { digits != nil }

    /// Ticks of a packet of 20 ms.
    private var ticks: Int { format.clockRate / 50 }

    /// Codes 20 ms into `packet` behind a header of the leg's own; `nil` if there is nothing to send.
    func makePacket(
        _ samples: Span<Int16>, isSilence: Bool, in packet: inout MutableSpan<UInt8>, for leg: LegIndex, on bridge: inout Bridge,
        at now: MonotonicTime
    ) -> Int? {
        switch digits?.next() {
        case .event(let step): return makeEvent(step, in: &packet, for: leg, on: &bridge, at: now)
        case .pause: break
        case .done:
            digits = nil
        case nil: break
        }
        if isSilence {
            bridge.skipOriginated(for: leg, line: line, ticks: ticks)
            isSpurt = true
            return nil
        }
        var payload = packet._mutatingExtracting(RTPHeader.fixedLength..<packet.count)
        let count = sender.encode(samples, into: &payload)
        guard count > 0 else {
            bridge.skipOriginated(for: leg, line: line, ticks: ticks)
            isSpurt = true
            return nil
        }
        return write(format.payloadType, ticks: ticks, count: count, isSpurt: isSpurt, in: &packet, for: leg, on: &bridge, at: now)
    }

    /// A step of a pressed key: an event (RFC 4733), or its sound where the peer knows no events.
    private func makeEvent(
        _ step: DigitQueue.Step, in packet: inout MutableSpan<UInt8>, for leg: LegIndex, on bridge: inout Bridge, at now: MonotonicTime
    ) -> Int? {
        guard let event else {
            var sound = [Int16](repeating: 0, count: AudioMixer.frame)
            var span = sound.mutableSpan
            step.sound(into: &span)
            var payload = packet._mutatingExtracting(RTPHeader.fixedLength..<packet.count)
            let count = sender.encode(sound.span, into: &payload)
            guard count > 0 else { return nil }
            return write(format.payloadType, ticks: ticks, count: count, isSpurt: isSpurt, in: &packet, for: leg, on: &bridge, at: now)
        }
        let duration = step.milliseconds * format.clockRate / 1_000
        let payload = TelephoneEvent(digit: step.digit, isEnd: step.isEnd, duration: UInt16(clamping: duration))
        var room = packet._mutatingExtracting(RTPHeader.fixedLength..<packet.count)
        payload.write(to: &room)
        // All packets of an event have the timestamp of its beginning (RFC 4733 §2.5.1.2).
        let size = write(event, ticks: 0, count: TelephoneEvent.size, isSpurt: step.isFirst, in: &packet, for: leg, on: &bridge, at: now)
        if step.isLast {
            bridge.skipOriginated(for: leg, line: line, ticks: duration)
            isSpurt = true
        }
        return size
    }

    private func write(
        _ payloadType: PayloadType, ticks: Int, count: Int, isSpurt spurt: Bool, in packet: inout MutableSpan<UInt8>, for leg: LegIndex,
        on bridge: inout Bridge, at now: MonotonicTime
    ) -> Int {
        let header = bridge.originate(
            for: leg, line: line, payloadType, clockRate: UInt32(format.clockRate), ticks: ticks, octets: count, isSpurt: spurt, at: now)
        header.writeNew(to: &packet)
        isSpurt = false
        return RTPHeader.fixedLength + count
    }
}
