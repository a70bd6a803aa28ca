import CallControl
import CallRuntime
import GatewayAPI
import EventAPI
import Foundation
import HTTPTypes
import Primitives

/// Events of calls as they happen.
extension AdminResponder {
    /// How often a reader hears something although nothing happens, so that both ends notice when the other is gone.
    private static let pulse = Duration.seconds(15)

    func tailEvents(_ call: Call) throws(AdminError) -> AdminAnswer {
        let wanted = call.parameters["call"]
        if let wanted, UInt64(wanted, radix: 16) == nil {
            throw AdminError(.requestInvalidParameter, "The parameter \"call\" must be the id of a call.")
        }
        let since = try (call.parameters["since"] ?? call.headers[.lastEventID]).map(place)
        let isServerSent = call.headers[.accept]?.contains("text/event-stream") ?? false
        // A name of another process: all that this one has had is new to the reader.
        let (lost, entries) = events.follow(after: since.map { $0.process == events.process ? $0.number : 0 })
        let (stream, output) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingOldest(4_096))
        let form = EventForm(isServerSent: isServerSent, process: events.process)
        // The reader learns at once that it is heard.
        output.yield(form.pulse)
        let isOfAnother = since.map { $0.process != events.process } ?? false
        if isOfAnother || lost > 0 {
            output.yield(form.gap(lost, isOfAnother: isOfAnother, at: clock.epochMilliseconds))
        }
        let reading = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { [clock] in
                    while !Task.isCancelled {
                        // Fails only if it is cancelled.
                        do { try await clock.sleep(until: clock.now + Self.pulse) } catch { return }
                        output.yield(form.pulse)
                    }
                }
                for await entry in entries where wanted == nil || entry.event.call.description == wanted {
                    if let bytes = form.write(entry) { output.yield(bytes) }
                }
                group.cancelAll()
            }
            output.finish()
        }
        output.onTermination = { _ in reading.cancel() }
        return AdminAnswer(200, contentType: form.contentType, .stream(stream))
    }

    /// Reads the name of an event: the process and a number.
    private func place(_ text: String) throws(AdminError) -> (process: String, number: Int64) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let number = Int64(parts[1]), number >= 0 else {
            throw AdminError(
                .requestInvalidParameter,
                "The parameter \"since\", or the header \"Last-Event-ID\", must be the id of an event.")
        }
        return (String(parts[0]), number)
    }
}

extension HTTPField.Name {
    /// The id of the last event that a reader of server-sent events has got before its connection broke.
    fileprivate static let lastEventID = Self("Last-Event-ID")!
}

/// How events are written: one JSON object per line, or as server-sent events
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
struct EventForm: Sendable {
    let isServerSent: Bool
    /// The name of the process, which starts the names of events.
    let process: String

    var contentType: String { isServerSent ? "text/event-stream" : "application/jsonl" }

    /// What a reader skips.
    var pulse: [UInt8] { Array((isServerSent ? ":\n\n" : "\n").utf8) }

    /// An event; `nil` for what only the gateway and devices need.
    func write(_ entry: EventTail.Entry) -> [UInt8]? {
        let event = entry.event
        let time = event.startedAt + event.elapsed.wholeNanoseconds / 1_000_000
        guard let body = EventBody(event.event, of: event.call, sequence: UInt64(event.sequence), time: time) else {
            return nil
        }
        let id = "\(process)-\(entry.number)"
        return frame(id: id, type: body.type, AdminJSON.encode(NamedEvent(id: id, body: body)))
    }

    /// Says that events are missing: they were too many or too old, or belonged to a process that has ended.
    func gap(_ lost: Int64, isOfAnother: Bool, at time: Int64) -> [UInt8] {
        frame(id: nil, type: "stream.gap", AdminJSON.encode(Gap(time: time, lost: isOfAnother ? nil : lost)))
    }

    private func frame(id: String?, type: String, _ json: [UInt8]) -> [UInt8] {
        guard isServerSent else { return json + [UInt8(ascii: "\n")] }
        let head = (id.map { "id: \($0)\n" } ?? "") + "event: \(type)\ndata: "
        return Array(head.utf8) + json + Array("\n\n".utf8)
    }

    private struct NamedEvent: Encodable {
        let id: String
        let body: EventBody

        private enum CodingKeys: CodingKey { case id }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try body.encode(to: encoder)
        }
    }

    private struct Gap: Encodable {
        var type = "stream.gap"
        var time: Int64
        /// `nil`: unknown.
        var lost: Int64?
    }
}
