// libsrtp 2 for Swift. The ciphers it is given live in CSRTPCiphers.

#ifndef ORBWEAVER_CSRTP_SHIM_H
#define ORBWEAVER_CSRTP_SHIM_H

#include <srtp2/srtp.h>

#endif
