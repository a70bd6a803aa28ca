package import CallControl
package import HTTPTypes

/// Everything that an application can ask about its calls. This is the one table of paths, methods and scopes;
/// `openapi/v1.yaml` describes the same list.
package enum V1Operation: Hashable, Sendable, CaseIterable {
    /// Lists the calls of the application.
    case listCalls
    /// Starts a call.
    case startCall
    /// Shows a call.
    case showCall
    /// Opens a WebSocket that carries the audio of a call.
    case streamCall
    /// Carries out a command about a call.
    case command(ApplicationCommand.Name)

    /// All operations, those of calls first.
    package static let allCases: [V1Operation] =
        [.listCalls, .startCall, .showCall, .streamCall] + ApplicationCommand.Name.allCases.map { .command($0) }

    /// The method of the request.
    package var method: HTTPRequest.Method {
        switch self {
        case .listCalls, .showCall, .streamCall: .get
        case .startCall, .command: .post
        }
    }

    /// The path of the request, with `{…}` in place of the segments that vary.
    package var template: String {
        switch self {
        case .listCalls, .startCall: "/v1/calls"
        case .showCall: "/v1/calls/{id}"
        case .streamCall: "/v1/calls/{id}/stream"
        case .command(let name): "/v1/calls/{id}/\(name.rawValue)"
        }
    }

    /// The scope that the application needs.
    package var scope: ApplicationScope {
        switch self {
        case .listCalls, .showCall: .callsRead
        case .startCall: .callsWrite
        case .streamCall: .media
        case .command(let name):
            switch name {
            case .ring, .progress, .answer, .reject, .end, .hold, .resume, .transfer, .mute, .unmute, .send:
                .callsWrite
            case .keys, .play, .stop, .gather: .media
            }
        }
    }

    /// The parameters that the query may have.
    package var parameters: Set<String> {
        switch self {
        case .listCalls: ["limit", "cursor", "state", "direction"]
        case .streamCall: ["format", "rate", "dialect", "absence", "media", "bargeIn"]
        case .startCall, .showCall, .command: []
        }
    }

    /// Its name in `openapi/v1.yaml`.
    package var name: String {
        switch self {
        case .listCalls: "listCalls"
        case .startCall: "startCall"
        case .showCall: "showCall"
        case .streamCall: "streamCall"
        case .command(let name): "\(name.rawValue)Call"
        }
    }
}

/// The operations at the path of a request, and the call in it.
struct V1Route: Equatable, Sendable {
    /// What can be done at the path; not empty.
    let operations: [V1Operation]
    /// The call; empty if the path names none.
    let id: SessionID

    /// Finds the path among those of the operations; `nil`: nothing is there. Trailing slashes make no difference.
    init?(parsing path: String) {
        let segments = path.split(separator: "/")
        guard (2...4).contains(segments.count), segments[0] == "v1", segments[1] == "calls" else { return nil }
        // Names of calls have no character that would be escaped.
        id = SessionID(segments.count > 2 ? String(segments[2]) : "")
        switch segments.count {
        case 2: operations = [.listCalls, .startCall]
        case 3: operations = [.showCall]
        case 4 where segments[3] == "stream": operations = [.streamCall]
        default:
            guard let name = ApplicationCommand.Name(rawValue: String(segments[3])) else { return nil }
            operations = [.command(name)]
        }
    }

    /// The methods that are possible, for the header `Allow`.
    var allow: String {
        let methods = operations.map(\.method)
        let implied: [HTTPRequest.Method] = methods.contains(.get) ? [.head, .options] : [.options]
        return (methods + implied).map(\.rawValue).joined(separator: ", ")
    }
}
