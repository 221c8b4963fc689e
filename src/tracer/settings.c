#include "tracer/settings.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/layout.h"

#include "tracer/banned.h"

struct settings settings = {.size = LAYOUT_SIZE_DEFAULT};

static const char *const stacks_names[] = {"auto", "python", "native", "none", NULL};
static const char *const writer_names[] = {"auto", "mapped", "slots", NULL};

/* Adds "name=value: what" to the complaint, as far as there is room. */
static void complain(const char *name, const char *value, const char *what)
{
	const char *const parts[] = {name, "=", value, what};
	size_t used = strlen(settings.complaint);

	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t size = strlen(parts[i]);

		if (size > sizeof(settings.complaint) - 1 - used)
			size = sizeof(settings.complaint) - 1 - used;
		memcpy(settings.complaint + used, parts[i], size);
		used += size;
	}
	settings.complaint[used] = '\0';
}

/* "64M", "1G", "4096": bytes.  False when it isn't a size. */
static bool parse_size(const char *text, uint64_t *size)
{
	uint64_t value = 0;
	unsigned shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (value > UINT64_MAX / 16)
			return false;
		value = 10 * value + (uint64_t)(*text - '0');
	}
	switch (*text) {
	case 'k':
	case 'K':
		shift = 10;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'g':
	case 'G':
		shift = 30;
		break;
	case '\0':
		break;
	default:
		return false;
	}
	if (shift && text[1] != '\0' && strcmp(text + 1, "iB") != 0 && strcmp(text + 1, "B") != 0)
		return false;
	if (value > UINT64_MAX >> shift)
		return false;
	*size = value << shift;
	return true;
}

static void read_size(const char *name, const char *text, uint64_t *size)
{
	if (!parse_size(text, size))
		complain(name, text, " is not a size like 64M: ignored; ");
}

static void read_out(const char *text)
{
	size_t size = strlen(text);

	if (size >= sizeof(settings.out)) {
		complain("GPULEAK_OUT", "...", " is too long: ignored; ");
		return;
	}
	memcpy(settings.out, text, size + 1);
}

/* The place of `text` among `names`; 0 and a complaint when it isn't there. */
static unsigned read_choice(const char *name, const char *text, const char *const *names,
			    const char *complaint)
{
	for (unsigned i = 0; names[i]; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	complain(name, text, complaint);
	return 0;
}

static void read_stacks(const char *text)
{
	settings.stacks = (enum settings_stacks)read_choice(
		"GPULEAK_STACKS", text, stacks_names,
		" is none of auto, python, native, none: ignored; ");
}

static void read_writer(const char *text)
{
	settings.writer = (enum settings_writer)read_choice(
		"GPULEAK_WRITER", text, writer_names, " is none of auto, mapped, slots: ignored; ");
}

static void read_run_started(const char *text)
{
	settings.run_started = strtoull(text, NULL, 10);
	settings.run_given = settings.run_started > 0;
}

static void read_clock(const char *text)
{
	if (strcmp(text, "given") == 0)
		settings.steps_given = true;
	else if (strcmp(text, "auto") != 0)
		complain("GPULEAK_CLOCK", text, " is none of auto, given: ignored; ");
}

/* Variables of the simulated GPU, and of the project's own checks and tests. */
static bool is_of_others(const char *name)
{
	return strncmp(name, "GPULEAK_SIM_", 12) == 0 || strncmp(name, "GPULEAK_CHECK_", 14) == 0 ||
	       strncmp(name, "GPULEAK_TEST_", 13) == 0;
}

static void read_one(const char *name, const char *text)
{
	if (strcmp(name, "GPULEAK_OUT") == 0)
		read_out(text);
	else if (strcmp(name, "GPULEAK_SIZE") == 0)
		read_size(name, text, &settings.size);
	else if (strcmp(name, "GPULEAK_RING") == 0)
		read_size(name, text, &settings.ring);
	else if (strcmp(name, "GPULEAK_STACKS") == 0)
		read_stacks(text);
	else if (strcmp(name, "GPULEAK_WRITER") == 0)
		read_writer(text);
	else if (strcmp(name, "GPULEAK_ARGV") == 0)
		settings.hide_argv = strcmp(text, "0") == 0;
	else if (strcmp(name, "GPULEAK_RUN_STARTED") == 0)
		read_run_started(text);
	else if (strcmp(name, "GPULEAK_QUIET") == 0)
		settings.quiet = strcmp(text, "0") != 0;
	else if (strcmp(name, "GPULEAK_CLOCK") == 0)
		read_clock(text);
	else if (!is_of_others(name))
		complain(name, text, " is no variable of gpuleak's: ignored; ");
}

void settings_read(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	settings.run_started = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	if (!getcwd(settings.folder, sizeof(settings.folder)))
		settings.folder[0] = '\0';
	for (char **entry = environ; *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		char name[64];
		size_t size;

		if (strncmp(*entry, "GPULEAK_", 8) != 0 || !equals)
			continue;
		size = (size_t)(equals - *entry);
		if (size >= sizeof(name))
			continue;
		memcpy(name, *entry, size);
		name[size] = '\0';
		read_one(name, equals + 1);
	}
}
