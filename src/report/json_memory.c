#include "report/json_memory.h"

#include "report/composition.h"
#include "report/json_finding.h"
#include "report/oom.h"
#include "report/segments.h"
#include "report/tail.h"

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
	if (oom.cause == OOM_FRAGMENTATION && oom.open)
		json_add_fragmentation(object, report, device, true);
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

void json_add_fragmentation(struct json *to, struct report *report, const struct findings *device,
			    bool at_oom)
{
	struct segments segments;
	struct json *object;
	struct place place = {0};
	struct stack stack;
	char setting[128];

	if (!segments_find(&segments, report, device, at_oom)) {
		json_add_null(to, "fragmentation");
		return;
	}
	if (segments.last && names_stack(&report->snapshot.names, segments.last->stack, &stack))
		place_of_stack(&place, &report->code, &stack);
	object = json_add_object(to, "fragmentation");
	json_add_string(object, "reason", segments_reason_name(segments.reason));
	json_add_string(object, "setting", segments_setting(&segments, setting, sizeof(setting)));
	json_add_integer(object, "known_segments", segments.known);
	json_add_integer(object, "known_bytes", segments.known_bytes);
	json_add_integer(object, "idle_segments", segments.idle);
	json_add_integer(object, "idle_bytes", segments.idle_bytes);
	json_add_integer(object, "partly_used_segments", segments.pieces);
	json_add_integer(object, "partly_used_bytes", segments.pieces_bytes);
	json_add_integer(object, "largest_piece", segments.largest_piece);
	json_add_integer(object, "taken_despite_free", segments.despite);
	json_add_integer(object, "taken_despite_pieces", segments.scattered);
	json_add_where(object, "last_taken", &report->snapshot, place.where);
}

void json_add_tail(struct json *to, struct report *report, const struct findings *device)
{
	struct json *object;
	struct tail tail;

	if (!tail_find(&tail, report, device)) {
		json_add_null(to, "after_last_step");
		return;
	}
	object = json_add_object(to, "after_last_step");
	json_add_integer(object, "bytes", tail.bytes);
	json_add_integer(object, "blocks", tail.blocks);
	json_add_where(object, "where", &report->snapshot, tail.place.where);
}
