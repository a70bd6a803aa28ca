internal import HTTPClient
internal import Logging
internal import Observability
internal import Primitives
internal import Push
internal import Sockets

/// The gateway's credentials with the providers, one for each lane.
extension PushLoop {
    /// The time between two looks at a file with a key.
    private static let fileInterval = Duration.seconds(1)

    /// Gets a credential for a lane, or asks for one.
    func obtainCredential(_ lane: PushLane) -> [PushQueue.Action] {
        let seconds = WallTime.unixNanoseconds / 1_000_000_000
        do throws(CredentialProblem) {
            switch lane.key {
            case .apple:
                guard let token = try lane.apple?.makeToken(seconds: seconds) else { return [] }
                return obtained(token, renewal: AppleProvider.tokenTime, lane)
            case .google:
                guard
                    let wanted = try lane.google?.tokenRequest(seconds: seconds, timeout: configuration.attemptTime)
                else { return [] }
                providers.send(wanted.request) { [mailbox, number = lane.number, project = wanted.project] result in
                    mailbox.put(.tokenAnswered(lane: number, project: project, result))
                }
                return []
            case .webhook:
                return []
            }
        } catch {
            return failed(error, lane)
        }
    }

    /// The token service has answered a request for a token of a project.
    func tokenAnswered(_ number: UInt64, _ project: String, _ result: Result<HTTPResponse, HTTPFailure>) {
        guard let lane = lanes[number] else { return }
        var actions: [PushQueue.Action]
        do throws(CredentialProblem) {
            switch result {
            case .success(let response):
                let token = try GoogleProvider.token(response)
                // Until now pushes went to the project of the token before.
                lane.project = project
                actions = obtained(token.accessToken, renewal: token.renewal, lane)
            case .failure(let failure):
                let reason = "the token service cannot be asked: \(failure)"
                throw failure.isTransient ? .transient(reason) : .unusable(reason)
            }
        } catch {
            actions = failed(error, lane)
        }
        change(lane) { _ in actions }
    }

    private func obtained(_ token: String, renewal: Duration, _ lane: PushLane) -> [PushQueue.Action] {
        lane.authorization = HTTPField("authorization", "Bearer \(token)")
        return lane.queue.credentialObtained(renewal: renewal, at: MonotonicClock.now)
    }

    private func failed(_ problem: CredentialProblem, _ lane: PushLane) -> [PushQueue.Action] {
        logger.warning(
            "no credential for a push provider",
            metadata: [LogKey.request: "\(lane.key.provider.rawValue)", LogKey.reason: "\(problem.reason)"])
        return lane.queue.credentialFailed(problem.reason, isFinal: problem.isFinal, at: MonotonicClock.now)
    }

    /// Reads accounts of apps that have changed, and gets new credentials for lanes whose key has changed in its file.
    func checkFiles() {
        let now = MonotonicClock.now
        guard now >= nextFileCheck else { return }
        nextFileCheck = now + Self.fileInterval
        for problem in apps?.refresh() ?? [] {
            logger.warning("accounts of an app cannot be used", metadata: [LogKey.reason: "\(problem.reason)"])
        }
        if apps != nil {
            // Lanes of accounts that no app has any more are forgotten.
            for lane in lanes.values where lane.jobs.isEmpty { change(lane) { _ in [] } }
        }
        for lane in lanes.values where lane.authorization != nil && lane.hasNewKey {
            logger.info("a key for push has changed", metadata: [LogKey.request: "\(lane.key.provider.rawValue)"])
            change(lane) { $0.credentialReplaced() }
        }
    }
}
