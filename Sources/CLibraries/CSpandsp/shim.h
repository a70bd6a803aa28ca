// The parts of spandsp that the gateway uses: G.722, the concealment of lost G.711, and the digits that sound in it.

#ifndef ORBWEAVER_CSPANDSP_SHIM_H
#define ORBWEAVER_CSPANDSP_SHIM_H

#include <stddef.h>
#include <stdint.h>
#include <spandsp/telephony.h>
#include <spandsp/g722.h>
#include <spandsp/plc.h>
#include <spandsp/logging.h>
#include <spandsp/tone_generate.h>
#include <spandsp/super_tone_rx.h>
#include <spandsp/dtmf.h>

#endif
