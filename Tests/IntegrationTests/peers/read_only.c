// Loaded in front of libc (LD_PRELOAD): while the file $READ_ONLY_SWITCH exists, nothing below $READ_ONLY_FOLDER can be
// written, whether it was opened before or not. So it is on a file system that the kernel has made read-only after an
// error (ext4: errors=remount-ro). No test can have that of the real kernel without a disk of its own: a file system is
// not remounted read-only while a file is open for writing, and permissions do not concern files that are open.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_below(const char *path) {
    const char *folder = getenv("READ_ONLY_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_on(void) {
    const char *name = getenv("READ_ONLY_SWITCH");
    int before = errno, found = name && access(name, F_OK) == 0;
    errno = before;
    return found;
}

static int is_refused(int descriptor) {
    if (!is_on()) return 0;
    char link[64], path[PATH_MAX + 1];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX);
    errno = before;
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

#define REFUSE(condition) do { if (condition) { errno = EROFS; return -1; } } while (0)
#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(ssize_t, write, int, const void *, size_t);
    REFUSE(is_refused(descriptor));
    return real(descriptor, bytes, count);
}

#define WRITE_AT(name, offset_type) \
    ssize_t name(int descriptor, const void *bytes, size_t count, offset_type offset) { \
        REAL(ssize_t, name, int, const void *, size_t, offset_type); \
        REFUSE(is_refused(descriptor)); \
        return real(descriptor, bytes, count, offset); \
    }
WRITE_AT(pwrite, off_t)
WRITE_AT(pwrite64, off64_t)

#define TRUNCATE(name, length_type) \
    int name(int descriptor, length_type length) { \
        REAL(int, name, int, length_type); \
        REFUSE(is_refused(descriptor)); \
        return real(descriptor, length); \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        int writes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC); \
        REFUSE(writes && is_below(path) && is_on()); \
        return real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    REFUSE(is_below(path) && is_on());
    return real(path);
}
