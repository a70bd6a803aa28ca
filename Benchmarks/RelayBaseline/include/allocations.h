// Counts heap allocations per thread: this program's malloc family counts and calls glibc's.
#ifndef ORBWEAVER_ALLOCATIONS_H
#define ORBWEAVER_ALLOCATIONS_H

#include <stdint.h>

// Allocations that the thread with this id has made since it started; 0 for a thread never seen.
uint64_t allocations_of_thread(int32_t thread_id);

#endif
