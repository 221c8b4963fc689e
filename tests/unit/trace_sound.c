/* Which copies of a trace, made beside its writer, belong together. */
#include "trace/sound.h"

#include "test.h"

static struct gpuleak_state state_at(uint64_t mark, uint64_t when)
{
	struct gpuleak_state state = {.begun = mark, .committed = mark};

	state.marks[mark & 1] = (struct gpuleak_mark_version){.mark = mark, .when = when};
	return state;
}

/* Its next mark, made at `when`. */
static struct gpuleak_state next(struct gpuleak_state state, uint64_t when)
{
	uint64_t mark = state.committed + 1;

	state.begun = state.committed = mark;
	state.marks[mark & 1] = (struct gpuleak_mark_version){.mark = mark, .when = when};
	return state;
}

static void marks_go_on(void)
{
	struct gpuleak_state at = state_at(7, 700), now = at;

	EXPECT(sound_copy(&at, &now, 7));
	now.begun = 8;
	EXPECT(sound_copy(&at, &now, 7));
	now = next(at, 800);
	EXPECT(sound_copy(&at, &now, 7));
	now.begun = 9;
	EXPECT(!sound_copy(&at, &now, 7));
	now = next(now, 900);
	EXPECT(!sound_copy(&at, &now, 7));
}

/* A better clock came while all was copied, and made marks of the same numbers. */
static void begun_anew(void)
{
	struct gpuleak_state at = state_at(1, 100), now = {0};

	EXPECT(!sound_copy(&at, &now, 1));
	now = state_at(1, 300);
	EXPECT(!sound_copy(&at, &now, 1));
	now = next(now, 400);
	EXPECT(!sound_copy(&at, &now, 1));
}

static void no_mark_yet(void)
{
	struct gpuleak_state at = {0}, now = {.begun = 1};

	EXPECT(sound_copy(&at, &now, 0));
	now = state_at(1, 100);
	EXPECT(sound_copy(&at, &now, 0));
	now.begun = 2;
	EXPECT(!sound_copy(&at, &now, 0));
}

/* The number of a damaged `committed` that neither mark bears: there is nothing to compare. */
static void damaged(void)
{
	struct gpuleak_state at = state_at(3, 300);

	at.marks[1].mark = 99;
	EXPECT(sound_copy(&at, &at, 3));
}

int main(void)
{
	marks_go_on();
	begun_anew();
	no_mark_yet();
	damaged();
	return test_result();
}
