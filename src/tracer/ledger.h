/*
 * One device's books: which blocks live, which site each comes from, and the
 * statistics that a verdict needs.
 *
 * PyTorch's events wait in a short queue before they enter the books (ledger_torch.c): whoever
 * looks at these calls ledger_catch_up() first.
 *
 * The step under way is kept apart: its births wait in the sites, frees of older
 * blocks wait in a queue, and only ledger_settle() lets them into the evidence.
 *
 * Threads: each function takes the ledger's lock, unless it says that the caller
 * holds it.  PyTorch's events come under its own device mutex, in order.
 */
#ifndef GPULEAK_TRACER_LEDGER_H
#define GPULEAK_TRACER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/blocks.h"
#include "tracer/lock.h"
#include "tracer/map.h"
#include "tracer/memory.h"
#include "tracer/ring.h"
#include "tracer/stack.h"

/*
 * What an event changes of its site: one cache line.  The ledger's lock guards all of it,
 * and of struct ledger_history.
 */
struct ledger_site {
	uint64_t live_bytes;
	uint64_t born_bytes; /* of this step, still alive */
	uint64_t alloc_bytes;
	uint64_t allocs;
	uint32_t live_blocks;
	uint32_t born;	      /* of this step, still alive */
	uint32_t temporaries; /* born and freed in this step */
	uint32_t touched;     /* next in the list of touched sites, from 1; 0: not in it */
	uint32_t last_step;
	uint32_t peak_epoch;
	uint32_t file;	      /* item of the sites' section */
	uint8_t source;	      /* enum gpuleak_source */
	bool evidence_denied; /* there was no room for it */
};
_Static_assert(sizeof(struct ledger_site) <= 64, "see above");

/* What marks, and new peaks, change of a site. */
struct ledger_history {
	uint64_t peak_bytes;   /* at the peak of `peak_epoch` */
	uint64_t marked_bytes; /* live at the last mark */
	uint32_t marked_blocks;
	uint32_t evidence; /* item of the evidence section, from 1; 0: none */
	uint32_t first_step;
	uint32_t max_age;
	uint32_t rounds;
	uint32_t filled;	/* blocks copied to from the host in the step of their birth ... */
	uint32_t filled_before; /* ... which was step 0 */
};

/* A free or a new size of a block from an earlier step, held back until the mark. */
struct ledger_held_free {
	uint64_t size;
	uint64_t resized; /* bytes from now on; 0: freed */
	uint32_t site : 31;
	uint32_t collected : 1; /* Python's collector was at work */
	uint32_t birth;
};

/* What lies there at the mark is another block if its size is another one. */
struct ledger_workspace {
	uint64_t address;
	uint64_t size;
};

/* An event of PyTorch's that isn't in the books yet. */
struct ledger_waiting {
	uint64_t address;
	uint64_t size;
	uint64_t allocated; /* PyTorch's total after it */
	uint32_t site;	    /* of an allocation */
	uint32_t flags;	    /* LEDGER_FREED ... */
};

enum {
	LEDGER_LIST_END = 0xffffffffu,
	LEDGER_WORKSPACES = 8,
	LEDGER_WAITING = 32,

	LEDGER_FREED = 1,
	LEDGER_UNPLACED = 2,  /* an allocation that the books have no room for */
	LEDGER_COLLECTED = 4, /* a free while Python's collector was at work */
};

/* The first lines are what every event of PyTorch's looks at. */
struct ledger {
	struct lock lock;
	bool used;
	uint32_t waiting_count;
	uint32_t device;
	uint32_t step;	     /* the step under way */
	uint32_t touched;    /* sites touched since the last mark, the first from 1 */
	uint32_t code_epoch; /* what `by_address` is good for */
	uint32_t peak_epoch;
	uint32_t peak_step;
	uint64_t latest;    /* PyTorch's total, of the event that came last */
	uint64_t allocated; /* PyTorch's totals, as far as events are in the books */
	uint64_t reserved;
	uint64_t step_peak;
	uint64_t step_trough;
	uint64_t peak;
	uint64_t allocs;
	uint64_t events;
	struct ring_cursor ring;
	struct block_table torch_blocks;
	struct memory_array sites; /* struct ledger_site */
	struct map by_address;	   /* stack.hash and caller -> site: fast, good for one epoch */
	struct memory_array held_frees;
	struct ledger_waiting waiting[LEDGER_WAITING] __attribute__((aligned(32)));

	uint64_t peak_reserved;
	uint64_t outside; /* cudaMalloc'ed by others than PyTorch */
	uint64_t outside_peak;
	uint64_t first_allocated;
	uint64_t first_reserved;
	uint32_t outside_epoch;
	struct block_table cuda_blocks;
	struct map by_content;			/* the stack's key and source -> site */
	struct memory_array histories;		/* struct ledger_history, one for each site */
	struct gpuleak_device_version timeline; /* its timeline_* fields and `open` */
	struct gpuleak_driver_version driver;	/* what the next mark says; all zero: not asked */
	struct ledger_workspace
		workspaces[LEDGER_WORKSPACES]; /* what cuBLAS was given in this step */
	uint32_t workspace_count;
} __attribute__((aligned(256))); /* two devices share no cache line */

/* The ledger of a device, made on first use; NULL for a device we have no room for. */
struct ledger *ledger_of(int device);

/* The ledger, if that device had an event; NULL else. */
struct ledger *ledger_if_used(unsigned device);

/* Above the number of any ledger that is used. */
unsigned ledger_count(void);

/* A block that PyTorch's allocator gave out.  Totals are PyTorch's, after the event. */
void ledger_torch_alloc(struct ledger *ledger, uint64_t address, uint64_t size,
			struct ring_totals now, const struct stack *stack);
/* A block that it got back. */
void ledger_torch_free(struct ledger *ledger, uint64_t address, uint64_t size,
		       struct ring_totals now);
/* The same if it was recorded; false, and nothing is done, if not. */
bool ledger_torch_free_recorded(struct ledger *ledger, uint64_t address, uint64_t size,
				struct ring_totals now);
void ledger_torch_oom(struct ledger *ledger, uint64_t size, uint64_t allocated, uint64_t reserved,
		      const struct stack *stack);

/* cudaMalloc; `segment`: called by PyTorch's allocator. */
void ledger_cuda_alloc(struct ledger *ledger, uint64_t address, uint64_t size, bool segment,
		       const struct stack *stack);
/* The program was told by the runtime how much of the device is free. */
void ledger_driver_asked(struct ledger *ledger, uint64_t free_bytes, uint64_t total);
/*
 * What a block is for, from the calls that use it (ledger_purpose.c).  False when the address
 * isn't that of one of PyTorch's blocks on this device.
 */
bool ledger_filled_from_host(struct ledger *ledger, uint64_t address);
bool ledger_used_as_workspace(struct ledger *ledger, uint64_t address);

/*
 * Before step 1, `size` bytes were copied from one address on the device to another.  Of what
 * torch.load() made, a whole block goes on as one of a site of its own: its content is elsewhere
 * now.  Not where the copy was made for it, as clone() does: then the block itself may be in use.
 */
void ledger_copied(struct ledger *ledger, uint64_t from, uint64_t to, uint64_t size);

/* True once there is such a site. */
bool ledger_any_copied(void);

/* A parameter or an optimizer's state lies there: what was copied with it isn't told. */
bool ledger_in_use(struct ledger *ledger, uint64_t address);

/* The step under way.  Without the lock: a glance. */
static inline uint32_t ledger_step(const struct ledger *ledger)
{
	return __atomic_load_n(&ledger->step, __ATOMIC_RELAXED);
}

/* No optimizer has stepped yet. */
static inline bool ledger_in_baseline(const struct ledger *ledger)
{
	return ledger_step(ledger) == 0;
}

/* PyTorch has as much now as never before.  Without the lock: a glance. */
static inline bool ledger_at_peak(const struct ledger *ledger)
{
	return __atomic_load_n(&ledger->latest, __ATOMIC_RELAXED) >=
	       __atomic_load_n(&ledger->peak, __ATOMIC_RELAXED);
}

/*
 * Workspaces that outlive the step under way go on as blocks of a site of their own.  Before
 * the mark is written; the caller holds the lock.
 */
void ledger_part_workspaces(struct ledger *ledger);

/* False when the address isn't this device's. */
bool ledger_cuda_free(struct ledger *ledger, uint64_t address);

/* The step that ledgers made from now on begin with. */
void ledger_start_step(uint32_t step);

/* An event for the ring: the step ends here.  The caller holds the lock. */
void ledger_write_mark(struct ledger *ledger);

/* An event for the ring: steps are counted anew.  The caller holds the lock. */
void ledger_write_restart(struct ledger *ledger);

/*
 * Let the step's births and deaths into the evidence of version `mark`; the next
 * step is `next`.  The caller holds the lock.
 */
void ledger_settle(struct ledger *ledger, uint64_t mark, uint32_t next);

/*
 * Write what `mark`, made at `when`, says of this device, after ledger_settle().  The caller
 * holds the lock.
 */
void ledger_publish(struct ledger *ledger, uint64_t mark, uint64_t when);

/* As if no mark had been made: all until now is of step 0.  The caller holds the lock. */
void ledger_start_anew(struct ledger *ledger);

/* Code objects of known stacks died: addresses no longer tell stacks apart.  Any thread. */
void ledger_code_died(void);

/* Stacks that are known by the hash of their addresses are good as long as this stays. */
uint32_t ledger_addresses_epoch(void);

/* In a child after fork: empty books, no lock held. */
void ledger_forget_all(void);

/* Let the events that wait into the books.  The caller holds the lock. */
void ledger_catch_up(struct ledger *ledger);

/* The same for all ledgers, at the end of the process: but one whose lock isn't to be had. */
void ledger_catch_up_all(void);

/* For the ledger's own files; the caller holds the lock.  GPULEAK_SITE_NONE: no room. */
uint32_t ledger_find_site(struct ledger *ledger, const struct stack *stack, uint32_t source,
			  uint32_t flags);
void ledger_set_reserved(struct ledger *ledger, uint64_t reserved);
uint32_t ledger_add_site(struct ledger *ledger, const struct gpuleak_site *item, uint64_t content);
void ledger_touch(struct ledger *ledger, struct ledger_site *site, uint32_t number);
void ledger_write_event(struct ledger *ledger, enum gpuleak_event_kind kind, uint64_t address,
			int64_t size, uint32_t site);

static inline struct ledger_site *ledger_site(struct ledger *ledger, uint32_t number)
{
	return (struct ledger_site *)ledger->sites.items + number;
}

static inline struct ledger_history *ledger_history(struct ledger *ledger, uint32_t number)
{
	return (struct ledger_history *)ledger->histories.items + number;
}

#endif
