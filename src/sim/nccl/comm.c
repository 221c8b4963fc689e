/* NCCL's communicators. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "sim/core/device.h"
#include "sim/core/meeting.h"
#include "sim/core/thread.h"
#include "sim/nccl/nccl.h"
#include "sim/standin.h"

struct unique_id {
	char bytes[128];
};

enum {
	VERSION = 22900,
	NO_COLOR = -1
};

static int new_comm(struct nccl_comm **comm, int size, int rank, int device)
{
	if (size < 1 || rank < 0 || rank >= size)
		return NCCL_INVALID_ARGUMENT;
	*comm = calloc(1, sizeof(**comm));
	if (!*comm)
		return NCCL_SYSTEM_ERROR;
	**comm = (struct nccl_comm){rank, size, device, NULL};
	return NCCL_OK;
}

/* With the other ranks, which are processes of their own, or come next in this one's group. */
static int join_comm(struct nccl_comm **comm, int size, int rank, const void *id)
{
	int error = new_comm(comm, size, rank, gpusim_thread()->device);

	if (error || size == 1)
		return error;
	(*comm)->meeting = gpusim_meeting_join(id, size, rank);
	nccl_await_ranks((*comm)->meeting);
	return NCCL_OK;
}

SIM_EXPORT int ncclGetVersion(int *version)
{
	*version = VERSION;
	return NCCL_OK;
}

SIM_EXPORT const char *ncclGetErrorString(int result)
{
	switch (result) {
	case NCCL_OK:
		return "no error";
	case NCCL_INVALID_ARGUMENT:
		return "invalid argument";
	case NCCL_INVALID_USAGE:
		return "invalid usage";
	}
	return "unhandled system error";
}

SIM_EXPORT const char *ncclGetLastError(struct nccl_comm *comm)
{
	(void)comm;
	return "";
}

SIM_EXPORT int ncclGetUniqueId(struct unique_id *id)
{
	return getrandom(id, sizeof(*id), 0) == sizeof(*id) ? NCCL_OK : NCCL_SYSTEM_ERROR;
}

SIM_EXPORT int ncclCommInitRank(struct nccl_comm **comm, int size, struct unique_id id, int rank)
{
	return join_comm(comm, size, rank, &id);
}

SIM_EXPORT int ncclCommInitRankConfig(struct nccl_comm **comm, int size, struct unique_id id,
				      int rank, void *config)
{
	(void)config;
	return ncclCommInitRank(comm, size, id, rank);
}

SIM_EXPORT int ncclCommInitRankScalable(struct nccl_comm **comm, int size, int rank, int id_count,
					struct unique_id *ids, void *config)
{
	(void)id_count;
	(void)config;
	return join_comm(comm, size, rank, ids);
}

SIM_EXPORT int ncclCommInitAll(struct nccl_comm **comms, int count, const int *devices)
{
	int error = NCCL_OK;

	for (int i = 0; i < count && !error; i++)
		error = new_comm(&comms[i], count, i, devices ? devices[i] : i);
	return error;
}

SIM_EXPORT int ncclCommSplit(struct nccl_comm *comm, int color, int key, struct nccl_comm **split,
			     void *config)
{
	struct gpusim_part part = {comm->size, comm->rank, {0}};
	bool met = gpusim_meeting_split(comm->meeting, color, key, &part);

	(void)config;
	*split = NULL;
	if (color == NO_COLOR)
		return NCCL_OK;
	if (met)
		return join_comm(split, part.size, part.rank, part.id);
	return new_comm(split, comm->size, comm->rank, comm->device);
}

SIM_EXPORT int ncclCommFinalize(struct nccl_comm *comm)
{
	(void)comm;
	return NCCL_OK;
}

SIM_EXPORT int ncclCommDestroy(struct nccl_comm *comm)
{
	if (comm)
		gpusim_meeting_leave(comm->meeting);
	free(comm);
	return NCCL_OK;
}

SIM_EXPORT int ncclCommAbort(struct nccl_comm *comm)
{
	return ncclCommDestroy(comm);
}

SIM_EXPORT int ncclCommGetAsyncError(struct nccl_comm *comm, int *error)
{
	(void)comm;
	*error = NCCL_OK;
	return NCCL_OK;
}

SIM_EXPORT int ncclCommCount(const struct nccl_comm *comm, int *size)
{
	*size = comm->size;
	return NCCL_OK;
}

SIM_EXPORT int ncclCommUserRank(const struct nccl_comm *comm, int *rank)
{
	*rank = comm->rank;
	return NCCL_OK;
}

SIM_EXPORT int ncclCommCuDevice(const struct nccl_comm *comm, int *device)
{
	*device = comm->device;
	return NCCL_OK;
}

SIM_EXPORT int ncclCommRegister(const struct nccl_comm *comm, void *buffer, size_t size,
				void **handle)
{
	(void)comm;
	(void)size;
	*handle = buffer;
	return NCCL_OK;
}

SIM_EXPORT int ncclCommDeregister(const struct nccl_comm *comm, void *handle)
{
	(void)comm;
	(void)handle;
	return NCCL_OK;
}

SIM_EXPORT int ncclMemAlloc(void **pointer, size_t size)
{
	return gpusim_memory_take(gpusim_thread()->device, size, pointer) ? NCCL_SYSTEM_ERROR
									  : NCCL_OK;
}

SIM_EXPORT int ncclMemFree(void *pointer)
{
	return gpusim_memory_give(pointer) ? NCCL_INVALID_ARGUMENT : NCCL_OK;
}

SIM_EXPORT int ncclRedOpCreatePreMulSum(int *operation, void *scalar, int type, int residence,
					struct nccl_comm *comm)
{
	(void)scalar;
	(void)type;
	(void)residence;
	(void)comm;
	*operation = 0; /* a sum, like any other */
	return NCCL_OK;
}

SIM_EXPORT int ncclRedOpDestroy(int operation, struct nccl_comm *comm)
{
	(void)operation;
	(void)comm;
	return NCCL_OK;
}
