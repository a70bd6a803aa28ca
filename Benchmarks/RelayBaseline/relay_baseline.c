#define _GNU_SOURCE
#include "relay_baseline.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <srtp2/srtp.h>

#include "thread_cpu.h"

enum { batch = 64, slot = 2048, flows = 1024 };

struct flow {
    uint32_t address;
    uint16_t port;
    uint8_t used;
    srtp_t in, out;
    uint32_t ssrc;
    uint16_t sequence_offset;
    uint32_t timestamp_offset;
};

static struct flow *find(struct flow *table, const struct sockaddr_in *from) {
    uint32_t h = (from->sin_addr.s_addr ^ ((uint32_t)from->sin_port << 16)) * 2654435761u;
    for (uint32_t i = h % flows;; i = (i + 1) % flows) {
        if (!table[i].used) return &table[i];
        if (table[i].address == from->sin_addr.s_addr && table[i].port == from->sin_port) return &table[i];
    }
}

static int open_session(srtp_t *session, int is_gcm, const uint8_t *key, srtp_ssrc_type_t direction) {
    srtp_policy_t policy;
    memset(&policy, 0, sizeof policy);
    srtp_profile_t profile = is_gcm ? srtp_profile_aead_aes_128_gcm : srtp_profile_aes128_cm_sha1_80;
    if (srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, profile)) return -1;
    if (srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, profile)) return -1;
    policy.ssrc.type = direction;
    policy.key = (unsigned char *)key;
    policy.window_size = 1024;
    return srtp_create(session, &policy) ? -1 : 0;
}

static uint16_t read16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static uint32_t read32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static void write16(uint8_t *p, uint16_t v) { p[0] = (uint8_t)(v >> 8); p[1] = (uint8_t)v; }
static void write32(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

int relay_baseline_open(void) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any)) return -1;
    int size = 4 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    return fd;
}

uint16_t relay_baseline_port(int fd) {
    struct sockaddr_in bound;
    socklen_t size = sizeof bound;
    getsockname(fd, (struct sockaddr *)&bound, &size);
    return ntohs(bound.sin_port);
}

int relay_baseline_run(int fd, uint16_t port, const struct relay_baseline_keys *keys, uint64_t packets,
                       struct relay_baseline_result *result) {
    static uint8_t buffers[batch][slot];
    static struct flow table[flows];
    struct mmsghdr in[batch], out[batch];
    struct iovec in_vec[batch], out_vec[batch];
    struct sockaddr_in from[batch];
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    uint64_t started = 0, relayed = 0;

    memset(table, 0, sizeof table);
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    for (int i = 0; i < batch; i++) {
        in_vec[i] = (struct iovec){ .iov_base = buffers[i], .iov_len = slot };
        in[i].msg_hdr = (struct msghdr){
            .msg_name = &from[i], .msg_namelen = sizeof from[i], .msg_iov = &in_vec[i], .msg_iovlen = 1,
        };
        out[i].msg_hdr = (struct msghdr){
            .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &out_vec[i], .msg_iovlen = 1,
        };
    }

    while (relayed < packets) {
        for (int i = 0; i < batch; i++) in[i].msg_hdr.msg_namelen = sizeof from[i];
        int n = recvmmsg(fd, in, batch, MSG_DONTWAIT, NULL);
        if (n <= 0) {
            struct pollfd p = { .fd = fd, .events = POLLIN };
            if (poll(&p, 1, 1000) <= 0) break;
            continue;
        }
        if (!started) started = thread_cpu_ns();
        unsigned count = 0;
        for (int i = 0; i < n; i++) {
            uint8_t *packet = buffers[i];
            int length = (int)in[i].msg_len;
            if (length < 12 || packet[0] < 128 || packet[0] > 191) continue;
            struct flow *f = find(table, &from[i]);
            if (!f->used) {
                f->used = 1;
                f->address = from[i].sin_addr.s_addr;
                f->port = from[i].sin_port;
                f->ssrc = 0x12345678;
                f->sequence_offset = 1000;
                f->timestamp_offset = 100000;
                if (open_session(&f->in, keys->is_gcm, keys->inbound, ssrc_any_inbound)) return -1;
                if (open_session(&f->out, keys->is_gcm, keys->outbound, ssrc_any_outbound)) return -1;
            }
            if (srtp_unprotect(f->in, packet, &length)) continue;
            write16(packet + 2, (uint16_t)(read16(packet + 2) + f->sequence_offset));
            write32(packet + 4, read32(packet + 4) + f->timestamp_offset);
            write32(packet + 8, f->ssrc);
            if (srtp_protect(f->out, packet, &length)) continue;
            out_vec[count++] = (struct iovec){ .iov_base = packet, .iov_len = (size_t)length };
        }
        for (unsigned sent = 0; sent < count;) {
            int m = sendmmsg(fd, out + sent, count - sent, MSG_DONTWAIT);
            if (m <= 0) break;
            sent += (unsigned)m;
        }
        relayed += count;
    }
    result->packets = relayed;
    result->cpu_ns = started ? thread_cpu_ns() - started : 0;
    for (int i = 0; i < flows; i++)
        if (table[i].used) { srtp_dealloc(table[i].in); srtp_dealloc(table[i].out); }
    return 0;
}
