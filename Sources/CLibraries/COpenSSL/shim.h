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
