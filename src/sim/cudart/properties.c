/* struct cudaDeviceProp, which CUDA 12 and 13 lay out differently. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/core/config.h"
#include "sim/core/device.h"
#include "sim/core/properties.h"
#include "sim/core/thread.h"
#include "sim/standin.h"

#if SIM_MAJOR == 12
enum {
	SIZE = 1032,
	COLUMN = 0
};
#define GET_PROPERTIES cudaGetDeviceProperties_v2
#else
enum {
	SIZE = 1008,
	COLUMN = 1
};
#define GET_PROPERTIES cudaGetDeviceProperties
#endif

enum {
	NAME = 0,
	UUID = 256,
	TOTAL = 288
};

/* Members that are attributes too: their offsets in CUDA 12 and 13, in bytes. */
static const struct {
	uint16_t offset[2];
	uint8_t width, attribute;
} members[] = {
	{{296, 296}, 8, GPUSIM_SHARED_PER_BLOCK},
	{{304, 304}, 4, GPUSIM_REGISTERS_PER_BLOCK},
	{{308, 308}, 4, GPUSIM_WARP_SIZE},
	{{312, 312}, 8, GPUSIM_MAX_PITCH},
	{{320, 320}, 4, GPUSIM_MAX_THREADS_PER_BLOCK},
	{{324, 324}, 4, GPUSIM_MAX_BLOCK_X},
	{{328, 328}, 4, GPUSIM_MAX_BLOCK_Y},
	{{332, 332}, 4, GPUSIM_MAX_BLOCK_Z},
	{{336, 336}, 4, GPUSIM_MAX_GRID_X},
	{{340, 340}, 4, GPUSIM_MAX_GRID_Y},
	{{344, 344}, 4, GPUSIM_MAX_GRID_Z},
	{{352, 352}, 8, GPUSIM_CONSTANT_MEMORY},
	{{360, 360}, 4, GPUSIM_CAPABILITY_MAJOR},
	{{364, 364}, 4, GPUSIM_CAPABILITY_MINOR},
	{{368, 368}, 8, GPUSIM_TEXTURE_ALIGNMENT},
	{{376, 376}, 8, GPUSIM_TEXTURE_PITCH_ALIGNMENT},
	{{388, 384}, 4, GPUSIM_PROCESSOR_COUNT},
	{{400, 392}, 4, GPUSIM_CAN_MAP_HOST_MEMORY},
	{{576, 560}, 4, GPUSIM_CONCURRENT_KERNELS},
	{{584, 568}, 4, GPUSIM_PCI_BUS},
	{{600, 584}, 4, GPUSIM_ASYNC_ENGINES},
	{{604, 588}, 4, GPUSIM_UNIFIED_ADDRESSING},
	{{612, 592}, 4, GPUSIM_MEMORY_BUS_WIDTH},
	{{616, 596}, 4, GPUSIM_L2_SIZE},
	{{624, 604}, 4, GPUSIM_THREADS_PER_PROCESSOR},
	{{628, 608}, 4, GPUSIM_STREAM_PRIORITIES},
	{{632, 612}, 4, GPUSIM_GLOBAL_L1_CACHE},
	{{640, 624}, 8, GPUSIM_SHARED_PER_PROCESSOR},
	{{648, 632}, 4, GPUSIM_REGISTERS_PER_PROCESSOR},
	{{652, 636}, 4, GPUSIM_MANAGED_MEMORY},
	{{676, 656}, 4, GPUSIM_CONCURRENT_MANAGED},
	{{680, 660}, 4, GPUSIM_COMPUTE_PREEMPTION},
	{{688, 668}, 4, GPUSIM_COOPERATIVE_LAUNCH},
	{{696, 672}, 8, GPUSIM_SHARED_OPTIN},
	{{712, 688}, 4, GPUSIM_BLOCKS_PER_PROCESSOR},
	{{720, 696}, 8, GPUSIM_SHARED_RESERVED},
	{{728, 704}, 4, GPUSIM_HOST_REGISTER},
	{{744, 720}, 4, GPUSIM_MEMORY_POOLS},
	{{772, 748}, 4, GPUSIM_CLUSTER_LAUNCH},
};

SIM_EXPORT int GET_PROPERTIES(char *properties, int device)
{
	int physical = gpusim_device_physical(device);
	uint64_t total, used;

	if (physical < 0)
		return gpusim_result(GPUSIM_INVALID_DEVICE);
	memset(properties, 0, SIZE);
	strcpy(properties + NAME, gpusim_device_name);
	memcpy(properties + UUID, gpusim_config()->uuid[physical], 16);
	gpusim_device_memory(device, &total, &used);
	memcpy(properties + TOTAL, &total, sizeof(total));
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		uint64_t value = (uint64_t)gpusim_attribute(device, members[i].attribute);

		memcpy(properties + members[i].offset[COLUMN], &value, members[i].width);
	}
	return GPUSIM_SUCCESS;
}
