// What handshakes need of OpenSSL's default provider, as a library context of its own.
//
// OpenSSL 3.0 keeps no decoder: for the key in each certificate it looks at every kind of key and every decoder that
// there is (OSSL_DECODER_CTX_new_for_pkey). With the few that a handshake can use, this takes a quarter of the time.

#ifndef ORBWEAVER_COPENSSL_HANDSHAKE_H
#define ORBWEAVER_COPENSSL_HANDSHAKE_H

#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
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

/// Copies what handshakes need of the base provider: 1, or 0 if it is not what is expected.
static inline int copenssl_keep_all(struct copenssl_handshake *state) {
    // The keys of certificates that the cipher suites can use, and those of the key exchange.
    static const char *const keys[] = {"EC", "RSA", "RSA-PSS", "ED25519", "ED448", "X25519", NULL};
    static const char *const certified[] = {"EC", "RSA", "RSA-PSS", "ED25519", "ED448", NULL};
    int no_cache = 0;
    const OSSL_ALGORITHM *managers = OSSL_PROVIDER_query_operation(state->base, OSSL_OP_KEYMGMT, &no_cache);
    int kept_keys = copenssl_keep(managers, keys, "", state->keys);
    OSSL_PROVIDER_unquery_operation(state->base, OSSL_OP_KEYMGMT, managers);
    const OSSL_ALGORITHM *decoders = OSSL_PROVIDER_query_operation(state->base, OSSL_OP_DECODER, &no_cache);
    int kept_decoders =
        copenssl_keep(decoders, certified, "input=der,structure=SubjectPublicKeyInfo", state->decoders);
    OSSL_PROVIDER_unquery_operation(state->base, OSSL_OP_DECODER, decoders);
    return kept_keys == 6 && kept_decoders == 5;
}

/// Makes the library context of what handshakes need of this provider: 1. Or 0, if that cannot be done; then nothing
/// is kept. OpenSSL's error queue is as it was before.
static inline int copenssl_open_handshake_library(const char *provider) {
    struct copenssl_handshake *state = copenssl_handshake_state();
    ERR_set_mark();
    OSSL_LIB_CTX *whole = OSSL_LIB_CTX_new();
    OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
    state->base = whole ? OSSL_PROVIDER_load(whole, provider) : NULL;
    int is_made = library && state->base && copenssl_keep_all(state) &&
                  OSSL_PROVIDER_add_builtin(library, "handshake", copenssl_handshake_provider) == 1 &&
                  OSSL_PROVIDER_load(library, "handshake") != NULL;
    if (is_made) {
        state->library = library;
    } else {
        // Its provider has the algorithms of the base provider, and so goes first.
        OSSL_LIB_CTX_free(library);
        if (state->base) OSSL_PROVIDER_unload(state->base);
        OSSL_LIB_CTX_free(whole);
        memset(state, 0, sizeof *state);
    }
    ERR_pop_to_mark();
    return is_made;
}

/// Which providers are active in a library context.
struct copenssl_providers {
    int has_default;
    int has_others;
};

static inline int copenssl_note_provider(OSSL_PROVIDER *provider, void *found) {
    struct copenssl_providers *providers = (struct copenssl_providers *)found;
    const char *name = OSSL_PROVIDER_get0_name(provider);
    if (strcmp(name, "default") == 0)
        providers->has_default = 1;
    else if (strcmp(name, "legacy") != 0 && strcmp(name, "base") != 0)
        providers->has_others = 1;
    return 1;
}

/// Whether handshakes in a library context are left to OpenSSL's default provider: it is active, FIPS is not wanted,
/// and no provider is active that could do the work in its place. Those called legacy and base could not. NULL is
/// OpenSSL's own context, as openssl.cnf has it. The error queue is as it was before.
static inline int copenssl_uses_default_provider(OSSL_LIB_CTX *library) {
    struct copenssl_providers found = {0, 0};
    ERR_set_mark();
    int is_fips = OSSL_PROVIDER_available(library, "fips") || EVP_default_properties_is_fips_enabled(library);
    int is_known = OSSL_PROVIDER_do_all(library, copenssl_note_provider, &found) == 1;
    ERR_pop_to_mark();
    return !is_fips && is_known && found.has_default && !found.has_others;
}

static inline void copenssl_make_handshake_library(void) {
    // Where an operator has other providers than OpenSSL's default, openssl.cnf decides what is used.
    if (copenssl_uses_default_provider(NULL)) copenssl_open_handshake_library("default");
}

/// The library context for handshakes, the same for all threads and for as long as the process lives. NULL, which is
/// OpenSSL's own: this OpenSSL does not have what is expected, or is configured to use other providers.
static inline OSSL_LIB_CTX *copenssl_handshake_library(void) {
    static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;
    if (!CRYPTO_THREAD_run_once(&once, copenssl_make_handshake_library)) return NULL;
    return copenssl_handshake_state()->library;
}

#endif
