// AEAD_AES_128_GCM (RFC 7714) on EVP_aes_128_gcm. libsrtp forms the nonce and the associated data.

#include "aes.h"

enum { SALT_LENGTH = 12, LONG_TAG = 16, SHORT_TAG = 8 };

static srtp_err_status_t gcm_alloc(srtp_cipher_pointer_t *result, int key_length, int tag_length) {
    if (key_length != AES_KEY_LENGTH + SALT_LENGTH) return srtp_err_status_bad_param;
    if (tag_length != LONG_TAG && tag_length != SHORT_TAG) return srtp_err_status_bad_param;
    return csrtp_aes_alloc(result, &csrtp_aes_gcm_128, key_length, tag_length);
}

static srtp_err_status_t gcm_init(void *state, const uint8_t *key) {
    struct aes *gcm = state;
    return csrtp_status_of(EVP_EncryptInit_ex(gcm->context, EVP_aes_128_gcm(), NULL, key, NULL));
}

/// A new nonce also forgets associated data and tag of the packet before.
static srtp_err_status_t gcm_set_iv(void *state, uint8_t *iv, srtp_cipher_direction_t direction) {
    struct aes *gcm = state;
    return csrtp_status_of(EVP_CipherInit_ex(gcm->context, NULL, NULL, NULL, iv, direction == srtp_direction_encrypt));
}

static srtp_err_status_t gcm_set_aad(void *state, const uint8_t *bytes, uint32_t count) {
    struct aes *gcm = state;
    int written = 0;
    return csrtp_status_of(EVP_CipherUpdate(gcm->context, NULL, &written, bytes, (int)count));
}

static srtp_err_status_t gcm_encrypt(void *state, uint8_t *bytes, unsigned int *count) {
    struct aes *gcm = state;
    if (*count == 0) return srtp_err_status_ok;
    int written = 0;
    int done = EVP_CipherUpdate(gcm->context, bytes, &written, bytes, (int)*count);
    *count = (unsigned int)written;
    return csrtp_status_of(done);
}

static srtp_err_status_t gcm_get_tag(void *state, uint8_t *tag, uint32_t *count) {
    struct aes *gcm = state;
    int written = 0;
    uint8_t none[1];
    if (!EVP_CipherFinal_ex(gcm->context, none, &written)) return srtp_err_status_cipher_fail;
    if (!EVP_CIPHER_CTX_ctrl(gcm->context, EVP_CTRL_AEAD_GET_TAG, gcm->tag_length, tag))
        return srtp_err_status_algo_fail;
    *count = (uint32_t)gcm->tag_length;
    return srtp_err_status_ok;
}

/// `count` covers ciphertext and tag before the call, plaintext after it.
static srtp_err_status_t gcm_decrypt(void *state, uint8_t *bytes, unsigned int *count) {
    struct aes *gcm = state;
    if (*count < (unsigned int)gcm->tag_length) return srtp_err_status_bad_param;
    int length = (int)*count - gcm->tag_length;
    int written = 0;
    uint8_t none[1];
    if (!EVP_CIPHER_CTX_ctrl(gcm->context, EVP_CTRL_AEAD_SET_TAG, gcm->tag_length, bytes + length))
        return srtp_err_status_auth_fail;
    if (length > 0 && !EVP_CipherUpdate(gcm->context, bytes, &written, bytes, length)) return srtp_err_status_auth_fail;
    if (!EVP_CipherFinal_ex(gcm->context, none, &written)) return srtp_err_status_auth_fail;
    *count = (unsigned int)length;
    return srtp_err_status_ok;
}

// Test case 4 of McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B; the 12 bytes after the key
// stand for the salt, which the cipher does not use.
static const uint8_t test_key[AES_KEY_LENGTH + SALT_LENGTH] = {
    0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08,
};
static uint8_t test_iv[] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88};
static const uint8_t test_plaintext[] = {
    0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26, 0x9a,
    0x86, 0xa7, 0xa9, 0x53, 0x15, 0x34, 0xf7, 0xda, 0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31, 0x8a, 0x72,
    0x1c, 0x3c, 0x0c, 0x95, 0x95, 0x68, 0x09, 0x53, 0x2f, 0xcf, 0x0e, 0x24, 0x49, 0xa6, 0xb5, 0x25,
    0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39,
};
static const uint8_t test_aad[] = {
    0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef,
    0xab, 0xad, 0xda, 0xd2,
};
static const uint8_t test_ciphertext[] = {
    0x42, 0x83, 0x1e, 0xc2, 0x21, 0x77, 0x74, 0x24, 0x4b, 0x72, 0x21, 0xb7, 0x84, 0xd0, 0xd4, 0x9c,
    0xe3, 0xaa, 0x21, 0x2f, 0x2c, 0x02, 0xa4, 0xe0, 0x35, 0xc1, 0x7e, 0x23, 0x29, 0xac, 0xa1, 0x2e,
    0x21, 0xd5, 0x14, 0xb2, 0x54, 0x66, 0x93, 0x1c, 0x7d, 0x8f, 0x6a, 0x5a, 0xac, 0x84, 0xaa, 0x05,
    0x1b, 0xa3, 0x0b, 0x39, 0x6a, 0x0a, 0xac, 0x97, 0x3d, 0x58, 0xe0, 0x91,
    0x5b, 0xc9, 0x4f, 0xbc, 0x32, 0x21, 0xa5, 0xdb, 0x94, 0xfa, 0xe9, 0x5a, 0xe7, 0x12, 0x1a, 0x47,
};
static const srtp_cipher_test_case_t test_case = {
    .key_length_octets = sizeof test_key,
    .key = test_key,
    .idx = test_iv,
    .plaintext_length_octets = sizeof test_plaintext,
    .plaintext = test_plaintext,
    .ciphertext_length_octets = sizeof test_ciphertext,
    .ciphertext = test_ciphertext,
    .aad_length_octets = sizeof test_aad,
    .aad = test_aad,
    .tag_length_octets = LONG_TAG,
};

const srtp_cipher_type_t csrtp_aes_gcm_128 = {
    .alloc = gcm_alloc,
    .dealloc = csrtp_aes_dealloc,
    .init = gcm_init,
    .set_aad = gcm_set_aad,
    .encrypt = gcm_encrypt,
    .decrypt = gcm_decrypt,
    .set_iv = gcm_set_iv,
    .get_tag = gcm_get_tag,
    .description = "AES-128 GCM (OpenSSL)",
    .test_data = &test_case,
    .id = SRTP_AES_GCM_128,
};
