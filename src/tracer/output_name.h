/*
 * How a trace is called: GPULEAK_OUT or the default, with its % signs filled in.
 */
#ifndef GPULEAK_TRACER_OUTPUT_NAME_H
#define GPULEAK_TRACER_OUTPUT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	OUTPUT_NAME_MAX = 4096
};

struct output_name {
	char path[OUTPUT_NAME_MAX];
};

/*
 * The rank that the environment tells (RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK,
 * PMI_RANK, LOCAL_RANK), or NULL.
 */
const char *output_rank(void);

/*
 * The name for this process, absolute.  A GPULEAK_OUT that ends in '/' is a folder for
 * the default names.  False when it is too long.
 */
bool output_name_make(struct output_name *name);

/*
 * Where processes with a rank have theirs: `name` without any rank, whose place is `*rank`
 * bytes from its start.  False when they don't differ by it, or not in the file's name.
 */
bool output_name_of_ranks(struct output_name *name, size_t *rank);

/* `name` with ".<pid>" before its last suffix: for a further process of one name. */
bool output_name_with_pid(struct output_name *name, const struct output_name *of, pid_t pid);

/* The same file name in another folder. */
bool output_name_in(struct output_name *name, const char *folder, const struct output_name *of);

#endif
