#include "report/json_memory.h"

#include "report/composition.h"
#include "report/json_finding.h"
#include "report/oom.h"

enum {
	ROWS_MAX = 1000
};

static void add_composition(struct json *to, const struct report *report,
			    const struct composition *composition)
{
	struct json *rows = json_add_array(to, "made_of");
	uint64_t rest = composition->unattributed;

	for (size_t i = 0; i < composition->count; i++) {
		const struct composition_row *row = &composition->rows[i];
		struct json *object;

		if (i >= ROWS_MAX) {
			rest += row->bytes;
			continue;
		}
		object = json_add_object(rows, NULL);
		json_add_integer(object, "bytes", row->bytes);
		json_add_string(object, "kind", kind_name(row->kind));
		json_add_where(object, "where", &report->snapshot, row->place.where);
		json_add_integer(object, "parts", row->parts);
	}
	json_add_integer(to, "unattributed", rest);
}

void json_add_oom(struct json *to, struct report *report, const struct findings *device)
{
	struct json *object;
	struct stack stack;
	struct oom oom;

	if (!oom_find(&oom, report, device)) {
		json_add_null(to, "oom");
		return;
	}
	object = json_add_object(to, "oom");
	json_add_integer(object, "step", oom.note->step);
	json_add_real(object, "seconds", (double)oom.note->when / 1e9);
	json_add_integer(object, "count", oom.count);
	json_add_bool(object, "ended", oom.ended);
	json_add_string(object, "cause", oom_cause_name(oom.cause));
	json_add_integer(object, "bytes", oom.note->size);
	json_add_integer(object, "allocated", oom.note->allocated);
	json_add_integer(object, "reserved", oom.note->held);
	json_add_integer(object, "cached", oom.cached);
	json_add_integer(object, "leaked", oom.leaked);
	json_add_where(object, "where", &report->snapshot, oom.place.where);
	if (oom.open)
		add_composition(object, report, &oom.composition);
	names_stack(&report->snapshot.names, oom.note->stack, &stack);
	json_add_stack(object, "stack", &report->snapshot, &stack);
	oom_release(&oom);
}

void json_add_peak(struct json *to, struct report *report, const struct findings *device)
{
	struct composition composition;
	struct json *object = json_add_object(to, "peak");

	composition_of_peak(&composition, report, device);
	json_add_integer(object, "bytes", composition.total);
	json_add_integer(object, "step", composition.step);
	add_composition(object, report, &composition);
	composition_release(&composition);
}
