/* How many steps a sequence of optimizers' steps makes: one letter an optimizer. */
#include "tracer/clock.h"

#include "test.h"

static unsigned marks(const char *sequence)
{
	static const char optimizers[256];
	unsigned count = 0;

	clock_forget();
	for (; *sequence; sequence++)
		count += clock_stepped(&optimizers[(unsigned char)*sequence]);
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
	/* A GAN with five steps of the critic. */
	EXPECT_MARKS("dddddgdddddgdddddg", 15);
	/* An optimizer per parameter, run within backward. */
	EXPECT_MARKS("abcdefghabcdefghabcdefgh", 3);
	/* A new optimizer per trial: no step is lost. */
	EXPECT_MARKS("aaaaabbbbbccccc", 15);
	/* The same optimizers trial after trial. */
	EXPECT_MARKS("aaaaaaaaaaaabbbbbbbbbbbbaaaaaaaaaaaa", 36);
	/* A second one that joins late: one step more, once. */
	EXPECT_MARKS("aaaaabababab", 9);
	/* The lead falls silent for good. */
	EXPECT_MARKS("abababbbbb", 7);
	return test_result();
}
