/*
 * The ledgers of all devices, each made when its device has its first event.
 */
#include <pthread.h>
#include <string.h>

#include "tracer/hot.h"
#include "tracer/ledger.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

HOT_DATA static struct ledger ledgers[GPULEAK_DEVICES_MAX];

/* Guards what follows, and `used`; taken with nothing but the target's locks held. */
static pthread_mutex_t ledgers_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t first_step; /* of a ledger that is made now: marks before its first event count */
static unsigned count;	    /* read without the lock */

static void open_ledger(struct ledger *ledger, uint32_t device)
{
	ledger->device = device;
	ledger->step = first_step;
	ledger->touched = LEDGER_LIST_END;
	ledger->ring.device = device;
	trace.devices[device].device = device;
	if (trace.state->devices <= device)
		__atomic_store_n(&trace.state->devices, device + 1, __ATOMIC_RELEASE);
	if (count <= device)
		__atomic_store_n(&count, device + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&ledger->used, true, __ATOMIC_RELEASE);
}

__attribute__((cold, noinline)) static struct ledger *make_ledger(uint32_t device)
{
	struct ledger *ledger = &ledgers[device];

	pthread_mutex_lock(&ledgers_lock);
	if (!ledger->used)
		open_ledger(ledger, device);
	pthread_mutex_unlock(&ledgers_lock);
	return ledger;
}

struct ledger *ledger_of(int device)
{
	if (device < 0 || device >= GPULEAK_DEVICES_MAX)
		return NULL;
	if (__atomic_load_n(&ledgers[device].used, __ATOMIC_ACQUIRE))
		return &ledgers[device];
	return make_ledger((uint32_t)device);
}

struct ledger *ledger_if_used(unsigned device)
{
	bool used = device < GPULEAK_DEVICES_MAX &&
		    __atomic_load_n(&ledgers[device].used, __ATOMIC_ACQUIRE);

	return used ? &ledgers[device] : NULL;
}

unsigned ledger_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

void ledger_start_step(uint32_t step)
{
	pthread_mutex_lock(&ledgers_lock);
	first_step = step;
	pthread_mutex_unlock(&ledgers_lock);
}

void ledger_catch_up_all(void)
{
	for (unsigned i = 0; i < ledger_count(); i++) {
		struct ledger *ledger = ledger_if_used(i);

		if (!ledger || !lock_try(&ledger->lock))
			continue;
		ledger_catch_up(ledger);
		lock_give(&ledger->lock);
	}
}

void ledger_forget_all(void)
{
	memset(ledgers, 0, sizeof(ledgers));
	first_step = 0;
	count = 0;
	pthread_mutex_init(&ledgers_lock, NULL);
}
