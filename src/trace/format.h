/*
 * The trace file, byte by byte.  docs/trace-format.md says the same in words
 * and tables; the two change in one commit.
 *
 * One file of fixed size: a header with a directory of sections, then the
 * sections.  Little-endian, no pointers, no holes.  Three kinds of data:
 *
 *   append-only   strings, frames, stacks, identities of sites, notes: written,
 *                 then published by raising a count in `struct gpuleak_state`
 *   two versions  everything a mark changes: a mark overwrites the version with
 *                 the older mark number and counts once `committed` is raised
 *   ring          the latest events, in pages that each stand for themselves
 *
 * Where a mapping isn't safe the file holds two whole traces: `struct gpuleak_slots`.
 */
#ifndef GPULEAK_TRACE_FORMAT_H
#define GPULEAK_TRACE_FORMAT_H

#include <stdint.h>

#define GPULEAK_MAGIC	    "GPULEAK" /* with its NUL: 8 bytes */
#define GPULEAK_SLOTS_MAGIC "GPULKSL" /* of a file that holds two traces in turn */

enum {
	GPULEAK_FORMAT_MAJOR = 2,
	GPULEAK_FORMAT_MINOR = 1,
	GPULEAK_BYTE_ORDER = 0x01020304,
	GPULEAK_PAGE = 4096, /* sections begin at multiples of it */
	GPULEAK_SECTIONS_MAX = 64,
	GPULEAK_DEVICES_MAX = 16, /* devices of one process */
	GPULEAK_BIRTHS = 32,	  /* birth entries of a site */
	GPULEAK_DEATHS = 24,	  /* classes of age at death, log2 of steps */
	GPULEAK_LEVELS = 32,	  /* buckets of a site's live series */
	GPULEAK_HOST_LEVELS = 64, /* buckets of the host memory's series */
	GPULEAK_DRIVER_LEVELS = 32,
	GPULEAK_SLOTS = 2, /* traces in a file with slots */
};

/* Numbers are never used again. */
enum gpuleak_section_kind {
	GPULEAK_SECTION_RUN = 1,      /* one struct gpuleak_run */
	GPULEAK_SECTION_STATE = 2,    /* one struct gpuleak_state */
	GPULEAK_SECTION_STRINGS = 3,  /* item 4: u32 length, bytes, zeros up to a multiple of 4 */
	GPULEAK_SECTION_FRAMES = 4,   /* struct gpuleak_frame */
	GPULEAK_SECTION_STACKS = 5,   /* item 4: u32 count, u32 flags, count frame ids */
	GPULEAK_SECTION_SITES = 6,    /* struct gpuleak_site */
	GPULEAK_SECTION_EVIDENCE = 7, /* struct gpuleak_evidence */
	GPULEAK_SECTION_DEVICES = 8,  /* struct gpuleak_device */
	GPULEAK_SECTION_TIMELINE = 9, /* struct gpuleak_timeline_entry, two halves a device */
	GPULEAK_SECTION_NOTES = 10,   /* struct gpuleak_note */
	GPULEAK_SECTION_RING = 11,    /* struct gpuleak_ring_page */
	GPULEAK_SECTION_HOST = 12,    /* one struct gpuleak_host */
	GPULEAK_SECTION_DRIVER = 13,  /* struct gpuleak_driver, as the devices */
};

/* One part of the file.  A reader skips kinds it doesn't know. */
struct gpuleak_section {
	uint32_t kind;	    /* enum gpuleak_section_kind */
	uint32_t item_size; /* bytes; may grow with a minor version */
	uint64_t offset;    /* bytes from the file's start, a multiple of GPULEAK_PAGE */
	uint64_t size;	    /* bytes */
};
_Static_assert(sizeof(struct gpuleak_section) == 24, "on-disk size");

struct gpuleak_file_header {
	char magic[8];
	uint16_t major; /* another one: refuse */
	uint16_t minor; /* a newer one: read on */
	uint32_t header_size;
	uint32_t byte_order; /* GPULEAK_BYTE_ORDER as the writer's machine stores it */
	uint32_t section_count;
	uint64_t file_size; /* bytes */
	struct gpuleak_section sections[GPULEAK_SECTIONS_MAX];
};
_Static_assert(sizeof(struct gpuleak_file_header) == 32 + 64 * 24, "on-disk size");

/* A whole trace within a file; what it calls the file's start is `offset`. */
struct gpuleak_slot {
	uint64_t written; /* the writing that filled it, counted from 1; 0: being written */
	uint64_t offset;  /* bytes from the file's start */
};
_Static_assert(sizeof(struct gpuleak_slot) == 16, "on-disk size");

/*
 * The start of a file that is not mapped but written at marks, as on a network's file
 * system: two whole traces, written in turn, so that one of them is always whole.
 */
struct gpuleak_slots {
	char magic[8]; /* GPULEAK_SLOTS_MAGIC */
	uint16_t major;
	uint16_t minor;
	uint32_t header_size;
	uint32_t byte_order;
	uint32_t slot_count; /* 2 */
	uint64_t slot_size;  /* bytes */
	struct gpuleak_slot slots[GPULEAK_SLOTS];
};
_Static_assert(sizeof(struct gpuleak_slots) == 64, "on-disk size");

/* A string's id is its offset in the strings' section divided by 4; 0: none. */
typedef uint32_t gpuleak_string_id;

enum gpuleak_run_flags {
	GPULEAK_RUN_SIMULATED = 1u << 0,     /* on the simulated GPU */
	GPULEAK_RUN_PYTHON_STACKS = 1u << 1, /* Python stacks are on */
	GPULEAK_RUN_NATIVE_STACKS = 1u << 2, /* native stacks are on */
	GPULEAK_RUN_DESCRIBED = 1u << 3,     /* the agent filled in what Python knows */
	GPULEAK_RUN_OPTIMIZER_HOOKS = 1u << 4,
	GPULEAK_RUN_COLLECTIONS = 1u << 5, /* frees of Python's garbage collection are counted */
};

/* What ran.  Strings that become known later are filled in by one store each. */
struct gpuleak_run {
	uint32_t pid;
	uint32_t flags;		 /* enum gpuleak_run_flags */
	int32_t rank;		 /* -1: none */
	int32_t world_size;	 /* -1: unknown */
	uint64_t started;	 /* wall clock, ns since 1970, at the trace's creation */
	uint64_t ring_page_size; /* bytes */
	gpuleak_string_id host;
	gpuleak_string_id argv;		/* arguments, each ended by a NUL */
	gpuleak_string_id folder;	/* where the program started */
	gpuleak_string_id program;	/* the executable */
	gpuleak_string_id python;	/* "3.11.7" */
	gpuleak_string_id torch;	/* "2.15.0+cu132" */
	gpuleak_string_id cuda;		/* "13.2" */
	gpuleak_string_id tracer;	/* version of the tracer */
	gpuleak_string_id stdlib;	/* folders of the standard library, each ended by a NUL */
	gpuleak_string_id packages;	/* folders of installed packages, each ended by a NUL */
	gpuleak_string_id main_file;	/* __main__.__file__ */
	gpuleak_string_id main_package; /* __main__.__package__: `python -m package` */
	gpuleak_string_id python_why;	/* why there are no Python stacks */
	gpuleak_string_id native_why;	/* why there are no native stacks */
	gpuleak_string_id optimizer;	/* class of the optimizer that is the clock */
	gpuleak_string_id empty_why;	/* why there is nothing in this trace */
	uint64_t run_started;		/* GPULEAK_RUN_STARTED, ns since 1970; 0: not given */
};
_Static_assert(sizeof(struct gpuleak_run) == 104, "on-disk size");

enum gpuleak_status {
	GPULEAK_STATUS_RUNNING = 1,
	GPULEAK_STATUS_FINISHED = 2, /* the process ended through exit */
	GPULEAK_STATUS_GAVE_UP = 3,  /* the tracer stopped recording: see `gave_up_why` */
};

enum gpuleak_clock {
	GPULEAK_CLOCK_NONE = 0,
	GPULEAK_CLOCK_OPTIMIZER = 1,
	GPULEAK_CLOCK_EXPLICIT = 2,
	GPULEAK_CLOCK_BACKWARD = 3,
	GPULEAK_CLOCK_MODULE = 4,
	GPULEAK_CLOCK_LOOP = 5,
	GPULEAK_CLOCK_NVTX = 6,
	GPULEAK_CLOCK_TIME = 7,
};

/* What a mark says of the whole process. */
struct gpuleak_mark_version {
	uint64_t mark;		   /* 0: never written */
	uint64_t when;		   /* ns since the trace's creation */
	uint64_t events;	   /* allocations and frees seen up to it */
	uint32_t parameters_count; /* of the same optimizer; 0: unknown */
	uint32_t reserved;
	uint64_t parameters_bytes; /* on GPUs, of the largest optimizer seen; 0: unknown */
};
_Static_assert(sizeof(struct gpuleak_mark_version) == 40, "on-disk size");

/*
 * Each field is one aligned store, right by itself at any moment.  The counts of
 * append-only sections are raised after what they count is written.
 */
struct gpuleak_state {
	uint64_t begun;	    /* the mark under way: raised before its first store */
	uint64_t committed; /* the last whole mark: raised after its last store */
	struct gpuleak_mark_version marks[2];
	uint32_t status; /* enum gpuleak_status */
	uint32_t clock;	 /* enum gpuleak_clock */
	gpuleak_string_id gave_up_why;
	uint32_t devices;	   /* items of the devices' section in use */
	uint64_t strings_used;	   /* bytes */
	uint64_t frames_used;	   /* items */
	uint64_t stacks_used;	   /* 4-byte words */
	uint64_t sites_used;	   /* items */
	uint64_t evidence_used;	   /* items */
	uint64_t notes_used;	   /* items */
	uint64_t ring_claimed;	   /* ring pages ever claimed */
	uint64_t dropped_events;   /* events not recorded at all */
	uint64_t dropped_sites;	   /* stacks counted under an overflow site instead of their own */
	uint64_t dropped_blocks;   /* live blocks that found no room in the block table */
	uint64_t dropped_evidence; /* sites that hold memory and found no room for evidence */
	uint64_t dropped_notes;
	uint64_t unknown_frees; /* frees of addresses that were not seen to be allocated */
	uint64_t replaced;	/* allocations at an address that was live */
	uint64_t paused_events; /* events while recording was paused */
	uint64_t finished;	/* ns since the trace's creation; 0: not finished */
};
_Static_assert(sizeof(struct gpuleak_state) == 240, "on-disk size");

enum gpuleak_language {
	GPULEAK_LANGUAGE_PYTHON = 1,
	GPULEAK_LANGUAGE_NATIVE = 2,
};

struct gpuleak_frame {
	uint64_t offset; /* Python: bytes into the bytecode; native: into the module */
	uint32_t language;
	uint32_t line;	     /* 0: unknown */
	uint32_t first_line; /* of the function; 0: unknown */
	gpuleak_string_id file;
	gpuleak_string_id function; /* Python: co_name; native: raw symbol */
	gpuleak_string_id qualname;
	gpuleak_string_id module;   /* native: path of the loaded object */
	gpuleak_string_id build_id; /* native: hexadecimal */
};
_Static_assert(sizeof(struct gpuleak_frame) == 40, "on-disk size");

enum gpuleak_stack_flags {
	GPULEAK_STACK_CUT = 1u << 0, /* the outermost frames were dropped */
	/* Bits from here up: so many of the outermost are of who called backward(); from 2.1 on. */
	GPULEAK_STACK_CALLER_SHIFT = 16,
};

enum gpuleak_source {
	GPULEAK_SOURCE_TORCH = 1,  /* PyTorch's caching allocator */
	GPULEAK_SOURCE_CUDART = 2, /* cudaMalloc */
};

enum gpuleak_site_flags {
	GPULEAK_SITE_OVERFLOW = 1u << 0,  /* stands for all stacks that found no room */
	GPULEAK_SITE_SEGMENT = 1u << 1,	  /* cudaMalloc called by PyTorch's allocator */
	GPULEAK_SITE_BACKWARD = 1u << 2,  /* a thread of autograd, without Python frames */
	GPULEAK_SITE_OPTIMIZER = 1u << 3, /* allocates within an optimizer's step() */
	GPULEAK_SITE_WORKSPACE = 1u << 4, /* what cuBLAS was given to work in, of that stack */
	GPULEAK_SITE_COPIED = 1u << 5,	  /* of that stack: loaded, then copied elsewhere; 2.1 */
};

/* A site's statistics at a mark. */
struct gpuleak_site_version {
	uint64_t mark; /* the mark that wrote it; 0: never */
	uint64_t allocs;
	uint64_t frees;
	uint64_t alloc_bytes;
	uint64_t live_bytes;
	/*
	 * Bytes live at the device's highest peak, if `peak_epoch` is the device's;
	 * else the site has not changed since that peak and held `live_bytes`.
	 */
	uint64_t peak_bytes;
	uint32_t peak_epoch;
	uint32_t live_blocks;
	uint32_t first_step; /* of its first allocation */
	uint32_t last_step;  /* of its latest allocation or free */
	uint32_t max_age;    /* steps, of a block that was freed */
	uint32_t rounds;     /* steps that left something alive at their own mark */
	uint32_t evidence; /* item of the evidence section, from 1; 0: holds nothing across marks */
	uint32_t filled; /* blocks copied to from the host in their first step, not 0 alone; 1.2 */
};
_Static_assert(sizeof(struct gpuleak_site_version) == 80, "on-disk size");

/* One call stack that allocates, on one device.  Only the versions and SITE_COPIED change. */
struct gpuleak_site {
	uint64_t key;	/* hash of the stack's content */
	uint32_t stack; /* word in the stacks' section */
	uint16_t device;
	uint8_t source; /* enum gpuleak_source */
	uint8_t flags;	/* enum gpuleak_site_flags */
	uint64_t reserved[2];
	struct gpuleak_site_version versions[2];
};
_Static_assert(sizeof(struct gpuleak_site) == 192, "on-disk size");

/* Survivors born in steps [bucket << shift, (bucket + 1) << shift). */
struct gpuleak_birth {
	uint32_t bucket;
	uint32_t count; /* blocks */
	uint64_t bytes;
};
_Static_assert(sizeof(struct gpuleak_birth) == 16, "on-disk size");

/* A site's live bytes and blocks at the marks of steps [i << shift, (i + 1) << shift). */
struct gpuleak_level {
	uint64_t min_bytes;
	uint64_t max_bytes;
	uint32_t min_blocks;
	uint32_t max_blocks;
};
_Static_assert(sizeof(struct gpuleak_level) == 24, "on-disk size");

/*
 * The birth-step evidence of a site at a mark.  Births describe the blocks alive
 * at that mark exactly; only their birth steps are as coarse as 1 << birth_shift.
 */
struct gpuleak_evidence_version {
	uint64_t mark; /* 0: never */
	uint32_t birth_shift;
	uint32_t birth_count; /* entries in use, by ascending bucket */
	uint32_t level_shift;
	uint32_t level_count; /* buckets in use; later marks have the site's live bytes */
	uint32_t deaths[GPULEAK_DEATHS]; /* by log2 of the age in steps: 0; 1; 2-3; 4-7; ... */
	struct gpuleak_birth births[GPULEAK_BIRTHS];
	struct gpuleak_level levels[GPULEAK_LEVELS];
};
_Static_assert(sizeof(struct gpuleak_evidence_version) == 24 + 96 + 512 + 768, "on-disk size");

/*
 * How a site's blocks pile up and go, at the marks.  A tooth is a rise and the fall after
 * it, of at least 3 blocks and half of the tallest one so far; it is over when the next
 * one rises.  One of more than twice that height makes ripples of all before: it is the first.
 */
struct gpuleak_teeth {
	uint32_t count;
	uint32_t first_step; /* in which the first one had fallen to its lowest */
	uint32_t last_step;  /* the same of the latest one */
	uint32_t shortest;   /* steps between two of them; 0: there aren't two */
	uint32_t longest;
	uint32_t tallest; /* blocks */
	uint32_t highest; /* top of the one under way ... */
	uint32_t lowest;  /* ... and to what it has fallen, in step ... */
	uint32_t lowest_step;
	uint32_t falling;   /* 1: it has, so far as to be one */
	uint32_t collected; /* blocks that outlived their step and went in a garbage collection */
};
_Static_assert(sizeof(struct gpuleak_teeth) == 44, "on-disk size");

struct gpuleak_evidence {
	uint32_t site; /* item of the sites' section */
	uint32_t reserved;
	struct gpuleak_evidence_version versions[2];
	struct gpuleak_teeth teeth[2]; /* as `versions`; from 1.2 on */
};
_Static_assert(sizeof(struct gpuleak_evidence) == 8 + 2 * 1400 + 2 * 44, "on-disk size");

/* One or more neighbouring steps of a device. */
struct gpuleak_timeline_entry {
	uint32_t first_step;
	uint32_t last_step;
	uint64_t when;	    /* ns since the trace's creation, at the last step's mark */
	uint64_t allocated; /* bytes at the last step's mark */
	uint64_t peak;	    /* highest allocated within the steps */
	uint64_t trough;    /* lowest allocated within the steps */
	uint64_t reserved;  /* bytes at the last step's mark */
};
_Static_assert(sizeof(struct gpuleak_timeline_entry) == 48, "on-disk size");

struct gpuleak_device_version {
	uint64_t mark; /* 0: never */
	uint64_t allocated;
	uint64_t reserved;
	uint64_t peak; /* highest allocated up to the mark */
	uint64_t peak_reserved;
	uint64_t first_allocated; /* at mark 1 */
	uint64_t first_reserved;
	uint64_t outside; /* bytes from cudaMalloc that PyTorch did not ask for */
	uint64_t outside_peak;
	uint64_t allocs;     /* PyTorch's allocations */
	uint32_t blocks;     /* PyTorch's live blocks */
	uint32_t peak_epoch; /* counts new peaks; see struct gpuleak_site_version */
	uint32_t peak_step;
	uint32_t outside_epoch;	 /* the same for cudaMalloc's peak */
	uint32_t timeline_half;	 /* 0 or 1: which half of the device's share is in use */
	uint32_t timeline_count; /* whole entries in it */
	uint32_t timeline_shift; /* an entry is 1 << shift steps */
	uint32_t reserved_word;
	struct gpuleak_timeline_entry open; /* the entry being filled; first_step 0: none */
};
_Static_assert(sizeof(struct gpuleak_device_version) == 160, "on-disk size");

/* A device's share of the timeline: section size / GPULEAK_DEVICES_MAX, by item number. */
struct gpuleak_device {
	uint32_t device; /* PyTorch's number */
	gpuleak_string_id name;
	gpuleak_string_id uuid;
	uint32_t reserved;
	uint64_t capacity; /* bytes; 0: unknown */
	struct gpuleak_device_version versions[2];
};
_Static_assert(sizeof(struct gpuleak_device) == 344, "on-disk size");

/* The process's memory at the marks of steps [i << shift, (i + 1) << shift), in bytes. */
struct gpuleak_host_level {
	uint64_t min_own;
	uint64_t max_own;
	uint64_t min_pinned;
	uint64_t max_pinned;
};
_Static_assert(sizeof(struct gpuleak_host_level) == 32, "on-disk size");

/* Host memory at a mark, in bytes. */
struct gpuleak_host_version {
	uint64_t mark;		 /* 0: never */
	uint64_t resident;	 /* of the process; 0: unknown */
	uint64_t own;		 /* of that: no file's, not shared, not the tracer's; 0: unknown */
	uint64_t pinned;	 /* page-locked by the CUDA runtime */
	uint64_t first_resident; /* at the first mark */
	uint64_t first_pinned;
	uint64_t peak_resident; /* at marks */
	uint64_t peak_pinned;
	uint32_t level_shift;
	uint32_t level_count; /* buckets in use, the last one still open */
	struct gpuleak_host_level levels[GPULEAK_HOST_LEVELS];
};
_Static_assert(sizeof(struct gpuleak_host_version) == 72 + 64 * 32, "on-disk size");

struct gpuleak_host {
	struct gpuleak_host_version versions[2];
};
_Static_assert(sizeof(struct gpuleak_host) == 4240, "on-disk size");

/* What nobody accounts for at the marks of steps [i << shift, (i + 1) << shift), in bytes. */
struct gpuleak_driver_level {
	uint64_t min_other;
	uint64_t max_other;
};
_Static_assert(sizeof(struct gpuleak_driver_level) == 16, "on-disk size");

/* What the program heard from cudaMemGetInfo(), at the first mark after that. */
struct gpuleak_driver_version {
	uint64_t mark;	/* 0: never */
	uint64_t asked; /* times */
	uint64_t total; /* bytes of the device */
	uint64_t other; /* bytes in use that neither PyTorch reserved nor cudaMalloc gave */
	uint64_t first_other;
	uint64_t peak_other;
	uint32_t level_shift;
	uint32_t level_count; /* buckets in use, the last one still open */
	struct gpuleak_driver_level levels[GPULEAK_DRIVER_LEVELS];
};
_Static_assert(sizeof(struct gpuleak_driver_version) == 56 + 32 * 16, "on-disk size");

struct gpuleak_driver {
	struct gpuleak_driver_version versions[2];
};
_Static_assert(sizeof(struct gpuleak_driver) == 1136, "on-disk size");

enum gpuleak_note_kind {
	GPULEAK_NOTE_OOM = 1,		 /* an allocation that PyTorch could not serve */
	GPULEAK_NOTE_PHASE = 2,		 /* gpuleak_mark() */
	GPULEAK_NOTE_CLOCK = 3,		 /* from here on a turn begins where `stack` allocates */
	GPULEAK_NOTE_OPTIMIZERS_OFF = 4, /* steps aren't counted: `text` says why; 2.1 */
};

struct gpuleak_note {
	uint32_t kind;
	uint32_t step; /* the step under way */
	uint64_t when; /* ns since the trace's creation */
	uint32_t device;
	uint32_t stack;		/* word in the stacks' section; OOM */
	uint64_t size;		/* bytes asked for; OOM */
	uint64_t allocated;	/* bytes then; OOM */
	uint64_t held;		/* reserved bytes then; OOM */
	gpuleak_string_id text; /* the phase's name; why optimizers are off */
	uint32_t reserved;
};
_Static_assert(sizeof(struct gpuleak_note) == 56, "on-disk size");

enum gpuleak_event_kind {
	GPULEAK_EVENT_ALLOC = 1,     /* PyTorch's allocator gave out a block */
	GPULEAK_EVENT_FREE = 2,	     /* ... got it back */
	GPULEAK_EVENT_MALLOC = 3,    /* cudaMalloc */
	GPULEAK_EVENT_CUDA_FREE = 4, /* cudaFree */
	GPULEAK_EVENT_RESERVED = 5,  /* size: reserved bytes from here on */
	GPULEAK_EVENT_MARK = 6,	     /* step: the step that ended */
	GPULEAK_EVENT_OOM = 7,	     /* size: bytes asked for */
	GPULEAK_EVENT_RESTART = 8,   /* all before is of step 0: a higher clock was found */
};

enum {
	GPULEAK_SITE_NONE = 0xffffffffu
};

struct gpuleak_event {
	uint64_t address;
	int64_t size;  /* bytes; negative for frees */
	uint64_t when; /* bits 0-55: 100 ns units since the trace's creation; 56-63: kind, 0: empty
			*/
	uint32_t site; /* item of the sites' section, or GPULEAK_SITE_NONE */
	uint32_t step; /* the step under way */
};
_Static_assert(sizeof(struct gpuleak_event) == 32, "on-disk size");

enum {
	GPULEAK_RING_EVENTS = GPULEAK_PAGE / sizeof(struct gpuleak_event) - 1
};

/*
 * Events of one device, in order; the first without a kind ends them, and what lies behind it
 * is of an earlier claim.  Page n of the ring holds the claim with the highest `sequence` that
 * is n modulo the number of pages.
 */
struct gpuleak_ring_page {
	uint64_t sequence;  /* from 1, over all devices; 0: being made ready */
	uint64_t allocated; /* PyTorch's totals before the first event */
	uint64_t reserved;
	uint32_t device;
	uint32_t padding;
	struct gpuleak_event events[GPULEAK_RING_EVENTS];
};
_Static_assert(sizeof(struct gpuleak_ring_page) == GPULEAK_PAGE, "on-disk size");

#endif
