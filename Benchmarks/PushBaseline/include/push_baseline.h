// HTTP/2 requests as libcurl's multi interface sends them by itself: what orbweaver-bench holds pushes against.
#ifndef ORBWEAVER_PUSH_BASELINE_H
#define ORBWEAVER_PUSH_BASELINE_H

#include <stddef.h>
#include <stdint.h>

struct push_baseline;

struct push_baseline_result {
    int delivered;    // requests that were answered with the status 200
    uint64_t cpu_ns;  // CPU time of the calling thread
    int error;        // libcurl's code for the last request that was not delivered; 0 if it was answered, or all were
    long status;      // the status of the answer to that request, or 0
};

// A client that POSTs the same content to one URL, over one connection with HTTP/2, with at most `in_flight` requests
// that have no answer yet. `authority` is the path of a file in PEM with the certificate that is trusted. `fields` are
// the header fields, each a line that ends with a line feed. The last 10 characters of a line that ends in ten zeros
// become the number of the request, as each push has a name of its own. The content must live as long as the client.
// NULL if libcurl refuses any of that.
struct push_baseline *push_baseline_open(
    const char *url, const char *authority, const char *fields, const void *content, size_t size, int in_flight);

// Sends `count` requests and waits for all answers. A request that has no answer after 60 seconds is not delivered.
struct push_baseline_result push_baseline_run(struct push_baseline *, int count);

void push_baseline_close(struct push_baseline *);

#endif
