#define _GNU_SOURCE
#include "sending_baseline.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clinux.h"
#include "peer_socket.h"
#include "relay_baseline.h"
#include "thread_cpu.h"

enum { batch = peer_socket_batch, stride = 7919 };

static const uint32_t first_host = 0x7F010000;  // 127.1.0.0

// One system call for as many as the kernel takes. Returns whether all have left.
static int send_together(int fd, struct mmsghdr *messages) {
    for (int sent = 0; sent < batch;) {
        int n = sendmmsg(fd, messages + sent, (unsigned)(batch - sent), MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        sent += n;
    }
    return 1;
}

static int send_each(int fd, const struct mmsghdr *messages) {
    for (int i = 0; i < batch;) {
        const struct msghdr *message = &messages[i].msg_hdr;
        ssize_t n = sendto(fd, message->msg_iov->iov_base, message->msg_iov->iov_len, MSG_DONTWAIT,
                           message->msg_name, message->msg_namelen);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return 0;
        i++;
    }
    return 1;
}

// Takes what has arrived, so that the receive buffer never fills up.
static void drain(int fd) {
    static uint8_t slots[peer_socket_batch * peer_socket_slot];
    struct peer_packet packets[peer_socket_batch];
    while (peer_socket_receive(fd, slots, packets) > 0) {}
}

static int run(int sender, int receiver, int one_by_one, uint32_t destinations, size_t size, uint64_t packets,
               struct sending_baseline_result *result) {
    static uint8_t payload[peer_socket_slot];
    struct sockaddr_in to[batch];
    struct iovec content = { .iov_base = payload, .iov_len = size };
    struct mmsghdr messages[batch];
    memset(messages, 0, sizeof messages);
    uint16_t port = htons(peer_socket_port(receiver));
    for (int i = 0; i < batch; i++) {
        to[i] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port };
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &to[i], .msg_namelen = sizeof to[i], .msg_iov = &content, .msg_iovlen = 1,
        };
    }
    uint64_t next = 0, counted = 0, spent = 0;
    while (counted < packets) {
        // The first datagram to each address meets cold tables.
        int counts = next >= destinations;
        for (int i = 0; i < batch; i++, next++)
            to[i].sin_addr.s_addr = htonl(first_host + (uint32_t)(next * stride % destinations));
        uint64_t start = thread_cpu_ns();
        int all = one_by_one ? send_each(sender, messages) : send_together(sender, messages);
        uint64_t end = thread_cpu_ns();
        if (!all) return -1;
        drain(receiver);
        if (!counts) continue;
        spent += end - start;
        counted += batch;
    }
    *result = (struct sending_baseline_result){ .packets = counted, .cpu_ns = spent };
    return 0;
}

int sending_baseline_run(int may_fragment, int one_by_one, uint32_t destinations, size_t size, uint64_t packets,
                         struct sending_baseline_result *result) {
    int receiver = peer_socket_open(), sender = relay_baseline_open();
    int status = -1;
    if (receiver >= 0 && sender >= 0 && !clinux_allow_fragments(sender, may_fragment))
        status = run(sender, receiver, one_by_one, destinations, size, packets, result);
    int error = errno;
    if (receiver >= 0) close(receiver);
    if (sender >= 0) close(sender);
    errno = error;
    return status;
}
