#include "allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

enum { maximum_threads = 256 };

static struct {
    _Atomic int32_t thread_id;
    _Atomic uint64_t count;
} table[maximum_threads];
static _Atomic int used;
static _Thread_local int place = -1;

static void count(void) {
    if (place < 0) {
        place = atomic_fetch_add(&used, 1);
        if (place < maximum_threads) atomic_store(&table[place].thread_id, (int32_t)syscall(SYS_gettid));
    }
    if (place < maximum_threads) atomic_fetch_add_explicit(&table[place].count, 1, memory_order_relaxed);
}

uint64_t allocations_of_thread(int32_t thread_id) {
    for (int i = 0; i < maximum_threads && i < atomic_load(&used); i++)
        if (atomic_load(&table[i].thread_id) == thread_id) return atomic_load(&table[i].count);
    return 0;
}

void *malloc(size_t size) { count(); return __libc_malloc(size); }
void *calloc(size_t n, size_t size) { count(); return __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { count(); return __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { count(); return __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    count();
    void *memory = __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *result = memory;
    return 0;
}
