package import CallControl

extension SoundFetchError {
    /// The reason as a clause about the server or the URL.
    package var clause: String {
        switch self {
        case .unusableURL: "the URL cannot be used"
        case .noAddress: "the host is unknown, or its address is one that the gateway may not ask"
        case .notConnected: "the server cannot be reached"
        case .untrusted: "the certificate of the server is not trusted"
        case .connectionLost: "the connection ended too early"
        case .timedOut: "the server took too long"
        case .tooLarge(let limit): "the file is larger than \(limit) bytes"
        case .status(let status): "the server answers with status \(status)"
        case .busy: "too many sounds are being fetched"
        case .noMemory: "the sounds that play or wait take too much memory"
        case .stopping: "the gateway stops"
        }
    }
}
