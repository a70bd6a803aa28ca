#define _GNU_SOURCE
#include "peer_socket.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint32_t first_peer = 0x7F010000;  // 127.1.0.0

union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(struct in_pktinfo))];
};

int peer_socket_open(void) {
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    struct sockaddr_in any = { .sin_family = AF_INET };
    int on = 1, size = 4 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    if (setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on) || bind(fd, (struct sockaddr *)&any, sizeof any)) {
        close(fd);
        return -1;
    }
    return fd;
}

// The source address goes into a control message (ip(7), IP_PKTINFO).
static void write_source(union control *control, struct msghdr *message, uint16_t peer) {
    memset(control, 0, sizeof *control);
    message->msg_control = control->bytes;
    message->msg_controllen = sizeof control->bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(message);
    header->cmsg_level = IPPROTO_IP;
    header->cmsg_type = IP_PKTINFO;
    header->cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo));
    struct in_pktinfo info = { .ipi_spec_dst.s_addr = htonl(first_peer + peer) };
    memcpy(CMSG_DATA(header), &info, sizeof info);
}

static uint16_t read_destination(struct msghdr *message) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != IPPROTO_IP || header->cmsg_type != IP_PKTINFO) continue;
        struct in_pktinfo info;
        memcpy(&info, CMSG_DATA(header), sizeof info);
        return (uint16_t)(ntohl(info.ipi_addr.s_addr) - first_peer);
    }
    return UINT16_MAX;
}

uint16_t peer_socket_port(int fd) {
    struct sockaddr_in own;
    socklen_t size = sizeof own;
    if (getsockname(fd, (struct sockaddr *)&own, &size)) return 0;
    return ntohs(own.sin_port);
}

int64_t peer_socket_drops(int fd) {
    uint32_t values[SK_MEMINFO_VARS];
    socklen_t size = sizeof values;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, values, &size)) return -1;
    return values[SK_MEMINFO_DROPS];
}

int peer_socket_send(int fd, uint8_t *slots, const struct peer_packet *packets, int count) {
    struct mmsghdr messages[peer_socket_batch];
    struct iovec buffers[peer_socket_batch];
    union control controls[peer_socket_batch];
    struct sockaddr_in to[peer_socket_batch];
    for (int i = 0; i < count; i++) {
        to[i] = (struct sockaddr_in){
            .sin_family = AF_INET, .sin_port = htons(packets[i].port), .sin_addr.s_addr = htonl(packets[i].host),
        };
        buffers[i] = (struct iovec){ .iov_base = slots + i * peer_socket_slot, .iov_len = packets[i].length };
        messages[i].msg_hdr = (struct msghdr){
            .msg_name = &to[i], .msg_namelen = sizeof to[i], .msg_iov = &buffers[i], .msg_iovlen = 1,
        };
        write_source(&controls[i], &messages[i].msg_hdr, packets[i].peer);
    }
    int sent = 0;
    while (sent < count) {
        int n = sendmmsg(fd, messages + sent, (unsigned)(count - sent), MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        sent += n;
    }
    return sent;
}

int peer_socket_receive(int fd, uint8_t *slots, struct peer_packet *packets) {
    struct mmsghdr messages[peer_socket_batch];
    struct iovec buffers[peer_socket_batch];
    union control controls[peer_socket_batch];
    for (int i = 0; i < peer_socket_batch; i++) {
        buffers[i] = (struct iovec){ .iov_base = slots + i * peer_socket_slot, .iov_len = peer_socket_slot };
        messages[i].msg_hdr = (struct msghdr){
            .msg_iov = &buffers[i], .msg_iovlen = 1,
            .msg_control = controls[i].bytes, .msg_controllen = sizeof controls[i].bytes,
        };
    }
    int n = recvmmsg(fd, messages, peer_socket_batch, MSG_DONTWAIT, NULL);
    for (int i = 0; i < n; i++) {
        packets[i].peer = read_destination(&messages[i].msg_hdr);
        packets[i].length = (uint16_t)messages[i].msg_len;
    }
    return n < 0 ? 0 : n;
}
