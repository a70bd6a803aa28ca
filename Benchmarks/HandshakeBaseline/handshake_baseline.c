#define _GNU_SOURCE
#include "handshake_baseline.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <time.h>

struct handshake_baseline {
    SSL_CTX *context;
};

enum { longest_datagram = 1200, most_turns = 16 };

static int64_t thread_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Both are self-signed: the fingerprint decides, outside of TLS.
static int accept_any(int preverified, X509_STORE_CTX *store) {
    (void)preverified;
    (void)store;
    return 1;
}

static int install(SSL_CTX *context, const char *certificate, const char *key) {
    BIO *text = BIO_new_mem_buf(certificate, -1), *secret = BIO_new_mem_buf(key, -1);
    X509 *x509 = PEM_read_bio_X509(text, NULL, NULL, NULL);
    EVP_PKEY *private_key = PEM_read_bio_PrivateKey(secret, NULL, NULL, NULL);
    int done = x509 && private_key && SSL_CTX_use_certificate(context, x509) == 1
        && SSL_CTX_use_PrivateKey(context, private_key) == 1;
    X509_free(x509);
    EVP_PKEY_free(private_key);
    BIO_free(text);
    BIO_free(secret);
    return done;
}

struct handshake_baseline *handshake_baseline_open(const char *certificate, const char *key) {
    struct handshake_baseline *baseline = malloc(sizeof *baseline);
    SSL_CTX *context = SSL_CTX_new(DTLS_method());
    if (!baseline || !context || !SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION)
        || !SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION)
        || SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES128-GCM-SHA256") != 1
        || SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") != 1
        || SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80") != 0
        || !install(context, certificate, key)) {
        SSL_CTX_free(context);
        free(baseline);
        return NULL;
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, accept_any);
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION
                                     | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    baseline->context = context;
    return baseline;
}

void handshake_baseline_close(struct handshake_baseline *baseline) {
    if (!baseline) return;
    SSL_CTX_free(baseline->context);
    free(baseline);
}

// A client or a server that reads what the other one writes. Memory keeps no boundaries of datagrams: the server reads
// a whole flight at once, and so makes fewer reads than over a network.
static SSL *make_end(SSL_CTX *context, BIO *in, BIO *out) {
    SSL *end = SSL_new(context);
    if (!end) return NULL;
    BIO_up_ref(in);
    BIO_up_ref(out);
    SSL_set_bio(end, in, out);
    SSL_set_mtu(end, longest_datagram);
    return end;
}

// Whether the handshake of this end can go on: 1 it is over, 0 it waits, -1 it has failed.
static int advance(SSL *end) {
    int result = SSL_do_handshake(end);
    if (result == 1) return 1;
    return SSL_get_error(end, result) == SSL_ERROR_WANT_READ ? 0 : -1;
}

static int64_t shake_hands(SSL_CTX *context, BIO *to_server, BIO *to_client) {
    SSL *client = make_end(context, to_client, to_server);
    int64_t start = thread_cpu_ns();
    SSL *server = make_end(context, to_server, to_client);
    if (server) SSL_set_accept_state(server);
    int64_t spent = thread_cpu_ns() - start;
    int of_client = 0, of_server = 0;
    if (client) SSL_set_connect_state(client);
    for (int turn = 0; client && server && turn < most_turns; turn++) {
        if (of_client < 0 || of_server < 0 || (of_client && of_server)) break;
        of_client = advance(client);
        start = thread_cpu_ns();
        of_server = advance(server);
        spent += thread_cpu_ns() - start;
    }
    start = thread_cpu_ns();
    SSL_free(server);
    spent += thread_cpu_ns() - start;
    SSL_free(client);
    return of_client == 1 && of_server == 1 ? spent : -1;
}

int64_t handshake_baseline_run(struct handshake_baseline *baseline, int count) {
    int64_t spent = 0;
    for (int i = 0; i < count; i++) {
        BIO *to_server = BIO_new(BIO_s_mem()), *to_client = BIO_new(BIO_s_mem());
        int64_t one = -1;
        if (to_server && to_client) {
            // Nothing there is not the end.
            BIO_set_mem_eof_return(to_server, -1);
            BIO_set_mem_eof_return(to_client, -1);
            one = shake_hands(baseline->context, to_server, to_client);
        }
        BIO_free(to_server);
        BIO_free(to_client);
        if (one < 0) return -1;
        spent += one;
    }
    return spent;
}
