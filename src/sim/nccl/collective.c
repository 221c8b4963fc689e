/*
 * NCCL's collectives.
 *
 * Nothing reaches another process.  What a rank would get from the others it gets from itself, as
 * far as its bytes are known: right whenever the ranks agree, which is what PyTorch compares at the
 * start.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/core/copy.h"
#include "sim/nccl/nccl.h"
#include "sim/standin.h"

enum {
	PENDING = 256
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

static size_t bytes_of(size_t count, int type)
{
	static const uint8_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

	return type >= 0 && type < (int)sizeof(sizes) ? count * sizes[type] : count;
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
	(void)comm;
	(void)stream;
	move(to, from, bytes_of(count, type));
	return NCCL_OK;
}

SIM_EXPORT int ncclReduce(const void *from, void *to, size_t count, int type, int operation,
			  int root, struct nccl_comm *comm, void *stream)
{
	(void)operation;
	(void)stream;
	if (comm->rank == root)
		move(to, from, bytes_of(count, type));
	return NCCL_OK;
}

SIM_EXPORT int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
			     struct nccl_comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);

	(void)stream;
	if (comm->rank == root)
		move(to, from, size);
	if (group_depth && pending_count < PENDING)
		pending[pending_count++] = (struct broadcast){to, size, comm->rank == root};
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

	(void)stream;
	for (int rank = 0; rank < comm->size; rank++)
		move((char *)to + size * (size_t)rank, from, size);
	return NCCL_OK;
}

SIM_EXPORT int ncclGather(const void *from, void *to, size_t count, int type, int root,
			  struct nccl_comm *comm, void *stream)
{
	return comm->rank == root ? ncclAllGather(from, to, count, type, comm, stream) : NCCL_OK;
}

SIM_EXPORT int ncclReduceScatter(const void *from, void *to, size_t count, int type, int operation,
				 struct nccl_comm *comm, void *stream)
{
	size_t size = bytes_of(count, type);

	(void)operation;
	(void)stream;
	move(to, (const char *)from + size * (size_t)comm->rank, size);
	return NCCL_OK;
}

SIM_EXPORT int ncclScatter(const void *from, void *to, size_t count, int type, int root,
			   struct nccl_comm *comm, void *stream)
{
	if (comm->rank != root)
		return NCCL_OK;
	return ncclReduceScatter(from, to, count, type, 0, comm, stream);
}

SIM_EXPORT int ncclAlltoAll(const void *from, void *to, size_t count, int type,
			    struct nccl_comm *comm, void *stream)
{
	(void)stream;
	move(to, from, bytes_of(count, type) * (size_t)comm->size);
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
