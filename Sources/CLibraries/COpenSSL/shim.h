// OpenSSL 3 for Swift: its headers, and one function for each macro that Swift cannot call.

#ifndef ORBWEAVER_COPENSSL_SHIM_H
#define ORBWEAVER_COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

/// A digest as the default provider has it, which is fetched once for all threads; NULL: there is none of that name.
/// EVP_sha1() and the like stand for a digest that OpenSSL 3 looks up by its name whenever it is used.
static inline const EVP_MD *copenssl_fetch_once(EVP_MD **place, const char *name) {
    EVP_MD *known = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (known) return known;
    EVP_MD *fetched = EVP_MD_fetch(NULL, name, NULL);
    if (!fetched) return NULL;
    if (__atomic_compare_exchange_n(place, &known, fetched, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fetched;
    EVP_MD_free(fetched);
    return known;
}

static inline const EVP_MD *copenssl_sha1(void) {
    static EVP_MD *digest;
    return copenssl_fetch_once(&digest, "SHA1");
}

static inline const EVP_MD *copenssl_sha224(void) {
    static EVP_MD *digest;
    return copenssl_fetch_once(&digest, "SHA2-224");
}

static inline const EVP_MD *copenssl_sha256(void) {
    static EVP_MD *digest;
    return copenssl_fetch_once(&digest, "SHA2-256");
}

static inline const EVP_MD *copenssl_sha384(void) {
    static EVP_MD *digest;
    return copenssl_fetch_once(&digest, "SHA2-384");
}

static inline const EVP_MD *copenssl_sha512(void) {
    static EVP_MD *digest;
    return copenssl_fetch_once(&digest, "SHA2-512");
}

/// HMAC (RFC 2104 §2): 1, and the code, which is as long as the digest; or 0. HMAC() of OpenSSL 3 looks up the
/// algorithm and the digest by their names for each message, which takes longer than a short message itself.
static inline int copenssl_hmac(const EVP_MD *digest, const unsigned char *key, size_t key_length,
                                const unsigned char *bytes, size_t length, unsigned char *code) {
    unsigned char pad[EVP_MAX_MD_SIZE * 2] = {0};
    int block = EVP_MD_get_block_size(digest);
    if (block <= 0 || (size_t)block > sizeof pad) return 0;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context) return 0;
    unsigned int size = 0;
    int done = 1;
    if (key_length > (size_t)block)
        done = EVP_Digest(key, key_length, pad, &size, digest, NULL);
    else if (key_length > 0)
        memcpy(pad, key, key_length);
    for (int index = 0; index < block; index++) pad[index] ^= 0x36;
    done = done && EVP_DigestInit_ex(context, digest, NULL) && EVP_DigestUpdate(context, pad, (size_t)block) &&
           EVP_DigestUpdate(context, bytes, length) && EVP_DigestFinal_ex(context, code, &size);
    for (int index = 0; index < block; index++) pad[index] ^= 0x36 ^ 0x5C;
    done = done && EVP_DigestInit_ex(context, digest, NULL) && EVP_DigestUpdate(context, pad, (size_t)block) &&
           EVP_DigestUpdate(context, code, size) && EVP_DigestFinal_ex(context, code, &size);
    OPENSSL_cleanse(pad, sizeof pad);
    EVP_MD_CTX_free(context);
    return done;
}

/// A fresh key on the curve of that name, or NULL.
static inline EVP_PKEY *copenssl_generate_ec(const char *curve) {
    return EVP_EC_gen(curve);
}

/// Both ends of the range of protocol versions.
static inline int copenssl_set_versions(SSL_CTX *context, int lowest, int highest) {
    return SSL_CTX_set_min_proto_version(context, lowest) && SSL_CTX_set_max_proto_version(context, highest);
}

static inline int copenssl_set_groups(SSL_CTX *context, const char *groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}

static inline void copenssl_set_session_cache_mode(SSL_CTX *context, int mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}

// Options, of which Swift does not see the macros.
static const uint64_t copenssl_no_query_mtu = SSL_OP_NO_QUERY_MTU;
static const uint64_t copenssl_no_ticket = SSL_OP_NO_TICKET;
static const uint64_t copenssl_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const uint64_t copenssl_no_compression = SSL_OP_NO_COMPRESSION;
static const uint64_t copenssl_cipher_server_preference = SSL_OP_CIPHER_SERVER_PREFERENCE;

static inline int copenssl_set_mtu(SSL *ssl, long bytes) {
    return (int)SSL_set_mtu(ssl, bytes);
}

/// 1 and the time left if the retransmission timer runs, 0 if it does not.
static inline int copenssl_dtls_timeout(SSL *ssl, struct timeval *left) {
    return (int)DTLSv1_get_timeout(ssl, left);
}

static inline int copenssl_dtls_handle_timeout(SSL *ssl) {
    return (int)DTLSv1_handle_timeout(ssl);
}

static inline void copenssl_bio_retry_read(BIO *bio) {
    BIO_clear_retry_flags(bio);
    BIO_set_retry_read(bio);
}

static inline void copenssl_bio_clear_retry(BIO *bio) {
    BIO_clear_retry_flags(bio);
}

#endif
