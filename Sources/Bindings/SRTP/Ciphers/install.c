#include "csrtp_ciphers.h"
#include "internal.h"

int csrtp_install_openssl_ciphers(void) {
    srtp_err_status_t status = srtp_replace_cipher_type(&csrtp_aes_icm_128, SRTP_AES_ICM_128);
    if (status == srtp_err_status_ok) status = srtp_replace_cipher_type(&csrtp_aes_gcm_128, SRTP_AES_GCM_128);
    if (status == srtp_err_status_ok) status = srtp_replace_auth_type(&csrtp_hmac_sha1, SRTP_HMAC_SHA1);
    return (int)status;
}
