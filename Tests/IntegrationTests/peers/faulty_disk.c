// Loaded in front of libc (LD_PRELOAD): a disk that fails, or a process that stops, at a moment that a test has chosen.
// It concerns what is below $FAULTY_FOLDER.
//
// While the file $READ_ONLY_SWITCH exists nothing can be written there, whether it was opened before or not. So it is
// on a file system that the kernel has made read-only after an error (ext4: errors=remount-ro). No test can have that
// of the real kernel without a disk of its own: a file system is not remounted read-only while a file is open for
// writing, and permissions do not concern files that are open.
//
// While the file $FULL_SWITCH exists no file there gets longer: a write beyond its end fails as on a full disk.
//
// In front of the call number $STOPS_AT that changes something there, the process stops itself (SIGSTOP). Half of what
// an odd call has to write is written by then. $CALLS names a file with the number of calls so far.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int is_below(const char *path) {
    const char *folder = getenv("FAULTY_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_concerned(int descriptor) {
    char link[64], path[PATH_MAX + 1];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX);
    errno = before;
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int is_on(const char *variable) {
    const char *name = getenv(variable);
    int before = errno, found = name && access(name, F_OK) == 0;
    errno = before;
    return found;
}

static int is_read_only(void) { return is_on("READ_ONLY_SWITCH"); }

// Whether a write that ends there finds no room.
static int finds_no_room(int descriptor, off64_t end) {
    struct stat64 file;
    return is_on("FULL_SWITCH") && fstat64(descriptor, &file) == 0 && end > file.st_size;
}

// Whether the process has to stop now. The number of the call goes to $CALLS.
static int counts(long *number) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static long calls;
    static int file = -1;
    const char *name = getenv("CALLS"), *at = getenv("STOPS_AT");
    if (!name) return 0;
    int before = errno;
    pthread_mutex_lock(&mutex);
    *number = ++calls;
    if (file < 0) file = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    char text[32];
    int length = snprintf(text, sizeof text, "%ld", calls);
    syscall(SYS_pwrite64, file, text, (size_t)length, 0L);
    pthread_mutex_unlock(&mutex);
    errno = before;
    return at && atol(at) == *number;
}

// The signal goes to this thread, which is stopped when the call returns.
static void stop(void) { raise(SIGSTOP); }

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)
#define REFUSE_READ_ONLY() do { if (is_read_only()) { errno = EROFS; return -1; } } while (0)
#define FAIL(is_concerned_by_it) \
    if (is_concerned_by_it) { \
        REFUSE_READ_ONLY(); \
        long number; \
        if (counts(&number)) stop(); \
    }

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(ssize_t, write, int, const void *, size_t);
    FAIL(is_concerned(descriptor));
    return real(descriptor, bytes, count);
}

#define WRITE_AT(name, offset_type) \
    ssize_t name(int descriptor, const void *bytes, size_t count, offset_type offset) { \
        REAL(ssize_t, name, int, const void *, size_t, offset_type); \
        if (is_concerned(descriptor)) { \
            REFUSE_READ_ONLY(); \
            if (finds_no_room(descriptor, (off64_t)offset + (off64_t)count)) { errno = ENOSPC; return -1; } \
            long number; \
            if (counts(&number)) { \
                if (number % 2 && count > 1) real(descriptor, bytes, count / 2, offset); \
                stop(); \
            } \
        } \
        return real(descriptor, bytes, count, offset); \
    }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

#define TRUNCATE(name, length_type) \
    int name(int descriptor, length_type length) { \
        REAL(int, name, int, length_type); \
        FAIL(is_concerned(descriptor)); \
        return real(descriptor, length); \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNCHRONIZE(name) \
    int name(int descriptor) { \
        REAL(int, name, int); \
        FAIL(is_concerned(descriptor)); \
        return real(descriptor); \
    }
SYNCHRONIZE(fsync)
SYNCHRONIZE(fdatasync)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        int writes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC); \
        if (writes && is_below(path)) REFUSE_READ_ONLY(); \
        return real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    FAIL(is_below(path));
    return real(path);
}

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    FAIL(is_below(to));
    return real(from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    REAL(int, renameat2, int, const char *, int, const char *, unsigned);
    FAIL(is_below(to));
    return real(from_folder, from, to_folder, to, flags);
}
