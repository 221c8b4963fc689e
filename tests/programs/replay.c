/*
 * Replays a list of GPU events through the hooks, each allocation below a call stack
 * of its own.  Usage: replay [FILE], or the list on standard input.  A line each:
 *
 *   a DEVICE ADDRESS SIZE SITE   PyTorch's allocator gives out a block
 *   f DEVICE ADDRESS [SIZE]      ... gets it back; SIZE for one it never gave out
 *   b DEVICE ADDRESS SIZE SITE COUNT   ... gives it out and gets it back, so many times
 *   g DEVICE ADDRESS SIZE SITE   it takes a segment by cudaMalloc
 *   G DEVICE ADDRESS SIZE        ... gives it back by cudaFree
 *   r DEVICE BYTES               its reserved total from now on
 *   o DEVICE SIZE SITE           it is out of memory
 *   c DEVICE ADDRESS SIZE SITE   somebody else calls cudaMalloc
 *   x ADDRESS                    ... cudaFree
 *   m DEVICE ADDRESS KIND        cudaMemcpyAsync() to there, of a cudaMemcpyKind
 *   w DEVICE ADDRESS             cuBLAS is given that to work in
 *   s                            gpuleak_step()
 *   p NAME                       gpuleak_mark(NAME)
 *   z, y                         gpuleak_pause(), gpuleak_resume()
 *   W                            fork(), and wait for the child
 *   F                            the same; no thread but this one may be there
 *   h                            say "holding" and wait for a byte on standard input
 *   e CODE, E CODE               exit(CODE), _exit(CODE)
 *   k                            SIGKILL to itself
 *   t                            SIGSTOP to itself
 *
 * Numbers are decimal, or hexadecimal after 0x.  At its end it prints one line of JSON,
 * and exits with 1 when a call did not reach the real function as it was made.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuleak/gpuleak.h"

#include "fake.h"
#include "leaf_calls.h"
#include "replay_sizes.h"
#include "site_stack.h"

/* Without the tracer there is none of these, and nothing to call. */
#pragma weak gpuleak_step
#pragma weak gpuleak_mark
#pragma weak gpuleak_pause
#pragma weak gpuleak_resume

enum {
	FIELDS = 5,
	NAME_SIZE = 512
};

struct line {
	char kind;
	uint64_t fields[FIELDS];
	unsigned count;
	char name[NAME_SIZE];
};

static uint64_t events, steps, wrong_results;
static struct fake_calls expected; /* of libc10 */

static void expect_report(int device, uint64_t address, int64_t size)
{
	uint64_t number = (uint64_t)FAKE_CUDA << 8 | (uint8_t)device;

	fake_calls_add(&expected, "rm", address ^ number << 48, (uint64_t)size,
		       fake_allocated(device), fake_reserved(device));
}

static void alloc(const struct line *line)
{
	int device = (int)line->fields[0];
	uint64_t address = line->fields[1], size = line->fields[2];

	leaf_alloc((uint32_t)line->fields[3], device, address, size);
	expect_report(device, address, (int64_t)size);
	sizes_put(address, size);
}

static void free_block(const struct line *line)
{
	int device = (int)line->fields[0];
	uint64_t address = line->fields[1];
	uint64_t size = sizes_take(address);

	if (!size)
		size = line->count > 2 ? line->fields[2] : 0;
	fake_free_at(device, address, size);
	expect_report(device, address, -(int64_t)size);
}

static void burst(const struct line *line)
{
	for (uint64_t i = 0; i < line->fields[4]; i++) {
		alloc(line);
		free_block(line);
	}
	events += 2 * line->fields[4];
}

static void out_of_memory(const struct line *line)
{
	int device = (int)line->fields[0];

	fake_out_of_memory(device, line->fields[1]);
	fake_calls_add(&expected, "om", (uint64_t)FAKE_CUDA << 8 | (uint8_t)device, line->fields[1],
		       fake_allocated(device), fake_reserved(device));
}

static void cuda_malloc(const struct line *line)
{
	void *got = NULL;

	cudaSetDevice((int)line->fields[0]);
	fake_cudart_next = line->fields[1];
	if (cudaMalloc(&got, line->fields[2]) != 0 || (uintptr_t)got != line->fields[1])
		wrong_results++;
}

static void copy_to(const struct line *line)
{
	cudaSetDevice((int)line->fields[0]);
	wrong_results += cudaMemcpyAsync((void *)(uintptr_t)line->fields[1], NULL, 512,
					 (int)line->fields[2], NULL) != 0;
}

static void set_workspace(const struct line *line)
{
	cudaSetDevice((int)line->fields[0]);
	wrong_results += cublasSetWorkspace_v2(NULL, (void *)(uintptr_t)line->fields[1], 512) != 13;
}

static void perform(void *data)
{
	const struct line *line = data;

	switch (line->kind) {
	case 'a':
		alloc(line);
		break;
	case 'b':
		burst(line);
		break;
	case 'g':
		fake_segment((int)line->fields[0], line->fields[1], line->fields[2]);
		break;
	case 'o':
		out_of_memory(line);
		break;
	case 'c':
		cuda_malloc(line);
		break;
	}
}

static void step(void)
{
	steps++;
	if (gpuleak_step)
		gpuleak_step();
}

static void pass_name(const char *name)
{
	if (gpuleak_mark)
		gpuleak_mark(name);
}

static void hold(void)
{
	char byte;

	puts("holding");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) < 0)
		perror("replay: standard input");
}

/* Python from 3.12 on looks there, after the fork in the parent. */
static unsigned count_threads(void)
{
	FILE *file = fopen("/proc/self/stat", "re");
	unsigned threads = 0;

	if (!file || fscanf(file,
			    "%*d (%*[^)]) %*c" /* 16 numbers */
			    "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%*s %u",
			    &threads) != 1)
		perror("replay: /proc/self/stat");
	if (file)
		fclose(file);
	return threads;
}

static void fork_once(bool alone)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	if (alone && count_threads() != 1) {
		fprintf(stderr, "replay: %u threads at a fork\n", count_threads());
		wrong_results++;
	}
	waitpid(child, NULL, 0);
}

static int finish(void)
{
	struct fake_calls reached = fake_c10_calls();
	bool whole = reached.count == expected.count && reached.digest == expected.digest;

	printf("{\"events\": %llu, \"steps\": %llu, \"passed\": %llu, \"whole\": %s}\n",
	       (unsigned long long)events, (unsigned long long)steps,
	       (unsigned long long)reached.count, whole && !wrong_results ? "true" : "false");
	fflush(stdout);
	return whole && !wrong_results ? 0 : 1;
}

/* False when the list ends here. */
static bool control(const struct line *line)
{
	switch (line->kind) {
	case 's':
		step();
		return true;
	case 'p':
		pass_name(line->name);
		return true;
	case 'z':
		if (gpuleak_pause)
			gpuleak_pause();
		return true;
	case 'y':
		if (gpuleak_resume)
			gpuleak_resume();
		return true;
	case 'h':
		hold();
		return true;
	case 'F':
	case 'W':
		fork_once(line->kind == 'F');
		return true;
	case 'e':
		finish();
		exit((int)line->fields[0]);
	case 'E':
		finish();
		_exit((int)line->fields[0]);
	case 't':
		raise(SIGSTOP);
		return true;
	case 'k':
		finish();
		kill(getpid(), SIGKILL);
		return false;
	default:
		fprintf(stderr, "replay: no event is called '%c'\n", line->kind);
		exit(2);
	}
}

static bool do_line(struct line *line)
{
	switch (line->kind) {
	case 'a':
	case 'g':
	case 'c':
		events++;
		site_call((uint32_t)line->fields[3], perform, line);
		return true;
	case 'b':
		site_call((uint32_t)line->fields[3], perform, line);
		return true;
	case 'o':
		site_call((uint32_t)line->fields[2], perform, line);
		return true;
	case 'f':
		events++;
		free_block(line);
		return true;
	case 'G':
		events++;
		fake_give_segment((int)line->fields[0], line->fields[1], line->fields[2]);
		return true;
	case 'x':
		events++;
		wrong_results += cudaFree((void *)(uintptr_t)line->fields[0]) != 0;
		return true;
	case 'm':
		copy_to(line);
		return true;
	case 'w':
		set_workspace(line);
		return true;
	case 'r':
		fake_set_reserved((int)line->fields[0], line->fields[1]);
		return true;
	default:
		return control(line);
	}
}

/* Reading a list costs less than replaying it: no stdio, no copies. */
struct reader {
	int fd;
	size_t used, size;
	bool ended;
	char bytes[1 << 16];
};

static int next_byte(struct reader *reader)
{
	ssize_t got;

	if (reader->used == reader->size && !reader->ended) {
		got = read(reader->fd, reader->bytes, sizeof(reader->bytes));
		reader->used = 0;
		reader->size = got > 0 ? (size_t)got : 0;
		reader->ended = got <= 0;
	}
	return reader->used < reader->size ? (unsigned char)reader->bytes[reader->used++] : -1;
}

static int digit(int byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : 16;
}

/* Reads a number that begins with `byte`; returns the byte behind it. */
static int read_number(struct reader *reader, int byte, uint64_t *number)
{
	int base = 10;

	*number = 0;
	if (byte == '0') {
		byte = next_byte(reader);
		if (byte == 'x') {
			base = 16;
			byte = next_byte(reader);
		}
	}
	for (; digit(byte) < base; byte = next_byte(reader))
		*number = *number * (uint64_t)base + (uint64_t)digit(byte);
	return byte;
}

static int read_name(struct reader *reader, char *name)
{
	unsigned used = 0;
	int byte = next_byte(reader);

	for (; byte >= 0 && byte != '\n'; byte = next_byte(reader))
		if (used < NAME_SIZE - 1)
			name[used++] = (char)byte;
	name[used] = '\0';
	return byte;
}

static bool read_line(struct reader *reader, struct line *line)
{
	int byte = next_byte(reader);

	while (byte == '\n' || byte == ' ')
		byte = next_byte(reader);
	if (byte < 0)
		return false;
	line->kind = (char)byte;
	line->count = 0;
	byte = next_byte(reader);
	if (line->kind == 'p')
		byte = read_name(reader, line->name);
	while (byte >= 0 && byte != '\n') {
		if (byte == ' ')
			byte = next_byte(reader);
		else if (line->count < FIELDS && digit(byte) < 10)
			byte = read_number(reader, byte, &line->fields[line->count++]);
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static struct reader reader;
	static struct line line;

	reader.fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (reader.fd < 0) {
		perror(argv[1]);
		return 2;
	}
	while (read_line(&reader, &line))
		if (!do_line(&line))
			break;
	if (!reader.ended) {
		fprintf(stderr, "replay: a line that makes no sense after %llu events\n",
			(unsigned long long)events);
		return 2;
	}
	return finish();
}
