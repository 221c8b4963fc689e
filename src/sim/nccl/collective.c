/*
 * NCCL's collectives.
 *
 * No data reaches another process.  What a rank would get from the others it gets from itself, as
 * far as its bytes are known: right whenever the ranks agree, which is what PyTorch compares at the
 * start.  But the ranks wait for each other when the program waits for the GPU.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/copy.h"
#include "sim/core/stream.h"
#include "sim/nccl/nccl.h"
#include "sim/standin.h"

enum {
	PENDING = 256,
	JOINED = 32
};

/* A broadcast of the group under way. */
struct broadcast {
	void *to;
	size_t size;
	bool own; /* we are its root */
};

/* A list of tensors is gathered as one broadcast per rank.  Those beyond PENDING give zeros. */
static _Thread_local struct broadcast pending[PENDING];
static _Thread_local unsigned pending_count;
static _Thread_local int group_depth;

/* Meetings that were joined in the group.  Those beyond JOINED begin without the others. */
static _Thread_local struct gpusim_meeting *joined[JOINED];
static _Thread_local unsigned joined_count;

static size_t bytes_of(size_t count, int type)
{
	static const uint8_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

	return type >= 0 && type < (int)sizeof(sizes) ? count * sizes[type] : count;
}

/* The stream is busy until all ranks have come. */
static void arrive(struct nccl_comm *comm, void *stream)
{
	gpusim_stream_collective(stream, gpusim_meeting_arrive(comm->meeting));
}

static void move(void *to, const void *from, size_t size)
{
	if (to != from && to)
		gpusim_copy(to, from, size);
}

/* Give the own source to every other broadcast of the same size. */
static void end_group(void)
{
	for (unsigned own = 0; own < pending_count; own++) {
		if (!pending[own].own)
			continue;
		for (unsigned i = 0; i < pending_count; i++)
			if (!pending[i].own && pending[i].size == pending[own].size)
				move(pending[i].to, pending[own].to, pending[i].size);
	}
	pending_count = 0;
	for (unsigned i = 0; i < joined_count; i++)
		gpusim_meeting_wait(joined[i]);
	joined_count = 0;
}

void nccl_await_ranks(struct gpusim_meeting *meeting)
{
	if (!group_depth)
		gpusim_meeting_wait(meeting);
	else if (joined_count < JOINED)
		joined[joined_count++] = meeting;
}

SIM_EXPORT int ncclGroupStart(void)
{
	group_depth++;
	return NCCL_OK;
}

SIM_EXPORT int ncclGroupEnd(void)
{
	if (group_depth == 0)
		return NCCL_INVALID_USAGE;
	if (--group_depth == 0)
		end_group();
	return NCCL_OK;
}

SIM_EXPORT int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
			     struct nccl_comm *comm, void *stream)
{
	(void)operation;
	move(to, from, bytes_of(count, type));
	arrive(comm, stream);
	return NCCL_OK;
}

SIM_EXPORT int ncclReduce(const void *from, void *to, size_t count, int type, int operation,
			  int root, struct nccl_comm *comm, void *stream)
{
	(void)operation;
	if (comm->rank == root)
		move(to, from, bytes_of(count, type));
	arrive(comm, stream);
	return NCCL_OK;
}

SIM_EXPORT int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
			     struct nccl_comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);

	if (comm->rank == root)
		move(to, from, size);
	if (group_depth && pending_count < PENDING)
		pending[pending_count++] = (struct broadcast){to, size, comm->rank == root};
	arrive(comm, stream);
	return NCCL_OK;
}

SIM_EXPORT int ncclBcast(void *buffer, size_t count, int type, int root, struct nccl_comm *comm,
			 void *stream)
{
	return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

SIM_EXPORT int ncclAllGather(const void *from, void *to, size_t count, int type,
			     struct nccl_comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);

	for (int rank = 0; rank < comm->size; rank++)
		move((char *)to + size * (size_t)rank, from, size);
	arrive(comm, stream);
	return NCCL_OK;
}

SIM_EXPORT int ncclGather(const void *from, void *to, size_t count, int type, int root,
			  struct nccl_comm *comm, void *stream)
{
	if (comm->rank == root)
		return ncclAllGather(from, to, count, type, comm, stream);
	arrive(comm, stream);
	return NCCL_OK;
}

SIM_EXPORT int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation,
				 struct nccl_comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);

	(void)operation;
	move(to, (const char *)from + size * (size_t)comm->rank, size);
	arrive(comm, stream);
	return NCCL_OK;
}

SIM_EXPORT int ncclScatter(const void *from, void *to, size_t count, int type, int root,
			   struct nccl_comm *comm, void *stream)
{
	if (comm->rank == root)
		return ncclReduceScatter(from, to, count, type, 0, comm, stream);
	arrive(comm, stream);
	return NCCL_OK;
}

SIM_EXPORT int ncclAlltoAll(const void *from, void *to, size_t count, int type,
			    struct nccl_comm *comm, void *stream)
{
	move(to, from, bytes_of(count, type) * (size_t)comm->size);
	arrive(comm, stream);
	return NCCL_OK;
}

SIM_EXPORT int ncclSend(const void *from, size_t count, int type, int peer, struct nccl_comm *comm,
			void *stream)
{
	(void)from;
	(void)count;
	(void)type;
	(void)peer;
	(void)comm;
	(void)stream;
	return NCCL_OK;
}

SIM_EXPORT int ncclRecv(void *to, size_t count, int type, int peer, struct nccl_comm *comm,
			void *stream)
{
	(void)peer;
	(void)comm;
	(void)stream;
	gpusim_fill(to, 0, bytes_of(count, type));
	return NCCL_OK;
}
