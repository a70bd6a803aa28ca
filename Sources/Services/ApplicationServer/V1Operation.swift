package import CallControl
import CallRuntime
package import HTTPTypes

/// Everything that an application can ask about its calls and recordings. This is the one table of paths, methods and
/// scopes; `openapi/v1.yaml` describes the same list.
package enum V1Operation: Hashable, Sendable, CaseIterable {
    /// Lists the calls of the application.
    case listCalls
    /// Starts a call.
    case startCall
    /// Shows a call.
    case showCall
    /// Opens a WebSocket that carries the audio of a call.
    case streamCall
    /// Has the gateway open a WebSocket that carries the audio of a call, or close it.
    case connectStream
    /// Carries out a command about a call.
    case command(ApplicationCommand.Name)
    /// Lists the recordings of the application.
    case listRecordings
    /// Shows what is known of a recording.
    case showRecording
    /// Sends the file of a recording.
    case fetchRecording
    /// Removes a recording.
    case removeRecording

    /// All operations, those of calls first.
    package static let allCases: [V1Operation] =
        [.listCalls, .startCall, .showCall, .streamCall, .connectStream]
        + ApplicationCommand.Name.allCases.map { .command($0) } + recordings
    /// Those of recordings.
    private static let recordings: [V1Operation] = [
        .listRecordings, .showRecording, .fetchRecording, .removeRecording,
    ]

    /// The method of the request.
    package var method: HTTPRequest.Method {
        switch self {
        case .listCalls, .showCall, .streamCall, .listRecordings, .showRecording, .fetchRecording: .get
        case .startCall, .connectStream, .command: .post
        case .removeRecording: .delete
        }
    }

    /// The path of the request, with `{…}` in place of the segments that vary.
    package var template: String {
        switch self {
        case .listCalls, .startCall: "/v1/calls"
        case .showCall: "/v1/calls/{id}"
        case .streamCall, .connectStream: "/v1/calls/{id}/stream"
        case .command(let name): "/v1/calls/{id}/\(name.rawValue)"
        case .listRecordings: "/v1/recordings"
        case .showRecording, .removeRecording: "/v1/recordings/{id}"
        case .fetchRecording: "/v1/recordings/{id}/audio"
        }
    }

    /// The scope that the application needs.
    package var scope: ApplicationScope {
        switch self {
        case .listCalls, .showCall: .callsRead
        case .startCall: .callsWrite
        case .streamCall, .connectStream: .media
        case .command(let name):
            switch name {
            case .ring, .progress, .answer, .reject, .end, .hold, .resume, .transfer, .bridge, .join, .leave, .mute,
                .unmute, .send:
                .callsWrite
            case .keys, .play, .stop, .gather: .media
            case .record: .recordings
            }
        case .listRecordings, .showRecording, .fetchRecording, .removeRecording: .recordings
        }
    }

    /// The parameters that the query may have.
    package var parameters: Set<String> {
        switch self {
        case .listCalls: ["limit", "cursor", "state", "direction"]
        case .streamCall: StreamTerms.parameters
        case .listRecordings: ["limit", "cursor", "session", "state", "tag"]
        case .startCall, .showCall, .connectStream, .command, .showRecording, .fetchRecording, .removeRecording: []
        }
    }

    /// Its name in `openapi/v1.yaml`.
    package var name: String {
        switch self {
        case .listCalls: "listCalls"
        case .startCall: "startCall"
        case .showCall: "showCall"
        case .streamCall: "streamCall"
        case .connectStream: "connectStream"
        case .command(let name): "\(name.rawValue)Call"
        case .listRecordings: "listRecordings"
        case .showRecording: "showRecording"
        case .fetchRecording: "fetchRecording"
        case .removeRecording: "removeRecording"
        }
    }
}

/// The operations at the path of a request, and the call or the recording in it.
struct V1Route: Equatable, Sendable {
    /// What can be done at the path; not empty.
    let operations: [V1Operation]
    /// The name of the call or the recording; empty if the path has none.
    let id: String

    /// Finds the path among those of the operations; `nil`: nothing is there. Trailing slashes make no difference.
    init?(parsing path: String) {
        let segments = path.split(separator: "/")
        guard (2...4).contains(segments.count), segments[0] == "v1" else { return nil }
        // Names of calls and recordings have no character that would be escaped.
        id = segments.count > 2 ? String(segments[2]) : ""
        switch (segments[1], segments.count) {
        case ("calls", 2): operations = [.listCalls, .startCall]
        case ("calls", 3): operations = [.showCall]
        case ("calls", _) where segments[3] == "stream": operations = [.streamCall, .connectStream]
        case ("calls", _):
            guard let name = ApplicationCommand.Name(rawValue: String(segments[3])) else { return nil }
            operations = [.command(name)]
        case ("recordings", 2): operations = [.listRecordings]
        case ("recordings", 3): operations = [.showRecording, .removeRecording]
        case ("recordings", _) where segments[3] == "audio": operations = [.fetchRecording]
        default: return nil
        }
    }

    /// The methods that are possible, for the header `Allow`.
    var allow: String {
        let methods = operations.map(\.method)
        let implied: [HTTPRequest.Method] = methods.contains(.get) ? [.head, .options] : [.options]
        return (methods + implied).map(\.rawValue).joined(separator: ", ")
    }
}
