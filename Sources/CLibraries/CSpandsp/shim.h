// The parts of spandsp that the gateway uses: G.722 and the concealment of lost G.711.

#ifndef ORBWEAVER_CSPANDSP_SHIM_H
#define ORBWEAVER_CSPANDSP_SHIM_H

#include <stdint.h>
#include <spandsp/telephony.h>
#include <spandsp/g722.h>
#include <spandsp/plc.h>

#endif
