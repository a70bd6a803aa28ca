// The server's side of DTLS handshakes as OpenSSL does them by itself: what orbweaver-bench holds whole calls against.
#ifndef ORBWEAVER_HANDSHAKE_BASELINE_H
#define ORBWEAVER_HANDSHAKE_BASELINE_H

#include <stdint.h>

struct handshake_baseline;

// A server and a client that both use this certificate and key (PEM) and the ciphers of the gateway: DTLS 1.2,
// ephemeral ECDH on X25519, AES-128-GCM, use_srtp. Each side sends its certificate. OpenSSL verifies it in its usual
// way, and the result is ignored. NULL if OpenSSL refuses any of that.
struct handshake_baseline *handshake_baseline_open(const char *certificate, const char *key);

// CPU time of the calling thread, in nanoseconds, that the server took for `count` full handshakes, with the making
// and freeing of its objects. The client runs on the same thread, and its time is not counted. -1 if a handshake fails.
int64_t handshake_baseline_run(struct handshake_baseline *, int count);

void handshake_baseline_close(struct handshake_baseline *);

#endif
