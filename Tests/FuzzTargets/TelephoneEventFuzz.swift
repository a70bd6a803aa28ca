import Audio
import Primitives
import RTP

/// The bytes as packets of telephone events, digits that are asked for and time: few digits wait, and what is pressed
/// is a digit.
package func fuzzTelephoneEvents(_ bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    var reception = DigitReception()
    var queue = DigitQueue()
    var timestamp = RTPTimestamp(0)
    let clockRates = [8_000, 48_000, 16_000, 1, 90_000, 0x7FFF_FFFF, 0, 44_100]
    var clockRate = 8_000
    while let step = reader.readUInt8() {
        switch step % 8 {
        case 0: clockRate = clockRates[Int(step >> 5)]
        case 1: reception.restart()
        case 2:
            let digits = String(repeating: "5,", count: 1 + Int(step >> 3))
            let (before, added) = (queue.count, digits.count)
            let isTaken = queue.append(DigitQueue(digits, duration: .milliseconds(40), gap: .milliseconds(30)))
            precondition(queue.count == before + (isTaken ? added : 0), "digits find room as a whole, or none does")
        case 3, 4: press(&queue, steps: 1 + Int(step >> 3))
        default:
            guard let payload = reader.readBytes(min(4, reader.remaining)), let ticks = reader.readUInt16() else {
                return
            }
            timestamp = timestamp + Int(Int16(bitPattern: ticks))
            guard let event = TelephoneEvent(parsing: payload.span) else { continue }
            precondition(TelephoneEvent(parsing: written(event).span) == event, "an event survives writing and parsing")
            let change = reception.receive(event, isMarked: step & 0x80 != 0, at: timestamp, clockRate: clockRate)
            if let change, !queue.follow(change) {
                precondition(queue.count >= DigitQueue.followedCapacity, "there was no room")
            }
        }
        precondition(queue.count <= DigitQueue.capacity, "what waits is bounded")
    }
    press(&queue, steps: 64)
}

private func press(_ queue: inout DigitQueue, steps: Int) {
    var samples = [Int16](repeating: 0, count: 960)
    for _ in 0..<steps {
        guard case .event(let step) = queue.next() else { continue }
        precondition(step.length > 0, "a digit has a length")
        precondition(
            TelephoneEvent(digit: step.digit, isEnd: step.isEnd, duration: 0).digit == step.digit,
            "what is pressed is a digit")
        var span = samples.mutableSpan
        step.sound(into: &span)
    }
}

private func written(_ event: TelephoneEvent) -> [UInt8] {
    var payload = [UInt8](repeating: 0, count: TelephoneEvent.size)
    var span = payload.mutableSpan
    event.write(to: &span)
    return payload
}
