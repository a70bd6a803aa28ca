// The relay loop as a C programmer would write it: what orbweaver-bench holds the gateway's own loop against.
#ifndef ORBWEAVER_RELAY_BASELINE_H
#define ORBWEAVER_RELAY_BASELINE_H

#include <stdint.h>
#include <stddef.h>

struct relay_baseline_keys {
    int is_gcm;            // AEAD_AES_128_GCM, else AES_CM_128_HMAC_SHA1_80
    const uint8_t *inbound;   // master key followed by salt
    const uint8_t *outbound;
};

struct relay_baseline_result {
    uint64_t packets;      // relayed
    uint64_t cpu_ns;       // of the calling thread, from the first packet on
};

// A UDP socket on a free port of 127.0.0.1, or -1; and its port.
int relay_baseline_open(void);
uint16_t relay_baseline_port(int fd);

// Receives on `fd` until `packets` packets have been relayed or none came for a second: unprotects, rewrites SSRC,
// sequence number and timestamp, protects, and sends them to `port` on 127.0.0.1. Returns 0, or -1 if libsrtp refuses.
// libsrtp must be initialised, its ciphers replaced, by the caller.
int relay_baseline_run(int fd, uint16_t port, const struct relay_baseline_keys *keys, uint64_t packets,
                       struct relay_baseline_result *result);

#endif
