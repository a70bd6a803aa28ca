// AES-128 in integer counter mode (RFC 3711 §4.1.1) on EVP_aes_128_ctr.

#include <string.h>

#include "aes.h"

enum { SALT_LENGTH = 14 };

static srtp_err_status_t icm_alloc(srtp_cipher_pointer_t *result, int key_length, int tag_length) {
    if (key_length != AES_KEY_LENGTH + SALT_LENGTH) return srtp_err_status_bad_param;
    return csrtp_aes_alloc(result, &csrtp_aes_icm_128, key_length, tag_length);
}

static srtp_err_status_t icm_init(void *state, const uint8_t *key) {
    struct aes *icm = state;
    memset(icm->offset, 0, sizeof icm->offset);
    memcpy(icm->offset, key + AES_KEY_LENGTH, SALT_LENGTH);
    return csrtp_status_of(EVP_EncryptInit_ex(icm->context, EVP_aes_128_ctr(), NULL, key, NULL));
}

static srtp_err_status_t icm_set_iv(void *state, uint8_t *iv, srtp_cipher_direction_t direction) {
    (void)direction;
    struct aes *icm = state;
    uint8_t counter[AES_BLOCK_LENGTH];
    for (int i = 0; i < AES_BLOCK_LENGTH; i++) counter[i] = iv[i] ^ icm->offset[i];
    return csrtp_status_of(EVP_EncryptInit_ex(icm->context, NULL, NULL, NULL, counter));
}

/// Encryption and decryption are the same exclusive or with the key stream.
static srtp_err_status_t icm_apply(void *state, uint8_t *bytes, unsigned int *count) {
    struct aes *icm = state;
    int written = 0;
    int done = EVP_EncryptUpdate(icm->context, bytes, &written, bytes, (int)*count);
    *count = (unsigned int)written;
    return csrtp_status_of(done);
}

// RFC 3711 appendix B.2: the first two blocks of key stream, here as the encryption of zeros.
static const uint8_t test_key[AES_KEY_LENGTH + SALT_LENGTH] = {
    0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c,
    0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd,
};
static uint8_t test_iv[AES_BLOCK_LENGTH];
static const uint8_t test_plaintext[2 * AES_BLOCK_LENGTH];
static const uint8_t test_ciphertext[2 * AES_BLOCK_LENGTH] = {
    0xe0, 0x3e, 0xad, 0x09, 0x35, 0xc9, 0x5e, 0x80, 0xe1, 0x66, 0xb1, 0x6d, 0xd9, 0x2b, 0x4e, 0xb4,
    0xd2, 0x35, 0x13, 0x16, 0x2b, 0x02, 0xd0, 0xf7, 0x2a, 0x43, 0xa2, 0xfe, 0x4a, 0x5f, 0x97, 0xab,
};
static const srtp_cipher_test_case_t test_case = {
    .key_length_octets = sizeof test_key,
    .key = test_key,
    .idx = test_iv,
    .plaintext_length_octets = sizeof test_plaintext,
    .plaintext = test_plaintext,
    .ciphertext_length_octets = sizeof test_ciphertext,
    .ciphertext = test_ciphertext,
};

const srtp_cipher_type_t csrtp_aes_icm_128 = {
    .alloc = icm_alloc,
    .dealloc = csrtp_aes_dealloc,
    .init = icm_init,
    .encrypt = icm_apply,
    .decrypt = icm_apply,
    .set_iv = icm_set_iv,
    .description = "AES-128 counter mode (OpenSSL)",
    .test_data = &test_case,
    .id = SRTP_AES_ICM_128,
};
