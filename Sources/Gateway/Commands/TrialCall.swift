import CallControl
import Cryptography
import Foundation
import Primitives
import Sockets
import UnixSignals

/// Places a call as an application (openapi/v1.yaml), and takes it through a trial: the work of `orbweaver call`.
package struct TrialCall: Sendable {
    /// Whom to call, and how.
    package struct Target: Encodable, Sendable {
        /// The address to call.
        package var to: String
        /// An address of the application; `nil`: its only one.
        package var from: String?
        /// What the callee sees; `nil`: the name of the application.
        package var displayName: String?

        /// Makes a target of its parts.
        package init(to: String, from: String?, displayName: String?) {
            self.to = to
            self.from = from
            self.displayName = displayName
        }
    }

    private let client: AdminClient
    private let target: Target
    private let timeout: Duration
    private let report: @Sendable (String) -> Void
    /// The tag of what is played, by which it is told from what others play in the call.
    private let tag: String

    /// How often the call is looked at.
    private static let interval = Duration.milliseconds(100)
    /// A call that rings is ended by the gateway when the time is over, and why is still waited for.
    private static let grace = Duration.seconds(1)

    /// Makes a call that is not placed yet.
    ///
    /// - Parameters:
    ///   - client: asks `/v1`, with the key of the application.
    ///   - timeout: how long the call may take in all, 1…600 seconds.
    ///   - report: is given a line for people whenever the call has another state, and one that says how much was
    ///     heard of what was played.
    package init(
        _ client: AdminClient, target: Target, timeout: Duration, report: @escaping @Sendable (String) -> Void
    ) {
        self.client = client
        self.target = target
        self.timeout = timeout
        self.report = report
        var random = SecureRandomSource()
        tag = "orbweaver-call-\(random.next())"
    }

    /// Places the call, and ends it when the trial is over. SIGINT and SIGTERM end it as well.
    ///
    /// - Throws: ``AdminClient/Failure`` if the gateway refuses the call or does not answer.
    package func run(_ trial: CallTrial) async throws -> CallTrial.Verdict {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let placed = try await ask("POST", "/v1/calls", NewCall(target, ringTime: timeout))
        guard let id = placed["id"].text else {
            throw AdminClient.Failure(description: "the gateway's answer has no id")
        }
        let path = "/v1/calls/\(id.escapedForURL)"
        let result: Result<CallTrial.Verdict, any Error>
        do {
            result = .success(try await verdict(trial, placed, path, signals))
        } catch {
            result = .failure(error)
        }
        await end(path)
        return try result.get()
    }

    private func verdict(
        _ trial: CallTrial, _ placed: JSONValue, _ path: String, _ signals: UnixSignalsSequence
    ) async throws -> CallTrial.Verdict {
        try await withThrowingTaskGroup { group in
            group.addTask { try await follow(trial, placed, path) }
            group.addTask {
                for await _ in signals { return CallTrial.Verdict.missed("interrupted") }
                throw CancellationError()
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { preconditionFailure("there are two tasks") }
            return first
        }
    }

    private func follow(_ trial: CallTrial, _ placed: JSONValue, _ path: String) async throws -> CallTrial.Verdict {
        var trial = trial
        var sight = CallTrial.Sight(placed, tag: tag)
        var state = ""
        var heard: Int64?
        let start = MonotonicClock.now
        while true {
            if sight.state != state {
                state = sight.state
                report(sight.ending.map { "\(state): \($0)" } ?? state)
            }
            let elapsed = MonotonicClock.now - start
            let step = trial.step(sight, after: elapsed)
            if heard == nil, let milliseconds = trial.heard {
                heard = milliseconds
                report("played: \(milliseconds) ms were heard")
            }
            switch step {
            case .finish(let verdict): return verdict
            case .play(let files): _ = try await ask("POST", path + "/play", PlayList(files, tag: tag))
            case .gather(let prompt):
                _ = try await ask("POST", path + "/gather", Gathering(prompt: prompt, tag: tag, time: timeout))
            case .press(let keys): _ = try await ask("POST", path + "/keys", ["keys": keys])
            case .wait:
                guard elapsed < timeout + Self.grace else {
                    return .missed("nothing of it in \(timeout.components.seconds) s: the call is \(state)")
                }
                try await Task.sleep(for: Self.interval)
            }
            sight = CallTrial.Sight(try await ask("GET", path), tag: tag)
        }
    }

    /// Ends the call. One that is over is refused, and nothing else can be done if the gateway does not answer.
    private func end(_ path: String) async {
        _ = try? await client.ask("POST", path + "/end")
    }

    private func ask(_ method: String, _ path: String) async throws -> JSONValue {
        try JSONValue(parsing: try await client.ask(method, path).body)
    }

    private func ask(_ method: String, _ path: String, _ body: some Encodable) async throws -> JSONValue {
        let bytes = Array(try JSONEncoder().encode(body))
        return try JSONValue(parsing: try await client.ask(method, path, bytes).body)
    }
}

// MARK: - Bodies

private struct NewCall: Encodable {
    let to: String
    let from: String?
    let displayName: String?
    /// Milliseconds.
    let ringTimeout: Int64

    init(_ target: TrialCall.Target, ringTime: Duration) {
        to = target.to
        from = target.from
        displayName = target.displayName
        ringTimeout = ringTime.components.seconds * 1_000
    }
}

private struct PlayList: Encodable {
    struct Item: Encodable {
        let file: String
    }
    let items: [Item]
    /// `nil`: the list is a prompt, which has the tag of the gathering.
    let tag: String?

    init(_ files: [String], tag: String? = nil) {
        items = files.map(Item.init)
        self.tag = tag
    }
}

private struct Gathering: Encodable {
    let maximum = 64
    /// Milliseconds.
    let firstTimeout: Int64
    let betweenTimeout: Int64
    let prompt: PlayList?
    let tag: String

    init(prompt: [String], tag: String, time: Duration) {
        // The longest that the gateway takes.
        firstTimeout = min(time.components.seconds * 1_000, 300_000)
        betweenTimeout = firstTimeout
        self.prompt = prompt.isEmpty ? nil : PlayList(prompt)
        self.tag = tag
    }
}

extension CallTrial.Sight {
    /// - Parameter tag: the tag of the trial's own list. Others of the application are not its own.
    fileprivate init(_ call: JSONValue, tag: String) {
        let played = call["played"]
        self.init(
            state: call["state"].description, isAnswered: call["answeredAt"] != .null,
            played: played["tag"].text == tag ? CallTrial.Played(played) : nil, keys: call["gathering"]["keys"].text,
            ending: call["state"].text == "ended" ? call["ending"]["cause"].text ?? "left" : nil)
    }
}

extension CallTrial.Played {
    fileprivate init?(_ played: JSONValue) {
        guard let outcome = played["outcome"].text.flatMap({ PlayedList.Outcome(rawValue: $0) }),
            case .integer(let heard) = played["heardMilliseconds"]
        else { return nil }
        self.init(outcome: outcome, heard: heard)
    }
}
