#ifndef SIM_NCCL_NCCL_H
#define SIM_NCCL_NCCL_H

enum nccl_result {
	NCCL_OK = 0,
	NCCL_SYSTEM_ERROR = 2,
	NCCL_INVALID_ARGUMENT = 4,
	NCCL_INVALID_USAGE = 5,
};

/* A communicator knows its own rank.  Nothing is sent to the others. */
struct nccl_comm {
	int rank, size, device;
};

#endif
