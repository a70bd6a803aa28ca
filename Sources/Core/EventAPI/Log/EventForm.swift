/// How a stream of events is written.
package enum EventForm: Equatable, Sendable {
    /// Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    case serverSent
    /// One JSON object per line.
    case lines

    /// The media type of the stream.
    package var contentType: String {
        switch self {
        case .serverSent: "text/event-stream"
        case .lines: "application/jsonl"
        }
    }

    /// What is sent when nothing else is, so that both ends notice when the other is gone. A reader of server-sent
    /// events learns its place from it, although no event comes; other readers skip it.
    package func pulse(at cursor: EventCursor) -> [UInt8] {
        switch self {
        case .serverSent: Array(":\nid: \(cursor)\n\n".utf8)
        case .lines: [UInt8(ascii: "\n")]
        }
    }

    /// An event of the log of this name.
    package func write(_ event: PublicEvent, in log: String) -> [UInt8] {
        frame(EventCursor(log: log, number: event.number), event.type, event.object(in: log))
    }

    /// Says that events are missing.
    package func write(_ snapshot: EventSnapshot) -> [UInt8] {
        frame(snapshot.cursor, EventSnapshot.type, snapshot.json)
    }

    private func frame(_ cursor: EventCursor, _ type: String, _ json: [UInt8]) -> [UInt8] {
        switch self {
        case .serverSent: Array("id: \(cursor)\nevent: \(type)\ndata: ".utf8) + json + Array("\n\n".utf8)
        case .lines: json + [UInt8(ascii: "\n")]
        }
    }
}

extension EventCursor {
    /// The event `stream.started`, which tells a reader its place, as a JSON object in UTF-8.
    ///
    /// - Parameter time: milliseconds since 1970.
    package func start(at time: Int64) -> [UInt8] {
        Array(#"{"id":"\#(self)","time":\#(time),"type":"stream.started","version":1}"#.utf8)
    }
}

extension WebhookSignature {
    /// The event `webhook.test`, with which a webhook is tried out, as a JSON object in UTF-8.
    ///
    /// - Parameters:
    ///   - name: its `id`, of letters, digits and underscores.
    ///   - time: milliseconds since 1970.
    package static func test(named name: String, at time: Int64) -> [UInt8] {
        Array(#"{"id":"\#(name)","time":\#(time),"type":"webhook.test","version":1}"#.utf8)
    }
}

extension PublicEvent {
    /// The event as a JSON object in UTF-8, with its place in the log of this name as `id`.
    package func object(in log: String) -> [UInt8] {
        // The object has members, and so a comma belongs between.
        Array("{\"id\":\"\(log)-\(number)\",".utf8) + json.dropFirst()
    }

    /// A list of events as a JSON object in UTF-8: `events`, and `next`, the place to ask from the next time.
    package static func list(_ events: [PublicEvent], next cursor: EventCursor) -> [UInt8] {
        var bytes = Array("{\"events\":[".utf8)
        for (index, event) in events.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += event.object(in: cursor.log)
        }
        return bytes + Array("],\"next\":\"\(cursor)\"}".utf8)
    }
}
