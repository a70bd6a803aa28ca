import COpenSSL
import Testing

/// The library context of OpenSSL that handshakes have. What is made here is this module's own.
struct HandshakeLibraryTests {
    /// Providers that OpenSSL has built in. `null` has no algorithms, and stands for any other one.
    @Test(
        arguments: [
            ([], true), (["default"], true), (["default", "base"], true), (["base"], false), (["null"], false),
            (["default", "null"], false),
        ] as [([String], Bool)])
    func `it is made only where handshakes are left to the default provider`(_ names: [String], _ isUsed: Bool) {
        let library = unsafe OSSL_LIB_CTX_new()
        let providers = unsafe names.map { unsafe OSSL_PROVIDER_load(library, $0) }
        let areLoaded = unsafe providers.allSatisfy { unsafe $0 != nil }
        let uses = unsafe copenssl_uses_default_provider(library) == 1
        unsafe providers.forEach { unsafe OSSL_PROVIDER_unload($0) }
        unsafe OSSL_LIB_CTX_free(library)
        #expect(areLoaded)
        #expect(uses == isUsed)
    }

    @Test func `one that cannot be made leaves nothing behind, and OpenSSL's errors as they were`() {
        ERR_clear_error()
        // The first is not there, and the second has no keys.
        for name in ["absent", "base"] {
            let isMade = unsafe copenssl_open_handshake_library(name) == 1
            let isKept = unsafe copenssl_handshake_state().pointee.library != nil
            let hasBase = unsafe copenssl_handshake_state().pointee.base != nil
            #expect(!isMade && !isKept && !hasBase)
            #expect(ERR_peek_error() == 0)
        }
        let isFetched = unsafe EVP_MD_fetch(nil, "absent", nil) != nil
        let error = ERR_peek_last_error()
        #expect(!isFetched && error != 0)
        let isMade = unsafe copenssl_open_handshake_library("absent") == 1
        #expect(!isMade && ERR_peek_last_error() == error)
        let isMadeAtLast = unsafe copenssl_open_handshake_library("default") == 1
        let isKept = unsafe copenssl_handshake_state().pointee.library != nil
        #expect(isMadeAtLast && isKept && ERR_peek_last_error() == error)
        ERR_clear_error()
    }
}
