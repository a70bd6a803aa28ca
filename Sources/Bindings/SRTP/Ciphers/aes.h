// What the two modes of AES-128 share: one allocation for libsrtp's handle and our state.

#ifndef ORBWEAVER_CSRTP_AES_H
#define ORBWEAVER_CSRTP_AES_H

#include <openssl/evp.h>

#include "internal.h"

enum { AES_KEY_LENGTH = 16, AES_BLOCK_LENGTH = 16 };

/// libsrtp frees a cipher through `dealloc` only, so that handle and state can share one allocation.
struct aes {
    srtp_cipher_t cipher;
    EVP_CIPHER_CTX *context;
    /// Counter mode: the salt, followed by the two zero bytes of the block counter.
    uint8_t offset[AES_BLOCK_LENGTH];
    /// GCM: bytes of the tag.
    int tag_length;
};

static inline srtp_err_status_t csrtp_status_of(int done) {
    return done ? srtp_err_status_ok : srtp_err_status_cipher_fail;
}

/// A cipher of `type` for keys of `key_length` bytes, salt included; `srtp_err_status_alloc_fail` without memory.
srtp_err_status_t csrtp_aes_alloc(
    srtp_cipher_pointer_t *result, const srtp_cipher_type_t *type, int key_length, int tag_length);

/// `dealloc` of both modes: wipes the state and frees it.
srtp_err_status_t csrtp_aes_dealloc(srtp_cipher_pointer_t cipher);

#endif
