// One UDP socket shared by many scripted peers. Each peer has an address of its own in 127.1.0.0/16, on the socket's
// port: a server sees as many remote addresses as there are peers, and a load generator sends dozens of their packets
// with one system call.
#ifndef ORBWEAVER_PEER_SOCKET_H
#define ORBWEAVER_PEER_SOCKET_H

#include <stdint.h>

enum {
    peer_socket_batch = 64,   // packets per system call
    peer_socket_slot = 2048,  // bytes per packet
};

struct peer_packet {
    uint16_t peer;
    uint16_t length;
};

// A socket that does not block, or -1 and errno.
int peer_socket_open(void);

// Sends the packets in the first `count` slots, each from its peer's address, to `port` of the IPv4 address `host` (in
// host order). Returns how many were sent; a packet that finds the send buffer full is lost.
int peer_socket_send(int fd, uint32_t host, uint16_t port, uint8_t *slots, const struct peer_packet *packets,
                     int count);

// Takes what waits, at most a batch; returns how many packets came, 0 if there are none.
int peer_socket_receive(int fd, uint8_t *slots, struct peer_packet *packets);

#endif
