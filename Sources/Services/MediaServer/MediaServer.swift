package import CallControl
package import CallRuntime
internal import Cryptography
internal import DTLS
internal import ICE
package import Logging
package import Observability
package import Primitives
internal import SDP
internal import Sockets
internal import Synchronization

/// The media plane: a fixed number of threads, each with its own UDP port and its own calls.
///
/// A call's number decides its worker, so that no table is shared and both legs of a call meet on one thread.
package final class MediaServer: MediaPort {
    package struct Configuration: Equatable, Sendable {
        /// Addresses to listen on, one socket each per worker; `0.0.0.0` and `::` are allowed.
        package var bind: [IPAddress]
        /// Addresses written into candidates, for containers and NAT; empty: those in `bind`.
        package var advertise: [IPAddress]
        /// The UDP port of the first worker; each further one takes the next. 0 lets the kernel choose.
        package var firstPort: UInt16
        /// At least 1; one per core is best.
        package var workers: Int
        /// A leg without a valid connectivity check for this long has lost its peer (RFC 7675 §5.1).
        package var consentTimeout: Duration
        /// Calls that one worker takes at a time.
        package var maximumCallsPerWorker: Int

        package init(
            bind: [IPAddress], advertise: [IPAddress] = [], firstPort: UInt16 = 7_000, workers: Int = 1,
            consentTimeout: Duration = .seconds(30), maximumCallsPerWorker: Int = 4_000
        ) {
            self.bind = bind
            self.advertise = advertise
            self.firstPort = firstPort
            self.workers = workers
            self.consentTimeout = consentTimeout
            self.maximumCallsPerWorker = maximumCallsPerWorker
        }
    }

    private let endpoints: [WorkerEndpoint]
    private let fingerprint: Fingerprint
    private let maximumCallsPerWorker: Int
    private let isStopping = Atomic<Bool>(false)

    /// Binds the sockets and starts the threads.
    ///
    /// - Parameter events: called on a worker's thread; must return at once.
    package init(
        configuration: Configuration, metrics: GatewayMetrics, logger: Logger, events: @escaping @Sendable (CallID, MediaEvent) -> Void
    ) throws(MediaServerError) {
        precondition(configuration.workers > 0, "the configuration is checked before it gets here")
        let context: DTLSContext
        do {
            context = try DTLSContext(certificate: Certificate(commonName: "orbweaver"))
        } catch {
            throw .security("\(error)")
        }
        fingerprint = Fingerprint(.sha256, digest: context.certificate.fingerprint(.sha256))
        maximumCallsPerWorker = configuration.maximumCallsPerWorker
        var endpoints: [WorkerEndpoint] = []
        for index in 0..<configuration.workers {
            let port = configuration.firstPort == 0 ? 0 : configuration.firstPort + UInt16(index)
            let endpoint = try WorkerEndpoint(index: index, bind: configuration.bind, advertise: configuration.advertise, port: port)
            try endpoint.start(
                MediaWorker.Environment(
                    context: context, consentTimeout: configuration.consentTimeout, metrics: metrics, logger: logger, events: events))
            endpoints.append(endpoint)
        }
        self.endpoints = endpoints
    }

    /// The addresses and ports the workers listen on.
    package var localAddresses: [SocketAddress] { endpoints.flatMap(\.localAddresses) }

    package func reserve(_ call: CallID) throws(MediaUnavailable) -> MediaReservation {
        let endpoint = endpoint(of: call)
        guard !isStopping.load(ordering: .relaxed), endpoint.callCount < maximumCallsPerWorker else { throw MediaUnavailable() }
        return MediaReservation(candidates: endpoint.candidates, fingerprint: fingerprint)
    }

    package func send(_ command: MediaCommand, for call: CallID) { endpoint(of: call).send(.call(call, command)) }

    /// Ends what is left and waits for the threads. To be called once calls have been released.
    package func stop() {
        isStopping.store(true, ordering: .relaxed)
        for endpoint in endpoints { endpoint.send(.stop) }
        for endpoint in endpoints { endpoint.join() }
    }

    private func endpoint(of call: CallID) -> WorkerEndpoint {
        endpoints[Int(call.rawValue % UInt64(endpoints.count))]
    }
}

package enum MediaServerError: Error, Equatable {
    /// A socket could not be bound; the text says which and why.
    case socket(String)
    /// OpenSSL refused to make a certificate or a context.
    case security(String)
}
