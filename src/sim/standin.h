#ifndef SIM_STANDIN_H
#define SIM_STANDIN_H

/* Included first of ours by each stand-in. */
#include "sim/core/api.h"

/* What a stand-in exports has its prototype in NVIDIA's headers, which we build without. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#endif
