// libwebsockets for Swift: contexts and connections of clients. What it needs many arguments for is one function here.

#ifndef ORBWEAVER_CWEBSOCKETS_SHIM_H
#define ORBWEAVER_CWEBSOCKETS_SHIM_H

#include <libwebsockets.h>

/// The name of the one protocol of a context, which all connections have inside the library.
#define CLWS_PROTOCOL "stream"

/// Makes a context for at most `connections` connections, whose callback is `callback`. The certificates of
/// `authority_file` are trusted; an empty text: those of the system. Returns NULL if there is no memory.
static inline struct lws_context *clws_create_context(
    lws_callback_function *callback, const char *authority_file, unsigned int connections) {
    // The library would write to standard error.
    lws_set_log_level(0, NULL);
    struct lws_protocols *protocols = (struct lws_protocols *)calloc(2, sizeof(struct lws_protocols));
    if (!protocols) return NULL;
    protocols[0].name = CLWS_PROTOCOL;
    protocols[0].callback = callback;
    protocols[0].rx_buffer_size = 16384;
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof(info));
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.protocols = protocols;
    // Freed with the context.
    info.external_baggage_free_on_destroy = protocols;
    info.gid = -1;
    info.uid = -1;
    info.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_VALIDATE_UTF8;
    if (authority_file[0]) {
        info.options |= LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS;
        info.client_ssl_ca_filepath = authority_file;
    }
    info.ssl_client_options_set = (long)(SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1);
    // Otherwise the library takes a proxy from the environment, and would ask it for every address.
    info.http_proxy_address = "";
    info.pt_serv_buf_size = 16384;
    // The client has a timer of its own, of at most a minute, for the opening.
    info.timeout_secs = 65;
    info.fd_limit_per_thread = connections + 16;
    return lws_create_context(&info);
}

/// Starts to connect to a numeric address. `connection` comes with every callback about it. An empty `subprotocol` is
/// none. Returns NULL if that has failed already.
static inline struct lws *clws_connect(
    struct lws_context *context, void *connection, const char *address, int port, const char *host, const char *path,
    const char *subprotocol, int is_secure) {
    // A peer that answers no ping for 20 seconds is gone.
    static const lws_retry_bo_t idle = {.secs_since_valid_ping = 20, .secs_since_valid_hangup = 40};
    struct lws_client_connect_info info;
    memset(&info, 0, sizeof(info));
    info.context = context;
    info.address = address;
    info.port = port;
    info.host = host;
    info.path = path;
    info.protocol = subprotocol[0] ? subprotocol : NULL;
    info.local_protocol_name = CLWS_PROTOCOL;
    info.alpn = "http/1.1";
    info.ietf_version_or_minus_one = -1;
    info.opaque_user_data = connection;
    info.userdata = connection;
    info.ssl_connection = LCCSCF_HTTP_NO_FOLLOW_REDIRECT | (is_secure ? LCCSCF_USE_SSL : 0);
    info.retry_and_idle_policy = &idle;
    return lws_client_connect_via_info(&info);
}

/// Adds a header field to an opening handshake. `place` and `room` are what the callback got; `name` ends with a colon.
/// Returns 0 if there was room.
static inline int clws_add_field(
    struct lws *socket, void *place, size_t room, const char *name, const char *value, size_t count) {
    unsigned char **next = (unsigned char **)place;
    return lws_add_http_header_by_name(
        socket, (const unsigned char *)name, (const unsigned char *)value, (int)count, next, *next + room);
}

/// How many bytes a message needs before its first one.
static inline size_t clws_padding(void) { return LWS_PRE; }

/// Sends one message of `count` bytes, which stand behind the padding. Returns less than 0 if the connection is to end.
static inline int clws_write(struct lws *socket, unsigned char *padded, size_t count, int is_binary) {
    return lws_write(socket, padded + LWS_PRE, count, is_binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
}

/// Notes what the Close message says. The connection ends when its callback returns something other than 0.
static inline void clws_set_close_reason(struct lws *socket, int status, const char *words, size_t count) {
    lws_close_reason(socket, (enum lws_close_status)status, (unsigned char *)words, count);
}

/// Ends a connection soon, without a Close message.
static inline void clws_kill(struct lws *socket) {
    lws_set_timeout(socket, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
}

/// Has the callback called once after so many microseconds.
static inline void clws_set_timer(struct lws *socket, long long microseconds) {
    lws_set_timer_usecs(socket, (lws_usec_t)microseconds);
}

/// The status of the answer to the opening handshake; 0: there was none.
static inline int clws_status(struct lws *socket) { return (int)lws_http_client_http_response(socket); }

#endif
