// Ciphers for libsrtp made of OpenSSL's.

#ifndef ORBWEAVER_CSRTP_CIPHERS_H
#define ORBWEAVER_CSRTP_CIPHERS_H

/// Puts OpenSSL's AES-CTR, AES-GCM and SHA-1 in the place of libsrtp's own AES_ICM_128, AES_GCM_128 and HMAC_SHA1.
///
/// Call it once, right after `srtp_init` and before the first session. libsrtp runs its own test vectors and the ones
/// here on every type. Returns 0, or the `srtp_err_status_t` of the type that failed.
int csrtp_install_openssl_ciphers(void);

#endif
