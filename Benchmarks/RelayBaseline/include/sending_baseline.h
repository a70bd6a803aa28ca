// What the kernel takes for sending alone: datagrams over loopback to many addresses in turns.
#ifndef ORBWEAVER_SENDING_BASELINE_H
#define ORBWEAVER_SENDING_BASELINE_H

#include <stddef.h>
#include <stdint.h>

struct sending_baseline_result {
    uint64_t packets;      // that are counted
    uint64_t cpu_ns;       // of the calling thread for them
};

// Sends datagrams of `size` bytes, at most a slot of peer_socket.h, from one socket to `destinations` addresses of
// 127.1.0.0/16, until at least `packets` have been sent after the first one to each address. The kernel may fragment
// them (IP_PMTUDISC_WANT) or not (IP_PMTUDISC_DO). They leave one by one (sendto), or a batch of peer_socket.h at a
// time (sendmmsg). The order of the addresses is not that of their numbers; 7919 must not divide how many there are.
// Taking the datagrams from their receiver's socket does not count. Returns 0, or -1 and errno.
int sending_baseline_run(int may_fragment, int one_by_one, uint32_t destinations, size_t size, uint64_t packets,
                         struct sending_baseline_result *result);

#endif
