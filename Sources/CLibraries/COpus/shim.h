// libopus for Swift: one typed function per request, because variadic functions do not import.

#ifndef ORBWEAVER_COPUS_SHIM_H
#define ORBWEAVER_COPUS_SHIM_H

#include <opus/opus.h>

static inline int copus_encoder_set_bitrate(OpusEncoder *encoder, opus_int32 value) {
    return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(value));
}
static inline int copus_encoder_set_vbr(OpusEncoder *encoder, opus_int32 value) {
    return opus_encoder_ctl(encoder, OPUS_SET_VBR(value));
}
static inline int copus_encoder_set_dtx(OpusEncoder *encoder, opus_int32 value) {
    return opus_encoder_ctl(encoder, OPUS_SET_DTX(value));
}
static inline int copus_encoder_set_inband_fec(OpusEncoder *encoder, opus_int32 value) {
    return opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(value));
}
static inline int copus_encoder_set_packet_loss(OpusEncoder *encoder, opus_int32 value) {
    return opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(value));
}
static inline int copus_encoder_set_complexity(OpusEncoder *encoder, opus_int32 value) {
    return opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(value));
}
static inline int copus_encoder_set_max_bandwidth(OpusEncoder *encoder, opus_int32 value) {
    return opus_encoder_ctl(encoder, OPUS_SET_MAX_BANDWIDTH(value));
}
static inline int copus_encoder_reset(OpusEncoder *encoder) { return opus_encoder_ctl(encoder, OPUS_RESET_STATE); }
static inline int copus_decoder_set_gain(OpusDecoder *decoder, opus_int32 value) {
    return opus_decoder_ctl(decoder, OPUS_SET_GAIN(value));
}
static inline int copus_decoder_reset(OpusDecoder *decoder) { return opus_decoder_ctl(decoder, OPUS_RESET_STATE); }

#endif
