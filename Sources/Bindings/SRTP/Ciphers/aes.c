#include "aes.h"

#include <openssl/crypto.h>
#include <stdlib.h>

srtp_err_status_t csrtp_aes_alloc(
    srtp_cipher_pointer_t *result, const srtp_cipher_type_t *type, int key_length, int tag_length) {
    struct aes *aes = calloc(1, sizeof *aes);
    if (aes == NULL) return srtp_err_status_alloc_fail;
    aes->context = EVP_CIPHER_CTX_new();
    if (aes->context == NULL) {
        free(aes);
        return srtp_err_status_alloc_fail;
    }
    aes->tag_length = tag_length;
    aes->cipher.type = type;
    aes->cipher.algorithm = type->id;
    aes->cipher.key_len = key_length;
    aes->cipher.state = aes;
    *result = &aes->cipher;
    return srtp_err_status_ok;
}

srtp_err_status_t csrtp_aes_dealloc(srtp_cipher_pointer_t cipher) {
    struct aes *aes = cipher->state;
    EVP_CIPHER_CTX_free(aes->context);
    OPENSSL_cleanse(aes, sizeof *aes);
    free(aes);
    return srtp_err_status_ok;
}
