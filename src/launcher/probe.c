#include "launcher/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/child.h"
#include "launcher/preload.h"
#include "launcher/say.h"
#include "launcher/trace_file.h"

/* Seconds that importing PyTorch may take, from a slow network folder. */
enum {
	PATIENCE = 180
};

#define ANSWER "gpuleak-check "

static const char program[] =
	"import platform, sys\n"
	"def answer(key, value):\n"
	"    print('" ANSWER "' + key, value, flush=True)\n"
	"answer('python', platform.python_version())\n"
	"answer('implementation', platform.python_implementation())\n"
	"answer('executable', sys.executable)\n"
	"try:\n"
	"    import torch\n"
	"except (ImportError, OSError) as error:\n"
	"    answer('missing', error)\n"
	"    raise SystemExit\n"
	"answer('torch', torch.__version__)\n"
	"answer('cuda', torch.version.cuda)\n"
	"if torch.version.hip:\n"
	"    answer('hip', torch.version.hip)\n"
	"if torch.cuda.is_available():\n"
	"    answer('gpus', torch.cuda.device_count())\n"
	"    answer('gpu', torch.cuda.get_device_name(0))\n"
	"    answer('memory', torch.cuda.get_device_properties(0).total_memory >> 20)\n"
	"    torch.zeros(1, device='cuda')\n";

/* The folder was made for the probe; it holds the trace and nothing else. */
static void folder_remove(const char *folder, const char *trace)
{
	unlink(trace);
	rmdir(folder);
}

void probe_run(struct probe *probe, const char *python, const struct parts *parts, bool sim)
{
	char name[] = "gpuleak-check-XXXXXX";
	const char *temporary = getenv("TMPDIR");
	char *argv[] = {(char *)python, "-c", (char *)program, NULL};
	struct environment environment = {0};
	struct child_end end;
	char *folder, *trace;

	*probe = (struct probe){0};
	folder = text_format("%s/%s", temporary && *temporary ? temporary : "/tmp", name);
	if (!mkdtemp(folder)) {
		free(folder);
		return;
	}
	trace = text_format("%s/trace.bin", folder);
	environment_set(&environment, "GPULEAK_OUT", trace);
	environment_set(&environment, "GPULEAK_SIZE", "4M");
	if (preload_set(&environment, parts, parts->tracer != NULL, sim) == 0) {
		end = child_capture(argv, &environment, PATIENCE, probe->text, PROBE_TEXT);
		probe->ran = end.started && !end.signal && end.code == 0;
		probe->traced = trace_look_at(trace).state == TRACE_WHOLE;
	}
	environment_release(&environment);
	folder_remove(folder, trace);
	free(trace);
	free(folder);
}

char *probe_value(const struct probe *probe, const char *key)
{
	char *start = text_format(ANSWER "%s ", key);
	size_t size = strlen(start);
	const char *line = probe->text;
	char *value = NULL;

	while (line && !value) {
		if (strncmp(line, start, size) == 0)
			value = text_format("%.*s", (int)strcspn(line + size, "\n"), line + size);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	free(start);
	return value;
}

char *probe_complaint(const struct probe *probe)
{
	const char *line = probe->text;

	while (line && *line) {
		size_t length = strcspn(line, "\n");

		if (length > 0 && strncmp(line, ANSWER, strlen(ANSWER)) != 0)
			return text_format("%.*s", (int)length, line);
		line += length + (line[length] == '\n');
	}
	return NULL;
}
