// libcurl for Swift: one typed function per kind of argument, because variadic functions do not import.

#ifndef ORBWEAVER_CCURL_SHIM_H
#define ORBWEAVER_CCURL_SHIM_H

#include <curl/curl.h>

static inline CURLcode ccurl_set_number(CURL *transfer, CURLoption option, long value) {
    return curl_easy_setopt(transfer, option, value);
}
static inline CURLcode ccurl_set_text(CURL *transfer, CURLoption option, const char *value) {
    return curl_easy_setopt(transfer, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *transfer, CURLoption option, void *value) {
    return curl_easy_setopt(transfer, option, value);
}
static inline CURLcode ccurl_set_fields(CURL *transfer, struct curl_slist *fields) {
    return curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, fields);
}
/// Copies a request body of `size` bytes.
static inline CURLcode ccurl_set_body(CURL *transfer, const void *body, curl_off_t size) {
    CURLcode result = curl_easy_setopt(transfer, CURLOPT_POSTFIELDSIZE_LARGE, size);
    return result == CURLE_OK ? curl_easy_setopt(transfer, CURLOPT_COPYPOSTFIELDS, body) : result;
}
static inline CURLcode ccurl_set_body_function(CURL *transfer, curl_write_callback function) {
    return curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, function);
}
static inline CURLcode ccurl_set_head_function(CURL *transfer, curl_write_callback function) {
    return curl_easy_setopt(transfer, CURLOPT_HEADERFUNCTION, function);
}
static inline CURLcode ccurl_set_socket_function(CURL *transfer, curl_opensocket_callback function) {
    return curl_easy_setopt(transfer, CURLOPT_OPENSOCKETFUNCTION, function);
}
static inline CURLcode ccurl_get_status(CURL *transfer, long *status) {
    return curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, status);
}
static inline CURLcode ccurl_get_version(CURL *transfer, long *version) {
    return curl_easy_getinfo(transfer, CURLINFO_HTTP_VERSION, version);
}
/// The pointer that was set as CURLOPT_PRIVATE.
static inline void *ccurl_get_context(CURL *transfer) {
    char *context = NULL;
    curl_easy_getinfo(transfer, CURLINFO_PRIVATE, &context);
    return context;
}
static inline CURLMcode ccurl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
/// The address that follows the head of a `curl_sockaddr`.
static inline const void *ccurl_address(const struct curl_sockaddr *address) { return &address->addr; }
/// Which transfer has ended, or NULL; `result` is its result. Messages of other kinds are skipped.
static inline CURL *ccurl_next_ended(CURLM *multi, CURLcode *result) {
    CURLMsg *message;
    int waiting;
    while ((message = curl_multi_info_read(multi, &waiting))) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

#endif
