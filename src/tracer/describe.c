#include "tracer/describe.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer/ledger.h"
#include "tracer/native_stack.h"
#include "tracer/output_name.h"
#include "tracer/python_stack.h"
#include "tracer/settings.h"
#include "tracer/trace_writer.h"

#include "tracer/banned.h"

enum {
	ARGV_MAX = 32768
};

static const struct text_field {
	const char *name;
	size_t offset; /* of a gpuleak_string_id in struct gpuleak_run */
} text_fields[] = {
	{"python", offsetof(struct gpuleak_run, python)},
	{"torch", offsetof(struct gpuleak_run, torch)},
	{"cuda", offsetof(struct gpuleak_run, cuda)},
	{"stdlib", offsetof(struct gpuleak_run, stdlib)},
	{"packages", offsetof(struct gpuleak_run, packages)},
	{"main_file", offsetof(struct gpuleak_run, main_file)},
	{"main_package", offsetof(struct gpuleak_run, main_package)},
	{"optimizer", offsetof(struct gpuleak_run, optimizer)},
};

static gpuleak_string_id text_id(const char *text)
{
	return trace_string(text, strlen(text));
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

/* "name.3": device 3, or NULL. */
static struct gpuleak_device *device_of(const char *name, const char *prefix)
{
	size_t size = strlen(prefix);
	uint64_t device;

	if (strncmp(name, prefix, size) != 0 || name[size] != '.')
		return NULL;
	device = number(name + size + 1);
	return device < GPULEAK_DEVICES_MAX ? &trace.devices[device] : NULL;
}

static void put_device(const char *name, const char *text)
{
	struct gpuleak_device *device;

	device = device_of(name, "device_name");
	if (device)
		device->name = text_id(text);
	device = device_of(name, "device_uuid");
	if (device)
		device->uuid = text_id(text);
	device = device_of(name, "device_capacity");
	if (device)
		device->capacity = number(text);
}

static void put_in_use(uint64_t address)
{
	for (unsigned i = 0; i < ledger_count(); i++) {
		struct ledger *ledger = ledger_if_used(i);

		if (ledger && ledger_in_use(ledger, address))
			return;
	}
}

static bool put_number(const char *name, const char *text)
{
	struct gpuleak_mark_version *marks = trace.state->marks;

	if (strcmp(name, "rank") == 0) {
		trace.run->rank = (int32_t)number(text);
	} else if (strcmp(name, "world_size") == 0) {
		trace.run->world_size = (int32_t)number(text);
	} else if (strcmp(name, "parameters_bytes") == 0) {
		marks[0].parameters_bytes = marks[1].parameters_bytes = number(text);
	} else if (strcmp(name, "parameters_count") == 0) {
		marks[0].parameters_count = marks[1].parameters_count = (uint32_t)number(text);
	} else if (strcmp(name, "in_use") == 0) {
		put_in_use(number(text));
	} else {
		return false;
	}
	return true;
}

/* What agent.py finds in a torch.optim that it doesn't know. */
static void note_optimizers_off(const char *why)
{
	struct gpuleak_note note = {
		.kind = GPULEAK_NOTE_OPTIMIZERS_OFF,
		.when = trace_now(),
		.text = text_id(why),
	};

	trace_note(&note);
}

void describe_put(const char *name, const char *text)
{
	uint8_t *run = (uint8_t *)trace.run;

	if (!run || put_number(name, text))
		return;
	for (unsigned i = 0; i < sizeof(text_fields) / sizeof(text_fields[0]); i++) {
		if (strcmp(name, text_fields[i].name) == 0) {
			*(gpuleak_string_id *)(void *)(run + text_fields[i].offset) = text_id(text);
			return;
		}
	}
	if (strcmp(name, "optimizers_off") == 0)
		note_optimizers_off(text);
	else
		put_device(name, text);
}

/* A file below /proc, whole or cut at `size`; its length. */
static size_t read_file(const char *path, char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;

	if (fd < 0)
		return 0;
	while (used < size) {
		ssize_t done = read(fd, bytes + used, size - used);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			break;
		used += (size_t)done;
	}
	close(fd);
	return used;
}

static void describe_argv(void)
{
	static char bytes[ARGV_MAX]; /* used once, before recording starts */
	size_t size = settings.hide_argv ? 0 : read_file("/proc/self/cmdline", bytes, ARGV_MAX);

	if (size)
		trace.run->argv = trace_string(bytes, size);
}

static gpuleak_string_id link_target(const char *path)
{
	char target[OUTPUT_NAME_MAX];
	ssize_t size = readlink(path, target, sizeof(target));

	return size > 0 ? trace_string(target, (size_t)size) : 0;
}

void describe_process(void)
{
	struct gpuleak_run *run = trace.run;
	const char *rank = output_rank();
	char host[256] = "";

	run->pid = (uint32_t)getpid();
	run->run_started = settings.run_given ? settings.run_started : 0;
	if (gethostname(host, sizeof(host) - 1) == 0)
		run->host = text_id(host);
	if (settings.folder[0])
		run->folder = text_id(settings.folder);
	run->program = link_target("/proc/self/exe");
	run->tracer = text_id(GPULEAK_VERSION);
	if (rank)
		run->rank = (int32_t)number(rank);
	if (rank && getenv("WORLD_SIZE"))
		run->world_size = (int32_t)number(getenv("WORLD_SIZE"));
	describe_argv();
	/* What all stand-ins of the simulated GPU need. */
	if (native_find_export("libgpuleak-simcore", "gpusim_address_take"))
		run->flags |= GPULEAK_RUN_SIMULATED;
}
