// Linux calls that Swift's Glibc module does not show, because it is built without _GNU_SOURCE.

#ifndef ORBWEAVER_CLINUX_H
#define ORBWEAVER_CLINUX_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>

/// `struct mmsghdr`: a message and, after the call, its length.
struct clinux_message {
    struct msghdr header;
    unsigned int count;
};

/// recvmmsg(2) without a timeout: how many messages came, or -1 and errno.
int clinux_receive(int socket, struct clinux_message *messages, unsigned int count, int flags);

/// sendmmsg(2): how many messages left, or -1 and errno.
int clinux_send(int socket, struct clinux_message *messages, unsigned int count, int flags);

/// Whether the kernel may send datagrams over IPv4 in fragments through a UDP socket (ip(7), IP_MTU_DISCOVER): 1 as it
/// does without being asked, where they are larger than their path takes; 0 not at all, so that such a datagram fails
/// with EMSGSIZE. 0, or -1 and errno.
int clinux_allow_fragments(int socket, int allowed);

/// epoll_pwait2(2), whose timeout has nanoseconds; a null timeout waits for ever.
int clinux_wait(int epoll, struct epoll_event *events, int count, const struct timespec *timeout);

/// Names the calling thread; only the first 15 bytes are kept.
void clinux_name_thread(const char *name);

/// adjtimex(2), which changes nothing here: 1 if the clock is kept by a time server, 0 if not, -1 if that is not known.
int clinux_clock_is_kept(void);

/// Tell the thread sanitizer that the calling thread has taken a lock, or is about to leave it, where the sanitizer
/// cannot see that itself. The address stands for the lock. Other builds do nothing here.
void clinux_lock_taken(const void *address);
void clinux_lock_left(const void *address);

#endif
