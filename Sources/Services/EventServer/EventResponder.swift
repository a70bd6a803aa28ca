package import CallControl
package import CallRuntime
import EventAPI
package import GatewayAPI
package import HTTPTypes
import Primitives

/// Answers `GET /v1/events`: the events of the calls that an application or a user may hear of, as server-sent events,
/// as JSON lines, by long polls, or on a WebSocket (docs/call-events.md, *The public log*).
package struct EventResponder: V1Interface, V1Sockets {
    /// Says whether an application is still there, and may read events by now.
    package typealias Applications = @Sendable (ApplicationIdentity) async -> Bool
    /// Says whether a user exists by now.
    package typealias Users = @Sendable (UserAddress) async -> Bool

    /// The path.
    package static let path = "/v1/events"
    /// The parameters that the query may have; `wait` only that of a long poll.
    package static let parameters: Set<String> = streamParameters.union(["wait"])
    private static let streamParameters: Set<String> = ["since", "types", "calls"]
    /// How long a stream lasts at most. Its reader comes back with its place, and shows its credentials again.
    package static let lifetime = Duration.seconds(3_600)
    /// How long a long poll waits, in seconds, unless it says so.
    private static let usualWait: Int64 = 25
    private static let waits: ClosedRange<Int64> = 0...60

    private let sources: EventReading.Sources
    private let applications: Applications
    private let users: Users
    private let end: @Sendable () -> Void

    /// Makes a responder.
    ///
    /// - Parameters:
    ///   - applications: says whether an application may read events by now.
    ///   - users: says whether a user exists by now.
    ///   - end: ends the log, since the gateway stops.
    package init(
        _ sources: EventReading.Sources, applications: @escaping Applications, users: @escaping Users,
        end: @escaping @Sendable () -> Void
    ) {
        self.sources = sources
        self.applications = applications
        self.users = users
        self.end = end
    }

    /// `GET`; nothing below the path.
    package func methods(at path: String) -> [HTTPRequest.Method] { Self.isServed(path) ? [.get] : [] }

    /// Ends all streams.
    package func finish() { end() }

    /// Answers a request.
    package func answer(_ request: V1Request) async -> V1Answer {
        do throws(V1Error) {
            guard Self.isServed(request.path) else {
                throw V1Error(
                    .resourceNotFound, "There is nothing at this path; openapi/v1.yaml lists what there is.")
            }
            guard request.method == .get else {
                throw V1Error(.resourceMethodNotAllowed, "\(request.method.rawValue) is not possible here; use GET.")
            }
            let accepted = request.headers[.accept] ?? ""
            if accepted.contains("application/json"), !accepted.contains("application/jsonl") {
                return try await poll(request)
            }
            let form: EventForm = accepted.contains("text/event-stream") ? .serverSent : .lines
            let query = try Self.query(request, Self.streamParameters)
            let subscription = try await subscription(request, query)
            return V1Answer(
                200, contentType: form.contentType, .stream(subscription.bytes(in: form, lasting: Self.lifetime)))
        } catch {
            return .refusal(error, allow: error.code == .resourceMethodNotAllowed ? "GET, HEAD, OPTIONS" : nil)
        }
    }

    // MARK: A WebSocket

    /// WebSockets are at the same path.
    package func servesSockets(at path: String) -> Bool { Self.isServed(path) }

    /// The events as messages: one JSON object each.
    ///
    /// - Throws: the refusal.
    package func open(_ request: V1Request) async throws(V1Error) -> V1Socket {
        let query = try Self.query(request, Self.streamParameters)
        return .messages(try await subscription(request, query).messages(lasting: Self.lifetime))
    }

    // MARK: A long poll

    private func poll(_ request: V1Request) async throws(V1Error) -> V1Answer {
        let query = try Self.query(request, Self.parameters)
        var wait = Self.usualWait
        if let text = query["wait"] {
            guard let seconds = Int64(text), Self.waits.contains(seconds) else {
                throw V1Error(
                    .requestInvalidParameter,
                    "The parameter \"wait\" must be a number of seconds from \(Self.waits.lowerBound) to "
                        + "\(Self.waits.upperBound).")
            }
            wait = seconds
        }
        let end = sources.clock.now + .seconds(wait)
        let subscription = try await subscription(request, query)
        do throws(StorageError) {
            while true {
                switch try await subscription.next(within: max(.zero, end - sources.clock.now)) {
                case .events(let events):
                    return V1Answer(
                        200, contentType: "application/json",
                        .bytes(PublicEvent.list(events, next: await subscription.cursor)))
                case .gap(let snapshot): return Self.gone(snapshot)
                case .pulse:
                    if sources.clock.now < end, !Task.isCancelled { continue }
                    fallthrough
                case nil:
                    return V1Answer(
                        200, contentType: "application/json",
                        .bytes(PublicEvent.list([], next: await subscription.cursor)))
                }
            }
        } catch {
            throw Self.unavailable
        }
    }

    /// The refusal of a place that is not in the log any more, with what the reader goes on from.
    private static func gone(_ snapshot: EventSnapshot) -> V1Answer {
        let error = V1Error(
            .eventsGone,
            "Events behind this place are not kept any more, or it is one of another log; go on from \"next\".")
        var answer = V1Answer.refusal(error)
        // Both are JSON objects with members.
        answer.body = .bytes(
            Array(error.body.dropLast()) + [UInt8(ascii: ",")] + snapshot.continuation.dropFirst())
        return answer
    }

    // MARK: What is read of a request

    private static func isServed(_ path: String) -> Bool { path == Self.path || path == Self.path + "/" }

    private static func query(
        _ request: V1Request, _ known: Set<String>
    ) throws(V1Error) -> RequestQuery<V1Error> {
        try RequestQuery(parsing: request.query, known: known)
    }

    /// What the request subscribes to.
    ///
    /// - Throws: the refusal.
    func subscription(
        _ request: V1Request, _ query: RequestQuery<V1Error>
    ) async throws(V1Error) -> EventReading {
        var place = EventPlace.now
        if let text = query["since"] ?? request.headers[.lastEventID] {
            guard let read = EventPlace(text) else {
                throw V1Error(
                    .requestInvalidParameter,
                    "The parameter \"since\", or the header \"Last-Event-ID\", must be the id of an event, or "
                        + "\"oldest\".")
            }
            place = read
        }
        let reader = try Self.reader(request.principal)
        let selection: EventSelection
        do throws(EventSelection.Fault) {
            selection = try EventSelection(
                reader: reader, types: query["types"], calls: query["calls"])
        } catch {
            throw V1Error(.requestInvalidParameter, error.sentence)
        }
        do throws(StorageError) {
            return try await EventReading(
                selection, from: place, sources, admission: admission(of: request.principal))
        } catch {
            throw Self.unavailable
        }
    }

    private static func reader(_ principal: V1Principal) throws(V1Error) -> EventReader {
        switch principal {
        case .user(let user): return .user(user)
        case .application(let identity, let scopes, _, _):
            guard scopes.contains(.events) else {
                throw V1Error(.authForbidden, "This needs the scope \"events\".")
            }
            return .application(identity)
        }
    }

    /// What says who the reader is by now.
    private func admission(of principal: V1Principal) -> @Sendable () async -> EventReader? {
        switch principal {
        case .user(let user): return { [users] in await users(user) ? .user(user) : nil }
        case .application(let identity, _, _, _):
            return { [applications] in await applications(identity) ? .application(identity) : nil }
        }
    }

    private static let unavailable = V1Error(
        .serviceUnavailable, "The events cannot be read at present; try again later.", retryAfter: .seconds(5))
}

extension EventSelection.Fault {
    /// What is wrong, for people.
    fileprivate var sentence: String {
        switch self {
        case .unusableType(let type):
            "The parameter \"types\" must be a list of types, such as call.ended,leg.*; \"\(type.prefix(64))\" is none."
        case .unusableCall(let call):
            "The parameter \"calls\" must be a list of ids of calls; \"\(call.prefix(64))\" is none."
        case .tooMany(let limit): "The parameters \"types\" and \"calls\" have at most \(limit) items each."
        }
    }
}

extension HTTPField.Name {
    /// The id of the last event that a reader of server-sent events has got before its connection broke.
    fileprivate static let lastEventID = Self("Last-Event-ID")!
}
