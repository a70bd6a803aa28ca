internal import CSRTP
internal import CSRTPCiphers
internal import Synchronization

/// libsrtp2 for the whole process. It is initialised once, and its ciphers are replaced unless the process asked to
/// keep them.
package enum SRTPLibrary {
    /// Keeps the ciphers that libsrtp2 was built with, for comparison. It has an effect only before the first session
    /// is made.
    package static func useStockCiphers() { wantsStock.store(true, ordering: .sequentiallyConsistent) }

    private static let wantsStock = Atomic<Bool>(false)

    /// Whether libsrtp2 was initialised; the first access initialises it.
    static let isReady: Bool = {
        guard srtp_init() == srtp_err_status_ok else { return false }
        return wantsStock.load(ordering: .sequentiallyConsistent) || csrtp_install_openssl_ciphers() == 0
    }()
}
