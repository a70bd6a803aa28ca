// libmpg123 for Swift: parameters and encodings are enums and flags in C, and the type of the output buffer differs
// between versions.

#ifndef ORBWEAVER_CMPG123_SHIM_H
#define ORBWEAVER_CMPG123_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <mpg123.h>

// Every input is one whole frame of audio. It replaces the default flags: nothing is printed, searched for, cut off or
// resampled.
static inline int cmpg123_expect_frames(mpg123_handle *handle) {
    long flags = MPG123_QUIET | MPG123_NO_RESYNC | MPG123_NO_READAHEAD | MPG123_IGNORE_INFOFRAME | MPG123_SKIP_ID3V2;
    return mpg123_param(handle, MPG123_FLAGS, flags, 0);
}
static inline int cmpg123_accept(mpg123_handle *handle, long rate, int channels) {
    return mpg123_format(handle, rate, channels == 2 ? MPG123_STEREO : MPG123_MONO, MPG123_ENC_SIGNED_16);
}
static inline int cmpg123_decode(
    mpg123_handle *handle, const uint8_t *frame, size_t size, int16_t *samples, size_t room, size_t *made) {
    size_t bytes = 0;
    int result = mpg123_decode(handle, frame, size, (void *)samples, room * sizeof *samples, &bytes);
    *made = bytes / sizeof *samples;
    return result;
}

#endif
