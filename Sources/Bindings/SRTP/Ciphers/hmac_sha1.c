// HMAC-SHA1 (RFC 2104) that hashes the padded key once per key instead of once per packet.
//
// It uses the plain SHA-1 functions although OpenSSL 3 discourages them: copying an EVP digest context allocates, which
// costs more than the packet's whole tag.

#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { BLOCK_LENGTH = 64 };

struct hmac {
    srtp_auth_t auth;
    /// After the block `key XOR ipad`.
    SHA_CTX inner;
    /// After the block `key XOR opad`.
    SHA_CTX outer;
    /// The packet at hand.
    SHA_CTX current;
};

static srtp_err_status_t hmac_alloc(srtp_auth_pointer_t *result, int key_length, int tag_length) {
    if (key_length < 0 || key_length > BLOCK_LENGTH) return srtp_err_status_bad_param;
    if (tag_length < 0 || tag_length > SHA_DIGEST_LENGTH) return srtp_err_status_bad_param;
    struct hmac *hmac = calloc(1, sizeof *hmac);
    if (hmac == NULL) return srtp_err_status_alloc_fail;
    hmac->auth.type = &csrtp_hmac_sha1;
    hmac->auth.state = hmac;
    hmac->auth.key_len = key_length;
    hmac->auth.out_len = tag_length;
    *result = &hmac->auth;
    return srtp_err_status_ok;
}

static srtp_err_status_t hmac_dealloc(srtp_auth_pointer_t auth) {
    struct hmac *hmac = auth->state;
    OPENSSL_cleanse(hmac, sizeof *hmac);
    free(hmac);
    return srtp_err_status_ok;
}

static void absorb_padded_key(SHA_CTX *sha, const uint8_t *key, int key_length, uint8_t pad) {
    uint8_t block[BLOCK_LENGTH];
    memset(block, pad, sizeof block);
    for (int i = 0; i < key_length; i++) block[i] ^= key[i];
    SHA1_Init(sha);
    SHA1_Update(sha, block, sizeof block);
    OPENSSL_cleanse(block, sizeof block);
}

static srtp_err_status_t hmac_init(void *state, const uint8_t *key, int key_length) {
    if (key_length < 0 || key_length > BLOCK_LENGTH) return srtp_err_status_bad_param;
    struct hmac *hmac = state;
    absorb_padded_key(&hmac->inner, key, key_length, 0x36);
    absorb_padded_key(&hmac->outer, key, key_length, 0x5c);
    hmac->current = hmac->inner;
    return srtp_err_status_ok;
}

static srtp_err_status_t hmac_start(void *state) {
    struct hmac *hmac = state;
    hmac->current = hmac->inner;
    return srtp_err_status_ok;
}

static srtp_err_status_t hmac_update(void *state, const uint8_t *bytes, int count) {
    struct hmac *hmac = state;
    return SHA1_Update(&hmac->current, bytes, (size_t)count) ? srtp_err_status_ok : srtp_err_status_auth_fail;
}

static srtp_err_status_t hmac_compute(void *state, const uint8_t *bytes, int count, int tag_length, uint8_t *tag) {
    if (tag_length < 0 || tag_length > SHA_DIGEST_LENGTH) return srtp_err_status_bad_param;
    struct hmac *hmac = state;
    uint8_t digest[SHA_DIGEST_LENGTH];
    if (!SHA1_Update(&hmac->current, bytes, (size_t)count)) return srtp_err_status_auth_fail;
    if (!SHA1_Final(digest, &hmac->current)) return srtp_err_status_auth_fail;
    hmac->current = hmac->outer;
    if (!SHA1_Update(&hmac->current, digest, sizeof digest)) return srtp_err_status_auth_fail;
    if (!SHA1_Final(digest, &hmac->current)) return srtp_err_status_auth_fail;
    memcpy(tag, digest, (size_t)tag_length);
    return srtp_err_status_ok;
}

// RFC 2202 §3, test case 1.
static const uint8_t test_key[20] = {
    0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b, 0x0b,
    0x0b, 0x0b, 0x0b, 0x0b,
};
static const uint8_t test_message[] = {'H', 'i', ' ', 'T', 'h', 'e', 'r', 'e'};
static const uint8_t test_tag[SHA_DIGEST_LENGTH] = {
    0xb6, 0x17, 0x31, 0x86, 0x55, 0x05, 0x72, 0x64, 0xe2, 0x8b, 0xc0, 0xb6, 0xfb, 0x37, 0x8c, 0x8e,
    0xf1, 0x46, 0xbe, 0x00,
};
static const srtp_auth_test_case_t test_case = {
    .key_length_octets = sizeof test_key,
    .key = test_key,
    .data_length_octets = sizeof test_message,
    .data = test_message,
    .tag_length_octets = sizeof test_tag,
    .tag = test_tag,
};

const srtp_auth_type_t csrtp_hmac_sha1 = {
    .alloc = hmac_alloc,
    .dealloc = hmac_dealloc,
    .init = hmac_init,
    .compute = hmac_compute,
    .update = hmac_update,
    .start = hmac_start,
    .description = "HMAC-SHA1 (OpenSSL)",
    .test_data = &test_case,
    .id = SRTP_HMAC_SHA1,
};
