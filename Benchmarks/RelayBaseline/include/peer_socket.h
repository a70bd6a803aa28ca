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
    uint32_t host;  // where it goes: an IPv4 address in host order, and a port; nothing in a packet that came
    uint16_t port;
    uint16_t peer;
    uint16_t length;
};

// A socket that does not block, or -1 and errno.
int peer_socket_open(void);

// The port that all peers have, or 0 and errno.
uint16_t peer_socket_port(int fd);

// How many packets the kernel has dropped so far because the receive buffer was full, or -1 and errno.
int64_t peer_socket_drops(int fd);

// Sends the packets in the first `count` slots, each from its peer's address to where it goes. Returns how many were
// sent; a packet that finds the send buffer full is lost.
int peer_socket_send(int fd, uint8_t *slots, const struct peer_packet *packets, int count);

// Takes what waits, at most a batch; returns how many packets came, 0 if there are none.
int peer_socket_receive(int fd, uint8_t *slots, struct peer_packet *packets);

#endif
