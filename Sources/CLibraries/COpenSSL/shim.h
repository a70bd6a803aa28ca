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

/// A fresh key on the curve P-256, or NULL.
static inline EVP_PKEY *copenssl_generate_p256(void) {
    return EVP_EC_gen("P-256");
}

/// Both ends of the range of protocol versions.
static inline int copenssl_set_dtls_1_2_only(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) && SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION);
}

static inline int copenssl_set_groups(SSL_CTX *context, const char *groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}

static inline void copenssl_disable_session_cache(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline uint64_t copenssl_transport_options(void) {
    return SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
        | SSL_OP_CIPHER_SERVER_PREFERENCE;
}

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

/// The low bits of an error: which one it is, without the part of the library it came from.
static inline int copenssl_error_reason(unsigned long error) {
    return ERR_GET_REASON(error);
}

static inline int copenssl_is_custom_bio_flush(int command) {
    return command == BIO_CTRL_FLUSH;
}

static inline void copenssl_bio_retry_read(BIO *bio) {
    BIO_clear_retry_flags(bio);
    BIO_set_retry_read(bio);
}

static inline void copenssl_bio_clear_retry(BIO *bio) {
    BIO_clear_retry_flags(bio);
}

#endif
