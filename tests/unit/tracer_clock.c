/* How many steps a sequence of optimizers' steps makes: one letter an optimizer, '.' a backward
 * pass. */
#include "tracer/clock.h"

#include "test.h"

static unsigned marks(const char *sequence)
{
	unsigned count = 0, passes = 0;

	clock_forget();
	for (; *sequence; sequence++) {
		if (*sequence == '.')
			passes++;
		else
			count += clock_stepped((unsigned char)*sequence, passes);
	}
	return count;
}

#define EXPECT_MARKS(sequence, expected)                                                          \
	do {                                                                                      \
		unsigned test_marks = marks(sequence);                                            \
                                                                                                  \
		if (test_marks != (expected)) {                                                   \
			test_failed(__FILE__, __LINE__);                                          \
			fprintf(stderr, "%s makes %u steps, expected %u\n", sequence, test_marks, \
				(unsigned)(expected));                                            \
		}                                                                                 \
	} while (0)

int main(void)
{
	/* One optimizer. */
	EXPECT_MARKS("aaaaaaaa", 8);
	/* Two that alternate: a turn of the loop is one step. */
	EXPECT_MARKS("abababab", 4);
	EXPECT_MARKS("abcabcabc", 3);
	/* A GAN: a turn of the loop is a step of the critic, the generator joins every fifth. */
	EXPECT_MARKS("dddddgdddddgdddddg", 15);
	EXPECT_MARKS("ddgddgddgddg", 8);
	EXPECT_MARKS("ddddddddddddgddddddddddddgdddddddddddd", 36);
	/* An optimizer per parameter, run within backward; one parameter has gradients late. */
	EXPECT_MARKS("abcdefghabcdefghabcdefgh", 3);
	EXPECT_MARKS("abcabcabcabxcabxcabxcabxc", 7);
	/* A new optimizer per trial, or a new pair of them: no step is lost. */
	EXPECT_MARKS("aaaaabbbbbccccc", 15);
	EXPECT_MARKS("aabbccddee", 10);
	EXPECT_MARKS("abababcdcdcdefefef", 9);
	/* The same optimizers trial after trial. */
	EXPECT_MARKS("aaaaaaaaaaaabbbbbbbbbbbbaaaaaaaaaaaa", 36);
	EXPECT_MARKS("aaaaabbbbbaaaaabbbbb", 20);
	/* A second one that joins late. */
	EXPECT_MARKS("aaaabababab", 7);
	/* The lead falls silent for good. */
	EXPECT_MARKS("abababbbbb", 7);
	/* Trials of a single step with a new optimizer each: three are lost until that is clear. */
	EXPECT_MARKS(".a.b.c.d.e.f.g.h.i.j.k.l", 9);
	EXPECT_MARKS(".aA.bB.cC.dD.eE.fF.gG.hH", 5);
	/* An optimizer per layer, all after one backward pass. */
	EXPECT_MARKS(".abcdefghijklmnop.abcdefghijklmnop.abcdefghijklmnop", 3);
	EXPECT_MARKS("abcdefghijklmnop.abcdefghijklmnop.abcdefghijklmnop.", 3);
	/* Agents that learn one after the other: their first turn may count more than once. */
	EXPECT_MARKS(".a.b.c.d.a.b.c.d.a.b.c.d", 3);
	EXPECT_MARKS(".a.b.c.d.e.f.a.b.c.d.e.f.a.b.c.d.e.f", 5);
	/* A new optimizer within each step of another, as in meta-learning. */
	EXPECT_MARKS(".a.m.b.m.c.m.d.m.e.m.f.m", 6);
	return test_result();
}
