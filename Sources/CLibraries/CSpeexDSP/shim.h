// The resampler of speexdsp.

#ifndef ORBWEAVER_CSPEEXDSP_SHIM_H
#define ORBWEAVER_CSPEEXDSP_SHIM_H

#include <speex/speex_resampler.h>

#endif
