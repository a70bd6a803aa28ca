// The three replacements, one file each.

#ifndef ORBWEAVER_CSRTP_INTERNAL_H
#define ORBWEAVER_CSRTP_INTERNAL_H

#include <srtp2/auth.h>
#include <srtp2/cipher.h>
#include <srtp2/srtp.h>

extern const srtp_cipher_type_t csrtp_aes_icm_128;
extern const srtp_cipher_type_t csrtp_aes_gcm_128;
extern const srtp_auth_type_t csrtp_hmac_sha1;

#endif
