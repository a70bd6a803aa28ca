#define _GNU_SOURCE
#include "push_baseline.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { digits = 10 };

struct request {
    CURL *transfer;
    struct curl_slist *fields;
};

struct push_baseline {
    CURLM *multi;
    struct request *requests;
    int in_flight;
    unsigned number;
};

static uint64_t thread_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static size_t ignore(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

static int prepare(
    struct request *request, const char *url, const char *authority, const char *fields, const void *content,
    size_t size) {
    for (const char *end; (end = strchr(fields, '\n')); fields = end + 1) {
        char *line = strndup(fields, (size_t)(end - fields));
        struct curl_slist *longer = line ? curl_slist_append(request->fields, line) : NULL;
        free(line);
        if (!longer) return 0;
        request->fields = longer;
    }
    CURL *transfer = request->transfer = curl_easy_init();
    return transfer && curl_easy_setopt(transfer, CURLOPT_PRIVATE, request) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_URL, url) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_CAINFO, authority) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_PROXY, "") == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_PIPEWAIT, 1L) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_TIMEOUT_MS, 60000L) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, request->fields) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_POSTFIELDS, content) == CURLE_OK
        && curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, ignore) == CURLE_OK;
}

struct push_baseline *push_baseline_open(
    const char *url, const char *authority, const char *fields, const void *content, size_t size,
    int in_flight) {
    struct push_baseline *baseline = calloc(1, sizeof *baseline);
    if (!baseline) return NULL;
    baseline->multi = curl_multi_init();
    baseline->requests = calloc((size_t)in_flight, sizeof *baseline->requests);
    int is_ready = baseline->multi && baseline->requests;
    if (is_ready) {
        baseline->in_flight = in_flight;
        curl_multi_setopt(baseline->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
        curl_multi_setopt(baseline->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
        curl_multi_setopt(baseline->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)in_flight);
    }
    for (int i = 0; is_ready && i < in_flight; i++)
        is_ready = prepare(&baseline->requests[i], url, authority, fields, content, size);
    if (is_ready) return baseline;
    push_baseline_close(baseline);
    return NULL;
}

static void start(struct push_baseline *baseline, struct request *request) {
    char text[digits + 1];
    snprintf(text, sizeof text, "%0*u", digits, ++baseline->number);
    for (struct curl_slist *field = request->fields; field; field = field->next) {
        // A line that had the zeros has a number of an earlier request now.
        size_t length = strlen(field->data);
        if (length > digits && strspn(field->data + length - digits, "0123456789") == digits)
            memcpy(field->data + length - digits, text, digits);
    }
    curl_multi_add_handle(baseline->multi, request->transfer);
}

struct push_baseline_result push_baseline_run(struct push_baseline *baseline, int count) {
    struct push_baseline_result result = {0, 0, 0, 0};
    uint64_t before = thread_cpu_ns();
    int started = 0, ended = 0, running, waiting;
    while (started < baseline->in_flight && started < count) start(baseline, &baseline->requests[started++]);
    while (ended < count) {
        if (curl_multi_perform(baseline->multi, &running) != CURLM_OK) break;
        CURLMsg *message;
        while ((message = curl_multi_info_read(baseline->multi, &waiting))) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *transfer = message->easy_handle;
            CURLcode outcome = message->data.result;
            struct request *request = NULL;
            long status = 0;
            curl_easy_getinfo(transfer, CURLINFO_PRIVATE, (char **)&request);
            curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status);
            curl_multi_remove_handle(baseline->multi, transfer);
            ended++;
            if (outcome == CURLE_OK && status == 200) {
                result.delivered++;
            } else {
                result.error = (int)outcome;
                result.status = status;
            }
            if (started < count) {
                started++;
                start(baseline, request);
            }
        }
        if (ended < count) curl_multi_poll(baseline->multi, NULL, 0, 1000, NULL);
    }
    result.cpu_ns = thread_cpu_ns() - before;
    return result;
}

void push_baseline_close(struct push_baseline *baseline) {
    if (!baseline) return;
    for (int i = 0; i < baseline->in_flight; i++) {
        curl_easy_cleanup(baseline->requests[i].transfer);
        curl_slist_free_all(baseline->requests[i].fields);
    }
    curl_multi_cleanup(baseline->multi);
    free(baseline->requests);
    free(baseline);
}
