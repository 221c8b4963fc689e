#ifndef SIM_CORE_CONFIG_H
#define SIM_CORE_CONFIG_H

#include <stdint.h>

#include "sim/core/api.h"

enum {
	GPUSIM_DEVICES_MAX = 64
};

/* What the environment asks for.  Read once, at the first use of the simulated GPU. */
struct gpusim_config {
	int physical_count;			    /* GPULEAK_SIM_DEVICES */
	uint64_t memory[GPUSIM_DEVICES_MAX];	    /* bytes; GPULEAK_SIM_MEMORY */
	int major, minor;			    /* GPULEAK_SIM_CAPABILITY */
	int64_t read_value;			    /* GPULEAK_SIM_READ; 0: zeros alone */
	long read_every;			    /* ... at every so many reads, from 1 */
	int visible_count;			    /* CUDA_VISIBLE_DEVICES */
	int visible[GPUSIM_DEVICES_MAX];	    /* ordinal -> physical number */
	unsigned char uuid[GPUSIM_DEVICES_MAX][16]; /* by physical number */
};

/* Any thread.  Never NULL. */
SIM_EXPORT const struct gpusim_config *gpusim_config(void);

/* "GPU-xxxxxxxx-..." of a physical device; `text` has room for 41 bytes. */
SIM_EXPORT void gpusim_uuid_text(int physical, char *text);

#endif
