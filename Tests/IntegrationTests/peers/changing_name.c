// Loaded in front of libc (LD_PRELOAD): a name whose address changes, as an attacker's name server answers.
//
// The first time that $CHANGING_NAME is looked up it has the address $FIRST_ADDRESS, and $LATER_ADDRESS from then on,
// in all processes that have the same $LOOKUPS, a file with a byte for each time. Other names are what they are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// How often the name was looked up before.
static long lookups(void) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct stat file = {0};
    pthread_mutex_lock(&mutex);
    int descriptor = open(getenv("LOOKUPS"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0 || fstat(descriptor, &file) || write(descriptor, ".", 1) != 1) abort();
    close(descriptor);
    pthread_mutex_unlock(&mutex);
    return (long)file.st_size;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (!real)
        real = (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(
            RTLD_NEXT, "getaddrinfo");
    const char *changing = getenv("CHANGING_NAME");
    if (!name || !changing || strcmp(name, changing)) return real(name, service, hints, found);
    return real(getenv(lookups() ? "LATER_ADDRESS" : "FIRST_ADDRESS"), service, hints, found);
}
