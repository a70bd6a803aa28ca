import CallControl
import Logging
import Observability

/// Owns an application inside the gateway: its legs, and what it does about them.
///
/// It has no registration and no devices, is never busy, and answers each call at once. It starts no calls.
actor ApplicationOwner: EndpointOwner {
    nonisolated let address: UserAddress
    private let application: Application
    private let logger: Logger
    private nonisolated let inbox = Inbox<EndpointMessage>()
    /// The legs of the application, by session.
    private var legs: [SessionID: LegAddress] = [:]

    init(_ application: Application, logger: Logger) {
        address = application.address
        self.application = application
        self.logger = logger
    }

    /// Handles messages until the task is cancelled.
    ///
    /// - Parameter switchboard: carries out the application's commands.
    func run(asking switchboard: LocalSwitchboard) async {
        for await message in inbox.messages {
            switch message {
            case .tell(let entry): await handle(entry.event, asking: switchboard)
            case .detach(let session): legs[session] = nil
            case .answered: break  // an application has no limit of legs that ring
            case .established: break  // nobody watches its presence
            case .service: break  // an application has calls alone
            case .move(let session, let leg): if legs[session] != nil { legs[session] = leg }
            }
        }
    }

    // MARK: Calls

    func reply(to question: UserQuestion) -> PlacementReply {
        switch question {
        case .attach(let session, let leg, _):
            legs[session] = leg
            return .contact(contact)
        case .contact: return .contact(contact)
        case .locate(let session): return .address(legs[session])
        case .identify(let session, _): return .requester(legs[session], nil)
        case .awaitsEnd: return .endAwaited(false)
        case .dial, .connect, .recall: return .absent
        case .charge, .forget: return .done
        }
    }

    private var contact: Contact {
        Contact(endpoint: .application(application.source), displayName: application.displayName, isEngaged: false)
    }

    nonisolated func post(_ message: EndpointMessage) -> Bool { inbox.post(message) }

    // MARK: Acting

    private func handle(_ event: CallEvent, asking switchboard: LocalSwitchboard) async {
        guard case .invited = event.fact, let session = event.audience?.session, let leg = legs[session] else { return }
        do throws(CallError) {
            try await switchboard.perform(.answer(CallAnswerRequest(sdp: "")), in: session, by: leg)
        } catch {
            // The caller has hung up meanwhile, or offers nothing that the gateway can decode.
            logger.debug("application cannot answer", metadata: [LogKey.call: "\(leg.call)"])
            do throws(CallError) {
                try await switchboard.perform(.reject(replacement: false), in: session, by: leg)
            } catch {}
        }
    }
}
