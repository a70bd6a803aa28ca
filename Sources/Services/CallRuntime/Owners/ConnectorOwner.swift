import CallControl
import Logging
import Observability

/// Owns the application that places calls for users (click-to-call, spidr-wire §10).
///
/// It has a leg in each call of that kind, which rings the user's own devices. When one has answered, it transfers the
/// call to the target that the user wants, and leaves once the target has answered. If the target is not reached, the
/// call is over by itself. Nobody can call it.
actor ConnectorOwner: EndpointOwner {
    /// A leg of the connector, and what for.
    private struct Connection {
        var leg: LegAddress
        /// The user who asked for the call.
        let user: UserAddress
        /// With whom the user is to be connected.
        let target: UserAddress
    }

    /// What users hear until the target answers.
    static let source = HeadlessSource.playback(Playback(.tone(.ringback)))

    private let logger: Logger
    private nonisolated let inbox = Inbox<EndpointMessage>()
    /// The legs of the connector, by session.
    private var connections: [SessionID: Connection] = [:]

    init(logger: Logger) { self.logger = logger }

    /// Handles messages until the task is cancelled.
    ///
    /// - Parameter switchboard: carries out the connector's requests.
    func run(asking switchboard: LocalSwitchboard) async {
        for await message in inbox.messages {
            switch message {
            case .tell(let entry, _): await handle(entry.event, asking: switchboard)
            case .detach(let session): connections[session] = nil
            case .answered: break  // it has no limit of legs that ring
            case .established: break  // nobody watches its presence
            case .service: break  // it has calls alone
            case .streamAsks, .endedLate: break  // its legs have no program, and play no lists
            case .move(let session, let leg): connections[session]?.leg = leg
            }
        }
    }

    func reply(to question: UserQuestion) -> PlacementReply {
        switch question {
        case .connect(let session, let leg, let user, let target):
            connections[session] = Connection(leg: leg, user: user, target: target)
            return .done
        case .locate(let session): return .address(connections[session]?.leg)
        case .identify(let session, _): return .requester(connections[session]?.leg, nil)
        case .awaitsEnd: return .endAwaited(false)
        case .attach, .contact, .dial, .recall: return .absent
        case .charge, .forget: return .done
        }
    }

    nonisolated func post(_ message: EndpointMessage) -> Bool { inbox.post(message) }

    private func handle(_ event: CallEvent, asking switchboard: LocalSwitchboard) async {
        guard let session = event.audience?.session, let connection = connections[session] else { return }
        switch event.fact {
        case .answered:
            do throws(CallError) {
                try await switchboard.connect(
                    session, connection.leg, for: connection.user, to: connection.target)
            } catch {
                // The user has hung up meanwhile, or the target cannot be offered what the user's device wants.
                logger.debug("connection failed", metadata: [LogKey.call: "\(connection.leg.call)"])
                await end(session, connection, "The call cannot be connected", asking: switchboard)
            }
        case .completed: await end(session, connection, nil, asking: switchboard)
        case .joined, .invited, .waking, .awoke, .notWoken, .wakingOver, .rings, .alerted, .progressed, .talks,
            .established,
            .stoppedRinging, .rejected,
            .forwarded, .changedDevice, .renewedSubscription, .released, .left, .moved, .ended, .offered, .unanswered,
            .candidates, .held, .resumed, .transferStarted, .transferFailed, .mediaReached, .mediaRestarted, .pathLost,
            .pathRecovered, .playbackEnded, .qualityMeasured, .content, .keyPressed, .played, .gathered:
            break
        }
    }

    private func end(
        _ session: SessionID, _ connection: Connection, _ reason: String?, asking switchboard: LocalSwitchboard
    ) async {
        do throws(CallError) {
            try await switchboard.perform(.end(reasonText: reason), in: session, by: connection.leg)
        } catch {
            // The call is over already.
        }
    }
}
