#ifndef SIM_NCCL_NCCL_H
#define SIM_NCCL_NCCL_H

enum nccl_result {
	NCCL_OK = 0,
	NCCL_SYSTEM_ERROR = 2,
	NCCL_INVALID_ARGUMENT = 4,
	NCCL_INVALID_USAGE = 5,
};

struct gpusim_meeting;

/* A communicator knows its own rank, and waits for the others.  Nothing is sent to them. */
struct nccl_comm {
	int rank, size, device;
	struct gpusim_meeting *meeting; /* owned; NULL: nobody to wait for */
};

/* Wait for the other ranks: now, or when the calling thread's group of calls ends. */
void nccl_await_ranks(struct gpusim_meeting *meeting);

#endif
