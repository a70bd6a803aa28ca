// The CPU time of the calling thread.
#ifndef ORBWEAVER_THREAD_CPU_H
#define ORBWEAVER_THREAD_CPU_H

#include <stdint.h>
#include <time.h>

static inline uint64_t thread_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
