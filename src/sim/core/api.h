#ifndef SIM_CORE_API_H
#define SIM_CORE_API_H

/* What a stand-in exports, and what the core hands to the stand-ins. */
#define SIM_EXPORT __attribute__((visibility("default")))

/* The results of CUDA that the simulation gives; the runtime and the driver share these numbers. */
enum gpusim_error {
	GPUSIM_SUCCESS = 0,
	GPUSIM_INVALID_VALUE = 1,
	GPUSIM_OUT_OF_MEMORY = 2,
	GPUSIM_NO_DEVICE = 100,
	GPUSIM_INVALID_DEVICE = 101,
	GPUSIM_NOT_FOUND = 500,
	GPUSIM_NOT_READY = 600,
	GPUSIM_PEER_ALREADY = 704,
	GPUSIM_HOST_ALREADY = 712,
	GPUSIM_HOST_NOT = 713,
	GPUSIM_NOT_SUPPORTED = 801,
	GPUSIM_CAPTURE_UNSUPPORTED = 900,
	GPUSIM_CAPTURE_INVALIDATED = 901,
	GPUSIM_CAPTURE_ISOLATION = 905,
	GPUSIM_ILLEGAL_STATE = 401,
};

#endif
