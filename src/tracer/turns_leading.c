#include "tracer/turns_leading.h"

#include <pthread.h>

#include "tracer/banned.h"

enum {
	TURNS_A_CALL = 2, /* of a module: more, and a loop's turn has several calls */
};

/* One word, changed by compare-and-swap. */
union leading {
	struct {
		uint8_t device; /* from 1; 0: none */
		uint8_t class;	/* enum turns_class */
		uint8_t rare;	/* turns of the one before, within one of its own */
		bool go_on;	/* a loop before this one had turns: they count on */
		uint32_t turns; /* of all that have led */
	};
	uint64_t word;
};
_Static_assert(sizeof(union leading) == 8, "changed as one word");

static struct {
	uint64_t word;	 /* union leading */
	uint64_t thread; /* that the latest turn began on */
	uint32_t count;	 /* turns that began with its stack */
} shared __attribute__((aligned(256)));

static union leading look(void)
{
	return (union leading){.word = __atomic_load_n(&shared.word, __ATOMIC_RELAXED)};
}

static bool change(union leading from, union leading to)
{
	return __atomic_compare_exchange_n(&shared.word, &from.word, to.word, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void turns_leading_forget(void)
{
	__atomic_store_n(&shared.word, 0, __ATOMIC_RELAXED);
}

bool turns_leading_nobody(void)
{
	return look().device == 0;
}

void turns_leading_ends_phase(uint32_t device)
{
	union leading now = look(), next = now;

	next.go_on = true;
	while (now.device == device + 1 && !now.go_on && !change(now, next)) {
		now = next = look();
		next.go_on = true;
	}
}

/*
 * How long to wait for the leading device, in allocations on this one.  Before its gap is known
 * it is taken for one that this device's turns have, too.
 */
static uint64_t patience(union leading now, const struct turns_own *own,
			 const struct turns_heard *heard)
{
	uint64_t gap = own->gap * now.rare;

	return TURNS_SILENT_GAPS * (heard->gap > gap ? heard->gap : gap) + TURNS_SILENT_LEAST;
}

static bool is_silent(union leading now, const struct turns_own *own,
		      const struct turns_heard *heard)
{
	return heard->now && heard->turns == now.turns &&
	       own->now - heard->now > patience(now, own, heard);
}

/*
 * As within one device.  That a loop calls modules is told by the leading device's turns since this
 * one's last.  Of two loops within modules the one around the other is better, and two threads'
 * aren't that.
 */
static bool is_better(union leading now, const struct turns_own *own,
		      const struct turns_heard *heard)
{
	uint32_t turns = now.turns - heard->turns;
	uint32_t count = __atomic_load_n(&shared.count, __ATOMIC_RELAXED);

	if (!heard->now || !own->regular || own->count < TURNS_RECUR || turns > TURNS_RATIO ||
	    count / own->count > TURNS_RATIO || own->class > now.class)
		return false;
	if (own->class == now.class)
		return own->class == CLASS_MODULE && turns > TURNS_A_CALL &&
		       2 * own->count < count &&
		       __atomic_load_n(&shared.thread, __ATOMIC_RELAXED) == pthread_self();
	if (own->class == CLASS_LOOP && now.class == CLASS_MODULE)
		return turns <= TURNS_A_CALL &&
		       count <= TURNS_A_CALL * own->count + own->count / 2 + 1;
	return true;
}

static void hear(union leading now, const struct turns_own *own, struct turns_heard *heard)
{
	uint64_t gap = own->now - heard->now, most = patience(now, own, heard);

	if (!heard->now) {
		*heard = (struct turns_heard){.now = own->now, .turns = now.turns};
		return;
	}
	/* Another stack leads on this device, perhaps. */
	if (heard->count >= own->count)
		heard->count = own->count - 1;
	if (heard->turns == now.turns)
		return;
	if (gap > heard->gap)
		heard->gap = gap < most ? gap : most;
	heard->turns = now.turns;
	heard->now = own->now;
	heard->count = own->count - 1;
}

void turns_leading_ask(const struct turns_own *own, struct turns_heard *heard,
		       struct turns_answer *answer)
{
	union leading now = look(), next = now;
	bool taken = now.device != own->device + 1;
	bool silent = taken && now.device && is_silent(now, own, heard);
	bool better = taken && (!now.device || is_better(now, own, heard));
	uint32_t turns = now.turns - heard->turns;

	*answer = (struct turns_answer){0};
	if (taken)
		hear(now, own, heard);
	if (taken && !silent && !better)
		return;
	if (taken)
		next.rare = (uint8_t)(turns < 1 ? 1 : turns > TURNS_RATIO ? TURNS_RATIO : turns);
	next.device = (uint8_t)(own->device + 1);
	next.class = (uint8_t)own->class;
	next.go_on = now.go_on || silent;
	next.turns++;
	/* It fails only if another one took over. */
	if (!change(now, next))
		return;
	__atomic_store_n(&shared.count, own->count, __ATOMIC_RELAXED);
	__atomic_store_n(&shared.thread, pthread_self(), __ATOMIC_RELAXED);
	answer->leads = true;
	answer->taken = taken;
	answer->anew = !next.go_on;
	answer->uncounted = own->count - heard->count;
	heard->turns = next.turns;
	heard->now = own->now;
	heard->count = own->count;
}
