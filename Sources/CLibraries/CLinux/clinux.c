#include "clinux.h"

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/timex.h>

_Static_assert(sizeof(struct clinux_message) == sizeof(struct mmsghdr), "clinux_message must look like mmsghdr");
_Static_assert(offsetof(struct clinux_message, count) == offsetof(struct mmsghdr, msg_len),
               "clinux_message must look like mmsghdr");

int clinux_receive(int socket, struct clinux_message *messages, unsigned int count, int flags) {
    return recvmmsg(socket, (struct mmsghdr *)messages, count, flags, NULL);
}

int clinux_send(int socket, struct clinux_message *messages, unsigned int count, int flags) {
    return sendmmsg(socket, (struct mmsghdr *)messages, count, flags);
}

int clinux_allow_fragments(int socket, int allowed) {
    int discovery = allowed ? IP_PMTUDISC_WANT : IP_PMTUDISC_DO;
    return setsockopt(socket, IPPROTO_IP, IP_MTU_DISCOVER, &discovery, sizeof discovery);
}

int clinux_wait(int epoll, struct epoll_event *events, int count, const struct timespec *timeout) {
    return epoll_pwait2(epoll, events, count, timeout, NULL);
}

void clinux_name_thread(const char *name) {
    char kept[16];
    strncpy(kept, name, sizeof kept - 1);
    kept[sizeof kept - 1] = 0;
    prctl(PR_SET_NAME, kept);
}

int clinux_clock_is_kept(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    if (result < 0) return -1;
    return result != TIME_ERROR && !(state.status & STA_UNSYNC);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CLINUX_IS_WATCHED
// Of the sanitizer's run time (sanitizer/tsan_interface.h).
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#endif
#endif

void clinux_lock_taken(const void *address) {
#ifdef CLINUX_IS_WATCHED
    __tsan_acquire((void *)address);
#else
    (void)address;
#endif
}

void clinux_lock_left(const void *address) {
#ifdef CLINUX_IS_WATCHED
    __tsan_release((void *)address);
#else
    (void)address;
#endif
}
