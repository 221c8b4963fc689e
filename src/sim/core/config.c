#include "sim/core/config.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/core/notice.h"

#define GIB (1ull << 30)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct gpusim_config config; /* written once, under `once` */

/* "2G", "512M", "1.5G" or bytes, up to a comma or the end. */
static bool parse_size(const char *text, const char **end, uint64_t *bytes)
{
	double value;
	char *rest;

	value = strtod(text, &rest);
	if (rest == text || value <= 0)
		return false;
	switch (toupper((unsigned char)*rest)) {
	case 'T':
		value *= 1024;
		/* fallthrough */
	case 'G':
		value *= 1024;
		/* fallthrough */
	case 'M':
		value *= 1024;
		/* fallthrough */
	case 'K':
		value *= 1024;
		rest++;
		if (*rest == 'i')
			rest++;
		if (*rest == 'B' || *rest == 'b')
			rest++;
	}
	if (*rest && *rest != ',')
		return false;
	if (value < 4096 || value > 256.0 * 1024 * GIB)
		return false;
	*bytes = (uint64_t)value;
	*end = rest;
	return true;
}

/* The last size given holds for all further devices. */
static void read_memory(void)
{
	const char *text = getenv("GPULEAK_SIM_MEMORY");
	const char *rest = text;
	uint64_t bytes = 24 * GIB;

	for (int i = 0; i < GPUSIM_DEVICES_MAX; i++) {
		if (rest && *rest) {
			if (!parse_size(rest, &rest, &bytes)) {
				gpusim_complain("GPULEAK_SIM_MEMORY", text, "24G");
				bytes = 24 * GIB;
				rest = NULL;
				i = 0;
			} else if (*rest == ',') {
				rest++;
			}
		}
		config.memory[i] = bytes;
	}
}

static void read_device_count(void)
{
	const char *text = getenv("GPULEAK_SIM_DEVICES");
	char *end;
	long count;

	config.physical_count = 1;
	if (!text || !*text)
		return;
	count = strtol(text, &end, 10);
	if (*end || count < 0 || count > GPUSIM_DEVICES_MAX)
		gpusim_complain("GPULEAK_SIM_DEVICES", text, "1");
	else
		config.physical_count = (int)count;
}

static void read_capability(void)
{
	const char *text = getenv("GPULEAK_SIM_CAPABILITY");
	int major, minor;
	char rest;

	config.major = 9;
	config.minor = 0;
	if (!text || !*text)
		return;
	if (sscanf(text, "%d.%d%c", &major, &minor, &rest) != 2 || major < 3 || major > 99 ||
	    minor < 0 || minor > 9) {
		gpusim_complain("GPULEAK_SIM_CAPABILITY", text, "9.0");
		return;
	}
	config.major = major;
	config.minor = minor;
}

/* "VALUE", "VALUE:EVERY" */
static void read_value(void)
{
	const char *text = getenv("GPULEAK_SIM_READ");
	char *end;

	config.read_every = 1;
	if (!text || !*text)
		return;
	config.read_value = strtoll(text, &end, 10);
	if (end != text && *end == ':')
		config.read_every = strtol(end + 1, &end, 10);
	if (end != text && !*end && config.read_every > 0)
		return;
	gpusim_complain("GPULEAK_SIM_READ", text, "0");
	config.read_value = 0;
	config.read_every = 1;
}

void gpusim_uuid_text(int physical, char *text)
{
	const unsigned char *u = config.uuid[physical];

	snprintf(text, 41,
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
		 u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
		 u[14], u[15]);
}

/* One item of CUDA_VISIBLE_DEVICES, a number or the start of a UUID; -1: there is no such device.
 */
static int physical_of(const char *item, size_t length)
{
	char text[41], number[16];
	char *end;
	long value;

	if (length == 0 || length >= sizeof(text))
		return -1;
	if (strncmp(item, "GPU-", 4) == 0) {
		for (int i = 0; i < config.physical_count; i++) {
			gpusim_uuid_text(i, text);
			if (strncmp(text, item, length) == 0)
				return i;
		}
		return -1;
	}
	if (length >= sizeof(number))
		return -1;
	memcpy(number, item, length);
	number[length] = 0;
	value = strtol(number, &end, 10);
	return end != number && value >= 0 && value < config.physical_count ? (int)value : -1;
}

/* As CUDA does: everything after the first item that names no device is ignored. */
static void read_visible(void)
{
	const char *text = getenv("CUDA_VISIBLE_DEVICES");
	size_t length;
	int physical;

	if (!text) {
		config.visible_count = config.physical_count;
		for (int i = 0; i < config.physical_count; i++)
			config.visible[i] = i;
		return;
	}
	while (config.visible_count < GPUSIM_DEVICES_MAX) {
		while (*text == ' ')
			text++;
		length = strcspn(text, ", ");
		physical = physical_of(text, length);
		if (physical < 0)
			return;
		config.visible[config.visible_count++] = physical;
		text += length + strspn(text + length, " ");
		if (*text++ != ',')
			return;
	}
}

static void read_environment(void)
{
	for (int i = 0; i < GPUSIM_DEVICES_MAX; i++) {
		memcpy(config.uuid[i], "gpuleak-sim", 11);
		config.uuid[i][15] = (unsigned char)i;
	}
	read_memory();
	read_device_count();
	read_capability();
	read_value();
	read_visible();
}

const struct gpusim_config *gpusim_config(void)
{
	pthread_once(&once, read_environment);
	return &config;
}
