internal import CSRTP
internal import CSRTPCiphers
internal import Synchronization

/// libsrtp2 for the whole process: initialised once, its ciphers replaced unless the process asked for its own.
package enum SRTPLibrary {
    /// Keeps the ciphers that libsrtp2 was built with, for comparison. Only before the first session; later calls do nothing.
    package static func useStockCiphers() { wantsStock.store(true, ordering: .sequentiallyConsistent) }

    private static let wantsStock = Atomic<Bool>(false)

    /// Whether the library came up; forces its start.
    static let isReady: Bool = {
        guard srtp_init() == srtp_err_status_ok else { return false }
        return wantsStock.load(ordering: .sequentiallyConsistent) || csrtp_install_openssl_ciphers() == 0
    }()
}
