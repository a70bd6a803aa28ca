internal import CallControl
internal import MediaPlane
internal import Observability
internal import Primitives
internal import SDP

/// Legs whose peers do not bundle (docs/adr/0007).
extension MediaWorker {
    /// Starts the transports that an answer has added, updates those that stay, and ends those without an m-line.
    func connectFurtherTransports(
        of leg: MediaLeg, _ negotiated: NegotiatedLeg, _ context: inout WorkerContext
    ) {
        for gone in leg.further where negotiated.furtherTransports[gone.transport] == nil {
            part(with: gone, &context)
        }
        leg.further.removeAll { negotiated.furtherTransports[$0.transport] == nil }
        for (number, agreed) in negotiated.furtherTransports.sorted(by: { $0.key < $1.key }) {
            let other = leg.further.first { $0.transport == number } ?? add(number, to: leg, with: agreed.local)
            perform(other.session.connect(agreed, at: context.now), for: other, &context)
            routeChecks(to: other)
        }
    }

    private func add(_ number: TransportNumber, to leg: MediaLeg, with credentials: ICECredentials) -> MediaLeg {
        let added = MediaLeg(
            number: nextLegNumber(), call: leg.call, name: leg.name, index: leg.index, transport: number,
            session: session(with: credentials))
        leg.further.append(added)
        environment.metrics.mediaSessionsActive.increment()
        return added
    }

    /// Whether the events of a transport are reported as those of the leg.
    func isPrincipal(_ leg: MediaLeg) -> Bool { leg.call.leg(leg.index)?.principal ?? .first == leg.transport }
}
