#include "tracer/backward_pass.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tracer/hot.h"
#include "tracer/ledger.h"
#include "tracer/stack.h"
#include "tracer/thread.h"
#include "tracer/tracer.h"

#include "tracer/banned.h"

enum {
	KNOWN = 64 /* a power of two */
};

/* A stack that called backward(), by the hash of its addresses: see `known_epoch`. */
struct known {
	uint64_t hash;
	uint32_t word; /* 0: free */
};

HOT_DATA uint32_t backward_common;

static pthread_mutex_t passes_lock = PTHREAD_MUTEX_INITIALIZER;

/* Guarded by passes_lock. */
static uint32_t under_way;	  /* passes */
static uint32_t first_caller;	  /* of the first of them */
static uint32_t of_first;	  /* so many have the same */
static struct known known[KNOWN]; /* a newer one takes an older one's place */
static uint32_t known_epoch;	  /* what `known` is good for: ledger_addresses_epoch() */

/* The thread's own pass.  One that was left by longjmp() is there until the next begins. */
static _Thread_local struct {
	bool under_way;
	uint32_t caller;
} own __attribute__((tls_model("initial-exec")));

void backward_forget(void)
{
	pthread_mutex_init(&passes_lock, NULL);
	under_way = first_caller = of_first = 0;
	backward_common = 0;
	memset(known, 0, sizeof(known));
	own.under_way = false;
}

/* Caller holds passes_lock. */
static void publish(void)
{
	bool one = under_way && of_first == under_way;

	__atomic_store_n(&backward_common, one ? first_caller : 0, __ATOMIC_RELEASE);
}

void backward_ends(void)
{
	if (!own.under_way)
		return;
	own.under_way = false;
	pthread_mutex_lock(&passes_lock);
	under_way--;
	of_first -= own.caller == first_caller;
	publish();
	pthread_mutex_unlock(&passes_lock);
}

static void begin(uint32_t caller)
{
	own.under_way = true;
	own.caller = caller;
	pthread_mutex_lock(&passes_lock);
	if (!under_way)
		first_caller = caller;
	under_way++;
	of_first += caller == first_caller;
	publish();
	pthread_mutex_unlock(&passes_lock);
}

static uint32_t find_known(uint64_t hash, uint32_t epoch)
{
	const struct known *at = &known[hash % KNOWN];
	uint32_t word;

	pthread_mutex_lock(&passes_lock);
	word = known_epoch == epoch && at->hash == hash ? at->word : 0;
	pthread_mutex_unlock(&passes_lock);
	return word;
}

static void make_known(uint64_t hash, uint32_t epoch, uint32_t word)
{
	pthread_mutex_lock(&passes_lock);
	if (known_epoch != epoch)
		memset(known, 0, sizeof(known));
	known_epoch = epoch;
	known[hash % KNOWN] = (struct known){hash, word};
	pthread_mutex_unlock(&passes_lock);
}

/* 0: it has no Python frames, or there is no room. */
static uint32_t find_caller(const uintptr_t *frame)
{
	struct stack *stack = thread_stack();
	uint32_t epoch = ledger_addresses_epoch(); /* before the look at addresses */
	uint32_t word;
	uint64_t key;

	if (!stack)
		return 0;
	stack_capture(stack, frame);
	stack->caller = 0; /* a caller's own stack alone: what is added to another one has an end */
	if (stack->kind != STACK_PYTHON)
		return 0;
	word = find_known(stack->hash, epoch);
	if (word)
		return word;
	if (!stack_write(stack, &word, &key))
		return 0;
	make_known(stack->hash, epoch, word);
	return word;
}

void backward_begins(const uintptr_t *frame)
{
	int saved = errno;

	backward_ends();
	begin(tracer_recording() ? find_caller(frame) : 0);
	errno = saved;
}
