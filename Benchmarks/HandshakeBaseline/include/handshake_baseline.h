// The server's side of DTLS handshakes as OpenSSL does them by itself: what orbweaver-bench holds whole calls against.
#ifndef ORBWEAVER_HANDSHAKE_BASELINE_H
#define ORBWEAVER_HANDSHAKE_BASELINE_H

#include <stdint.h>

struct handshake_baseline;

// A server and a client that both use this certificate and key, both PEM, with the ciphers of the gateway: DTLS 1.2, ephemeral ECDH on
// X25519, AES-128-GCM, use_srtp, and a certificate of either side, which OpenSSL verifies as it does by itself, whatever comes of it.
// NULL if OpenSSL refuses any of that.
struct handshake_baseline *handshake_baseline_open(const char *certificate, const char *key);

// Nanoseconds of the calling thread that the server took for `count` full handshakes, its objects made and freed included; the
// client's are not counted, though it has its turns on the same thread. -1 if a handshake fails.
int64_t handshake_baseline_run(struct handshake_baseline *, int count);

void handshake_baseline_close(struct handshake_baseline *);

#endif
