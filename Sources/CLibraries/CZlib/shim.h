// The parts of zlib that the gateway uses: raw DEFLATE streams (RFC 1951). The functions that start one are macros.

#ifndef ORBWEAVER_CZLIB_SHIM_H
#define ORBWEAVER_CZLIB_SHIM_H

#include <zlib.h>

static inline int orbweaver_deflate_init(z_streamp stream, int window_bits, int memory_level) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

static inline int orbweaver_inflate_init(z_streamp stream, int window_bits) {
    return inflateInit2(stream, -window_bits);
}

#endif
