// What handshakes need of OpenSSL's default provider, as a library context of its own.
//
// OpenSSL 3.0 keeps no decoder: for the key in each certificate it looks at every kind of key and every decoder that
// there is (OSSL_DECODER_CTX_new_for_pkey). With the few that a handshake can use, this takes a quarter of the time.

#ifndef ORBWEAVER_COPENSSL_HANDSHAKE_H
#define ORBWEAVER_COPENSSL_HANDSHAKE_H

#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <string.h>

struct copenssl_handshake {
    OSSL_LIB_CTX *library;
    /// The default provider, which does all the work.
    OSSL_PROVIDER *base;
    /// The kinds of keys, and the decoders for those in certificates. The last entry is empty.
    OSSL_ALGORITHM keys[8];
    OSSL_ALGORITHM decoders[8];
};

static inline struct copenssl_handshake *copenssl_handshake_state(void) {
    static struct copenssl_handshake state;
    return &state;
}

/// Copies the algorithms of these names that have a property, and returns how many there are; `names` ends with NULL.
static inline int copenssl_keep(const OSSL_ALGORITHM *all, const char *const *names, const char *property,
                                OSSL_ALGORITHM *kept) {
    int count = 0;
    for (; all && all->algorithm_names; all++) {
        if (!strstr(all->property_definition, property)) continue;
        size_t length = strcspn(all->algorithm_names, ":");
        for (int index = 0; names[index]; index++) {
            if (strlen(names[index]) != length || strncmp(names[index], all->algorithm_names, length) != 0) continue;
            if (count == 7) return -1;
            kept[count++] = *all;
        }
    }
    return count;
}

static inline const OSSL_ALGORITHM *copenssl_handshake_query(void *context, int operation, int *no_cache) {
    (void)context;
    struct copenssl_handshake *state = copenssl_handshake_state();
    *no_cache = 0;
    switch (operation) {
    case OSSL_OP_KEYMGMT: return state->keys;
    case OSSL_OP_DECODER: return state->decoders;
    default: return OSSL_PROVIDER_query_operation(state->base, operation, no_cache);
    }
}

static inline int copenssl_handshake_capabilities(void *context, const char *capability, OSSL_CALLBACK *told,
                                                  void *argument) {
    (void)context;
    return OSSL_PROVIDER_get_capabilities(copenssl_handshake_state()->base, capability, told, argument);
}

static inline int copenssl_handshake_provider(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *core,
                                              const OSSL_DISPATCH **functions, void **context) {
    (void)handle;
    (void)core;
    static const OSSL_DISPATCH table[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))copenssl_handshake_query},
        {OSSL_FUNC_PROVIDER_GET_CAPABILITIES, (void (*)(void))copenssl_handshake_capabilities},
        {0, NULL},
    };
    *functions = table;
    // The algorithms are those of the default provider, and get what they would get from it.
    *context = OSSL_PROVIDER_get0_provider_ctx(copenssl_handshake_state()->base);
    return 1;
}

static inline void copenssl_make_handshake_library(void) {
    // The keys of certificates that the cipher suites can use, and those of the key exchange.
    static const char *const keys[] = {"EC", "RSA", "RSA-PSS", "ED25519", "ED448", "X25519", NULL};
    static const char *const certified[] = {"EC", "RSA", "RSA-PSS", "ED25519", "ED448", NULL};
    struct copenssl_handshake *state = copenssl_handshake_state();
    // Where an operator wants FIPS, openssl.cnf decides what is used.
    if (OSSL_PROVIDER_available(NULL, "fips") || EVP_default_properties_is_fips_enabled(NULL)) return;
    OSSL_LIB_CTX *whole = OSSL_LIB_CTX_new();
    OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
    state->base = whole ? OSSL_PROVIDER_load(whole, "default") : NULL;
    if (library && state->base) {
        int no_cache = 0;
        const OSSL_ALGORITHM *managers = OSSL_PROVIDER_query_operation(state->base, OSSL_OP_KEYMGMT, &no_cache);
        const OSSL_ALGORITHM *decoders = OSSL_PROVIDER_query_operation(state->base, OSSL_OP_DECODER, &no_cache);
        if (copenssl_keep(managers, keys, "", state->keys) == 6 &&
            copenssl_keep(decoders, certified, "input=der,structure=SubjectPublicKeyInfo", state->decoders) == 5 &&
            OSSL_PROVIDER_add_builtin(library, "handshake", copenssl_handshake_provider) == 1 &&
            OSSL_PROVIDER_load(library, "handshake")) {
            state->library = library;
            return;
        }
    }
    OSSL_LIB_CTX_free(library);
    if (state->base) OSSL_PROVIDER_unload(state->base);
    OSSL_LIB_CTX_free(whole);
}

/// The library context for handshakes, the same for all threads and for as long as the process lives. NULL, which is
/// OpenSSL's own: this OpenSSL does not have what is expected, or FIPS is wanted.
static inline OSSL_LIB_CTX *copenssl_handshake_library(void) {
    static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
    if (!CRYPTO_THREAD_run_once(&once, copenssl_make_handshake_library)) return NULL;
    return copenssl_handshake_state()->library;
}

#endif
