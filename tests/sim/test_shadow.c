/* What a read from the device gives. */
#include "sim/core/shadow.h"

#include <stdlib.h>

#include "sim/core/lock.h"
#include "test.h"

static const uint64_t place = 0x700000000000;

static uint64_t read_word(uint64_t address)
{
	uint64_t word = ~0ull;

	gpusim_shadow_read(address, &word, sizeof(word));
	return word;
}

static void write_word(uint64_t address, uint64_t word)
{
	gpusim_shadow_write(address, &word, sizeof(word));
}

static void drop(uint64_t address, uint64_t size)
{
	gpusim_lock();
	gpusim_shadow_drop(address, size);
	gpusim_unlock();
}

static void host_writes_come_back(void)
{
	EXPECT_U64(read_word(place), 0);
	write_word(place, 7);
	EXPECT_U64(read_word(place), 7);
	EXPECT_U64(read_word(place + 1), 0); /* not wholly known */
	gpusim_shadow_move(place + 4096, place, 8);
	EXPECT_U64(read_word(place + 4096), 7);
	gpusim_shadow_move(place, place + 8192, 8); /* from what isn't known */
	EXPECT_U64(read_word(place), 0);
	gpusim_shadow_fill(place, 1, 16);
	EXPECT_U64(read_word(place + 8), 0x0101010101010101);
	gpusim_shadow_fill(place, 1, 1 << 20);
	EXPECT_U64(read_word(place), 0);
	drop(place, 1 << 20);
	EXPECT_U64(read_word(place + 4096), 0);
}

/* Several writes that adjoin are read as one; with a gap between them nothing is known. */
static void pieces_are_joined(void)
{
	static const uint32_t words[] = {1, 2, 3};
	uint32_t read[3];

	gpusim_shadow_write(place + 8, &words[2], 4);
	gpusim_shadow_write(place, &words[0], 4);
	gpusim_shadow_read(place, read, sizeof(read));
	EXPECT(read[0] == 0 && read[2] == 0);
	gpusim_shadow_write(place + 4, &words[1], 4);
	gpusim_shadow_read(place, read, sizeof(read));
	EXPECT(memcmp(read, words, sizeof(words)) == 0);
	gpusim_shadow_move(place + 512, place + 2, 8);
	gpusim_shadow_read(place + 514, read, 4);
	EXPECT_U64(read[0], 2);
	drop(place, 1024);
}

static void kernels_take_it_away(void)
{
	uint64_t words[33] = {0};

	write_word(place, 7);
	write_word(place + 512, 8);
	words[32] = place + 515;
	gpusim_shadow_kernel(words, 33);
	EXPECT_U64(read_word(place), 7);
	EXPECT_U64(read_word(place + 512), 0);
	for (int i = 0; i < 300; i++)
		gpusim_shadow_kernel(NULL, 0);
	EXPECT_U64(read_word(place), 0);
}

/* Against a plain array of bytes: known bytes are right ones. */
static void never_wrong(void)
{
	enum {
		SIZE = 8192
	};
	static uint8_t truth[SIZE], bytes[SIZE];
	size_t known = 0, reads = 0;

	srand(1);
	gpusim_shadow_fill(place, 0, 1 << 20);
	for (int turn = 0; turn < 20000; turn++) {
		size_t size = 1 + (size_t)rand() % 64, at = (size_t)rand() % (SIZE - 64);
		size_t to = (size_t)rand() % (SIZE - 64);

		switch (rand() % 3) {
		case 0:
			for (size_t i = 0; i < size; i++)
				truth[at + i] = (uint8_t)(1 + rand() % 255);
			gpusim_shadow_write(place + at, truth + at, size);
			break;
		case 1:
			memmove(truth + to, truth + at, size);
			gpusim_shadow_move(place + to, place + at, size);
			break;
		case 2:
			gpusim_shadow_read(place + at, bytes, size);
			reads++;
			if (!bytes[0] && !bytes[size / 2])
				break;
			EXPECT(memcmp(bytes, truth + at, size) == 0);
			known++;
		}
	}
	EXPECT(known > reads / 20);
	drop(place, 1 << 20);
}

/* A program that only loads: 100,000 writes stay within bounds, and the last ones are known. */
static void bounded(void)
{
	for (uint64_t i = 0; i < 100000; i++) {
		if (i % 100 == 0)
			gpusim_shadow_kernel(NULL, 0);
		write_word(place + i * 512, i + 1);
	}
	EXPECT_U64(read_word(place + 99999 * 512), 100000);
	EXPECT_U64(read_word(place), 0);
	drop(place, 1ull << 32);
}

int main(void)
{
	host_writes_come_back();
	pieces_are_joined();
	kernels_take_it_away();
	never_wrong();
	bounded();
	return test_result();
}
