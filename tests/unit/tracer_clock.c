/* How many steps a sequence of optimizers' steps makes: one letter an optimizer. */
#include "tracer/clock.h"

#include "test.h"

static unsigned marks(const char *sequence)
{
	unsigned count = 0;

	clock_forget();
	for (; *sequence; sequence++)
		count += clock_stepped((unsigned char)*sequence);
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
	return test_result();
}
