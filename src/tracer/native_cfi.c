#include "tracer/native_cfi.h"

#include <stddef.h>
#include <string.h>

#include "tracer/native_bytes.h"
#include "tracer/native_modules.h"

#include "tracer/banned.h"

/* DWARF's numbers of registers on x86-64 (System V psABI, table 3.36). */
enum {
	REGISTER_BP = 6,
	REGISTER_SP = 7,
	REGISTER_RETURN = 16
};

enum {
	REMEMBERED_MAX = 8
};

/* What a function's entry says once and for all. */
struct function {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool has_augmentation;
	struct bytes initial; /* instructions */
	struct bytes own;
	uintptr_t start;
};

/* The rules while the instructions run. */
struct row {
	uint64_t cfa_register;
	int64_t cfa;
	bool cfa_known; /* a register and an offset, not an expression */
	bool bp_saved;	/* at `bp` from the frame's begin */
	bool bp_known;
	int64_t bp;
	bool return_known; /* at -8, as a call leaves it */
	bool ends;	   /* no return address: the outermost function */
};

static const struct row first_row = {.bp_known = true, .return_known = true};

static void set_offset(struct row *row, uint64_t number, int64_t offset)
{
	if (number == REGISTER_BP) {
		row->bp_saved = row->bp_known = true;
		row->bp = offset;
	} else if (number == REGISTER_RETURN) {
		row->return_known = offset == -8;
		row->ends = false;
	}
}

static void set_unknown(struct row *row, uint64_t number)
{
	if (number == REGISTER_BP)
		row->bp_known = false;
	else if (number == REGISTER_RETURN)
		row->return_known = false;
}

static void set_undefined(struct row *row, uint64_t number)
{
	if (number == REGISTER_RETURN)
		row->ends = true;
	else
		set_unknown(row, number);
}

static void set_same(struct row *row, uint64_t number)
{
	if (number == REGISTER_BP) {
		row->bp_known = true;
		row->bp_saved = false;
	}
}

static void restore(struct row *row, const struct row *initial, uint64_t number)
{
	if (number == REGISTER_BP) {
		row->bp_known = initial->bp_known;
		row->bp_saved = initial->bp_saved;
		row->bp = initial->bp;
	} else if (number == REGISTER_RETURN) {
		row->return_known = initial->return_known;
		row->ends = initial->ends;
	}
}

struct program {
	const struct function *function;
	struct bytes bytes;
	uintptr_t location;
	uintptr_t target; /* run up to the row that covers it */
	struct row row;
	struct row initial;
	struct row remembered[REMEMBERED_MAX];
	unsigned depth;
};

static void define_cfa(struct program *program, uint64_t number, int64_t offset)
{
	program->row.cfa_register = number;
	program->row.cfa = offset;
	program->row.cfa_known = true;
}

static void remember(struct program *program)
{
	if (program->depth == REMEMBERED_MAX)
		program->bytes.good = false;
	else
		program->remembered[program->depth++] = program->row;
}

static void recall(struct program *program)
{
	if (program->depth == 0)
		program->bytes.good = false;
	else
		program->row = program->remembered[--program->depth];
}

/* The instructions that say where a register is: DWARF 4, 6.4.2.3. */
static void run_register(struct program *program, uint8_t operation)
{
	struct bytes *bytes = &program->bytes;
	int64_t align = program->function->data_align;
	uint64_t number = bytes_take_uleb(bytes);

	switch (operation) {
	case 0x05: /* offset_extended */
		set_offset(&program->row, number, (int64_t)bytes_take_uleb(bytes) * align);
		return;
	case 0x11: /* offset_extended_sf */
		set_offset(&program->row, number, bytes_take_sleb(bytes) * align);
		return;
	case 0x06: /* restore_extended */
		restore(&program->row, &program->initial, number);
		return;
	case 0x07: /* undefined */
		set_undefined(&program->row, number);
		return;
	case 0x08: /* same_value */
		set_same(&program->row, number);
		return;
	case 0x09: /* register */
	case 0x14: /* val_offset */
		bytes_take_uleb(bytes);
		break;
	case 0x15: /* val_offset_sf */
		bytes_take_sleb(bytes);
		break;
	default: /* 0x10 expression, 0x16 val_expression */
		bytes_skip(bytes, bytes_take_uleb(bytes));
	}
	set_unknown(&program->row, number);
}

/* The instructions that say where the frame begins: DWARF 4, 6.4.2.2. */
static void run_cfa(struct program *program, uint8_t operation)
{
	struct bytes *bytes = &program->bytes;
	int64_t align = program->function->data_align;
	uint64_t number;

	switch (operation) {
	case 0x0c: /* def_cfa */
		number = bytes_take_uleb(bytes);
		define_cfa(program, number, (int64_t)bytes_take_uleb(bytes));
		return;
	case 0x12: /* def_cfa_sf */
		number = bytes_take_uleb(bytes);
		define_cfa(program, number, bytes_take_sleb(bytes) * align);
		return;
	case 0x0d: /* def_cfa_register */
		program->row.cfa_register = bytes_take_uleb(bytes);
		return;
	case 0x0e: /* def_cfa_offset */
		program->row.cfa = (int64_t)bytes_take_uleb(bytes);
		return;
	case 0x13: /* def_cfa_offset_sf */
		program->row.cfa = bytes_take_sleb(bytes) * align;
		return;
	default: /* 0x0f def_cfa_expression */
		bytes_skip(bytes, bytes_take_uleb(bytes));
		program->row.cfa_known = false;
	}
}

static void run_other(struct program *program, uint8_t operation)
{
	struct bytes *bytes = &program->bytes;
	uint64_t align = program->function->code_align;

	switch (operation) {
	case 0x00: /* nop */
		return;
	case 0x02: /* advance_loc1 */
		program->location += bytes_take(bytes, 1) * align;
		return;
	case 0x03: /* advance_loc2 */
		program->location += bytes_take(bytes, 2) * align;
		return;
	case 0x04: /* advance_loc4 */
		program->location += bytes_take(bytes, 4) * align;
		return;
	case 0x0a: /* remember_state */
		remember(program);
		return;
	case 0x0b: /* restore_state */
		recall(program);
		return;
	case 0x2e: /* GNU_args_size */
		bytes_take_uleb(bytes);
		return;
	default:
		bytes->good = false; /* among them set_loc, which no compiler writes */
	}
}

static bool is_register(uint8_t operation)
{
	return (operation >= 0x05 && operation <= 0x09) || operation == 0x10 || operation == 0x11 ||
	       (operation >= 0x14 && operation <= 0x16);
}

static bool is_cfa(uint8_t operation)
{
	return (operation >= 0x0c && operation <= 0x0f) || operation == 0x12 || operation == 0x13;
}

static void run_one(struct program *program)
{
	uint8_t operation = (uint8_t)bytes_take(&program->bytes, 1);
	uint8_t low = operation & 0x3f;

	switch (operation >> 6) {
	case 1: /* advance_loc */
		program->location += low * program->function->code_align;
		return;
	case 2: /* offset */
		set_offset(&program->row, low,
			   (int64_t)bytes_take_uleb(&program->bytes) *
				   program->function->data_align);
		return;
	case 3: /* restore */
		restore(&program->row, &program->initial, low);
		return;
	default:
		break;
	}
	if (is_register(operation))
		run_register(program, operation);
	else if (is_cfa(operation))
		run_cfa(program, operation);
	else
		run_other(program, operation);
}

/* Runs instructions until the row for `target` is complete.  False: not understood. */
static bool run(struct program *program, struct bytes instructions)
{
	struct row before = program->row;

	program->bytes = instructions;
	while (program->bytes.at < program->bytes.end && program->bytes.good) {
		before = program->row;
		run_one(program);
		if (program->location > program->target) {
			program->row = before;
			break;
		}
	}
	return program->bytes.good;
}

/* The common entry (CIE) that a function's entry refers to. */
static bool read_common(struct bytes bytes, struct function *function)
{
	const char *augmentation;
	uint8_t version;
	uint64_t size;
	struct bytes data;

	if (bytes_take(&bytes, 4) != 0)
		return false;
	version = (uint8_t)bytes_take(&bytes, 1);
	augmentation = (const char *)bytes.at;
	bytes_skip(&bytes, strnlen(augmentation, (size_t)(bytes.end - bytes.at)) + 1);
	function->code_align = bytes_take_uleb(&bytes);
	function->data_align = bytes_take_sleb(&bytes);
	if ((version == 1 ? bytes_take(&bytes, 1) : bytes_take_uleb(&bytes)) != REGISTER_RETURN)
		return false;
	function->has_augmentation = augmentation[0] == 'z';
	if (!function->has_augmentation)
		return false; /* compilers of this century write one */
	size = bytes_take_uleb(&bytes);
	data = bytes;
	bytes_skip(&bytes, size);
	function->initial = bytes;
	for (augmentation++; *augmentation && data.good; augmentation++) {
		if (*augmentation == 'R')
			function->pointer_encoding = (uint8_t)bytes_take(&data, 1);
		else if (*augmentation == 'P')
			bytes_take_pointer(&data, (uint8_t)bytes_take(&data, 1) & 0x7f, 0);
		else if (*augmentation == 'L')
			bytes_take(&data, 1);
		else
			return false; /* 'S': a signal's frame has other rules */
	}
	return bytes.good && data.good;
}

/* An entry's bytes, its length taken off.  `limit` is the end of the object. */
static struct bytes entry_at(const uint8_t *at, const uint8_t *limit)
{
	struct bytes bytes = {at, limit, true};
	uint64_t size = bytes_take(&bytes, 4);

	if (size == 0 || size == 0xffffffffu || size > (uint64_t)(limit - bytes.at))
		bytes.good = false;
	else
		bytes.end = bytes.at + size;
	return bytes;
}

static bool read_function(const uint8_t *at, const uint8_t *limit, struct function *function,
			  uintptr_t pc)
{
	struct bytes bytes = entry_at(at, limit);
	const uint8_t *place = bytes.at;
	uint64_t back = bytes_take(&bytes, 4);
	uintptr_t size;
	struct bytes common;

	if (!bytes.good || back == 0 || back > (uint64_t)(uintptr_t)place)
		return false;
	common = entry_at(place - back, limit);
	if (!common.good || !read_common(common, function))
		return false;
	function->start = bytes_take_pointer(&bytes, function->pointer_encoding, 0);
	size = bytes_take_pointer(&bytes, function->pointer_encoding & 0x0f, 0);
	bytes_skip(&bytes, bytes_take_uleb(&bytes)); /* augmentation data */
	function->own = bytes;
	return bytes.good && pc >= function->start && pc - function->start < size;
}

/* The entry of the last function that begins at or before `pc`, by the sorted table. */
static const uint8_t *find_entry(const uint8_t *header, const uint8_t *limit, uintptr_t pc)
{
	struct bytes bytes = {header, limit, true};
	uint32_t encodings = (uint32_t)bytes_take(&bytes, 4);
	uint64_t count, low = 0, high;
	const uint8_t *table;

	/* Version 1, a table of pairs of 32-bit offsets from the header: what linkers write. */
	if ((encodings & 0xff) != 1 || encodings >> 24 != (PE_DATAREL | PE_SDATA4))
		return NULL;
	bytes_take_pointer(&bytes, (uint8_t)(encodings >> 8), (uintptr_t)header);
	count = bytes_take_pointer(&bytes, (uint8_t)(encodings >> 16), (uintptr_t)header);
	table = bytes.at;
	if (!bytes.good || count == 0 || count > (uint64_t)(limit - table) / 8)
		return NULL;
	high = count;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		int32_t offset;

		memcpy(&offset, table + middle * 8, sizeof(offset));
		if ((uintptr_t)header + (uintptr_t)(int64_t)offset <= pc)
			low = middle;
		else
			high = middle;
	}
	bytes.at = table + low * 8 + 4;
	return header + (int32_t)bytes_take(&bytes, 4);
}

static struct native_rule rule_of(const struct row *row)
{
	struct native_rule rule = {.kind = NATIVE_RULE_NONE};

	if (row->ends) {
		rule.kind = NATIVE_RULE_END;
		return rule;
	}
	if (!row->cfa_known || !row->bp_known || !row->return_known ||
	    row->cfa != (int32_t)row->cfa || row->bp != (int32_t)row->bp)
		return rule;
	if (row->cfa_register == REGISTER_SP)
		rule.kind = NATIVE_RULE_SP;
	else if (row->cfa_register == REGISTER_BP)
		rule.kind = NATIVE_RULE_BP;
	rule.cfa = (int32_t)row->cfa;
	rule.bp = (int32_t)row->bp;
	rule.bp_saved = row->bp_saved;
	return rule;
}

struct look_up {
	uintptr_t pc;
	struct native_rule rule;
};

static void find_rule(struct native_module *module, void *data)
{
	struct look_up *look_up = data;
	const uint8_t *limit = (const uint8_t *)module->end;
	const uint8_t *header = NULL, *entry;
	struct function function = {0};
	struct program program = {.function = &function, .target = look_up->pc, .row = first_row};

	for (unsigned i = 0; i < module->header_count; i++)
		if (module->headers[i].p_type == PT_GNU_EH_FRAME)
			header = (const uint8_t *)module->base + module->headers[i].p_vaddr;
	if (!header)
		return;
	entry = find_entry(header, limit, look_up->pc);
	if (!entry || !read_function(entry, limit, &function, look_up->pc))
		return;
	if (!run(&program, function.initial))
		return;
	program.initial = program.row;
	program.location = function.start;
	if (run(&program, function.own))
		look_up->rule = rule_of(&program.row);
}

struct native_rule native_cfi_rule(uintptr_t return_address)
{
	/* The byte before it: a call may be the last thing in a function. */
	struct look_up look_up = {.pc = return_address - 1};

	native_module_use(look_up.pc, find_rule, &look_up);
	return look_up.rule;
}
