// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/costs/basis.h"
#include "analyze/costs/costs.h"
#include "lib/late.h"

#include <capstone.h>
#include <errno.h>
#include <math.h>

/* --- instructions as text, by capstone --- */

/* clang-format off */
#define HOTSPOTS_CAPSTONE(F) F(cs_open) F(cs_option) F(cs_disasm) F(cs_free) F(cs_close)
/* clang-format on */

struct hotspots_capstone {
	HOTSPOTS_CAPSTONE(LATE_MEMBER)
};
#define HOTSPOTS_SONAME_OF(major) "libcapstone.so." #major
#define HOTSPOTS_SONAME(major)	  HOTSPOTS_SONAME_OF(major)

struct hotspots_instruction {
	uint64_t offset; /* the offset from the function's first byte */
	char text[120];	 /* "movq 8(%rdi), %rax" */
};

/* The instructions of the function that was read last. */
struct hotspots_listing {
	int64_t id;
	struct hotspots_instruction *list;
	size_t n;
};

static const struct {
	const char *name;
	cs_arch arch;
	cs_mode mode;
} machines[] = {
	{"x86_64", CS_ARCH_X86, CS_MODE_64},	     {"i686", CS_ARCH_X86, CS_MODE_32},
	{"i386", CS_ARCH_X86, CS_MODE_32},	     {"aarch64", CS_ARCH_ARM64, CS_MODE_ARM},
	{"armv7l", CS_ARCH_ARM, CS_MODE_ARM},	     {"ppc64le", CS_ARCH_PPC, CS_MODE_64},
	{"s390x", CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN},
};

/*
 * Disassembles a function. The list stays empty for an unknown `arch` (as uname prints it), a NULL
 * `arch`, or bytes that are not code.
 */
static int hotspots_disassemble(struct hotspots_listing *l, const struct store_code *code,
				struct error *err)
{
	struct hotspots_capstone cs;
	cs_insn *insn;
	csh handle;
	size_t m;
	int rc;

	for (m = 0; code->arch && m < array_size(machines); m++)
		if (!strcmp(machines[m].name, code->arch))
			break;
	if (!code->arch || m == array_size(machines))
		return 0;
	rc = LATE_LOAD(HOTSPOTS_SONAME(CS_API_MAJOR), HOTSPOTS_CAPSTONE, &cs, err);
	if (rc || cs.cs_open(machines[m].arch, machines[m].mode, &handle) != CS_ERR_OK)
		return rc;
	if (machines[m].arch == CS_ARCH_X86)
		cs.cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT); /* as objdump and perf */
	cs.cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);		/* skips unknown bytes */
	l->n = cs.cs_disasm(handle, code->bytes, code->size, code->at, 0, &insn);
	l->list = xcalloc(l->n + 1, sizeof(*l->list));
	for (size_t i = 0; i < l->n; i++) {
		l->list[i].offset = insn[i].address - code->at;
		snprintf(l->list[i].text, sizeof(l->list[i].text), "%.24s%s%.90s", insn[i].mnemonic,
			 *insn[i].op_str ? " " : "", insn[i].op_str);
	}
	if (l->n)
		cs.cs_free(insn, l->n);
	cs.cs_close(&handle);
	return 0;
}

/* --- the table --- */

/*
 * hotspots FUNCTION: the self cost of each instruction. The row has the code and the source line
 * where the analysis found them.
 */

enum { LIMIT = 30 };

static const struct column hotspots_columns[] = {
	SIDE_COLUMNS,
	{"symbol", .type = V_STR, .what = "the function"},
	{"dso", .type = V_STR, .what = "kernel, module or library with the function"},
	{"offset", .type = V_STR, .what = "offset of the instruction, hexadecimal"},
	{"samples", .type = V_INT},
	{"function_share", "%", V_REAL, .digits = 2, .what = "share of the function's weight"},
	{"self_share", "%", V_REAL, .digits = 2, .what = "share of all weight"},
	{"self_ns", "ns", V_REAL, .digits = 2, .spread = SPREAD_HALF, .what = "self_share x basis"},
	{"sampling_error", "ns", V_REAL, .digits = 2, .optional = true,
	 .what = "of a single run: half the 95 % sampling error of the self cost"},
	{"instruction", .type = V_STR},
	{"source", .type = V_STR, .what = "file:line"},
};

struct hotspots_spot {
	const char *symbol, *dso, *line;
	uint64_t offset;
	struct tally_row sum; /* self of the instruction, by run */
	double function;      /* the weight of the whole function */
	int64_t id;	      /* the function's id in the store; for a file: the profile's symbol */
};

struct hotspots_list {
	struct hotspots_spot *list;
	size_t n, cap;
	struct map ids, functions; /* (function, offset) -> index + 1; function -> its weight */
	struct arena arena;
};

static struct hotspots_spot *hotspots_find(struct hotspots_list *h, const struct store_spot *s,
					   int nruns)
{
	uint64_t *known = map_at(&h->ids, (uint64_t)s->id << 32 | s->offset);
	struct hotspots_spot *at;

	if (*known)
		return &h->list[*known - 1];
	*known = h->n + 1;
	at = array_new(h->list, h->n, h->cap);
	*at = (struct hotspots_spot){s->symbol,	     s->dso, s->line, s->offset,
				     {.samples = 0}, 0,	     s->id};
	at->sum.run_self = arena_alloc(&h->arena, (size_t)(nruns + 1) * sizeof(double));
	return at;
}

static void hotspots_add(struct hotspots_list *h, const struct store_spot *s, int run, int nruns)
{
	struct hotspots_spot *at = hotspots_find(h, s, nruns);

	at->sum.samples += s->samples;
	at->sum.self += (double)s->weight;
	at->sum.run_self[run] += (double)s->weight;
	*map_at(&h->functions, (uint64_t)s->id) += s->weight;
	at->line = at->line ? at->line : s->line;
}

static int hotspots_by_cost(const void *a, const void *b)
{
	const struct hotspots_spot *l = a, *r = b;

	return descending(l->sum.self, r->sum.self) ?: ascending(l->offset, r->offset);
}

static int hotspots_by_offset(const void *a, const void *b)
{
	const struct hotspots_spot *l = a, *r = b;

	return ascending(l->id, r->id) ?: ascending(l->offset, r->offset);
}

static void hotspots_free(struct hotspots_list *h)
{
	free(h->list);
	map_free(&h->ids);
	map_free(&h->functions);
	arena_free(&h->arena);
}

static void hotspots_finish(struct hotspots_list *h, const struct query *q)
{
	for (size_t i = 0; i < h->n; i++)
		h->list[i].function = (double)*map_at(&h->functions, (uint64_t)h->list[i].id);
	array_sort(h->list, h->n, q->all ? hotspots_by_offset : hotspots_by_cost);
}

/* --- the code --- */

static int hotspots_read_code(struct store *s, const struct query *q, int64_t id,
			      struct store_code *code, struct error *err)
{
	const struct profile *p = q->bare.profile;

	*code = (struct store_code){0};
	if (s)
		return store_code(s, id, code, err);
	for (size_t i = 0; i < p->ncodes; i++)
		if (p->codes[i].symbol == id)
			*code = (struct store_code){
				p->arch == PROFILE_NONE ? NULL : intern_get(&p->strings, p->arch),
				p->codes[i].at, xmemdup(p->codes[i].bytes, p->codes[i].size),
				p->codes[i].size};
	return 0;
}

static int hotspots_list_code(struct hotspots_listing *l, struct store *s, const struct query *q,
			      int64_t id, struct error *err)
{
	struct store_code code;
	int rc;

	if (l->id == id)
		return 0;
	free(l->list);
	*l = (struct hotspots_listing){.id = id};
	rc = hotspots_read_code(s, q, id, &code, err);
	if (!rc && code.bytes)
		rc = hotspots_disassemble(l, &code, err);
	free(code.bytes);
	return rc;
}

static const char *hotspots_instruction_at(const struct hotspots_listing *l, uint64_t offset)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->list[i].offset == offset)
			return l->list[i].text;
	return NULL;
}

/* --- rows --- */

static void hotspots_add_row(struct table *t, const struct query *q, const struct cost_part *part,
			     const struct hotspots_spot *h, const struct hotspots_listing *code)
{
	struct cost cost = cost_self(part, &h->sum);
	struct value *row = table_row(t);
	char offset[24], self[32];

	snprintf(self, sizeof(self), "self_%s", amount_name(q->in));
	snprintf(offset, sizeof(offset), "+0x%llx", (unsigned long long)h->offset);
	table_set(t, row, "variant", value_str(t, part->block.variant));
	table_set(t, row, "side", value_str(t, part->block.side));
	table_set(t, row, "symbol", value_str(t, h->symbol));
	table_set(t, row, "dso", value_str(t, h->dso));
	table_set(t, row, "offset", value_str(t, offset));
	table_set(t, row, "samples", value_int((int64_t)h->sum.samples));
	table_set(t, row, "function_share", value_real(100 * h->sum.self / h->function));
	table_set(t, row, "self_share", value_real(100 * cost.share));
	table_set(t, row, self, value_half(t, cost.ns, cost.ns_ci));
	if (cost_part_is_single(part))
		table_set(t, row, "sampling_error", value_real(cost.ns_sampling));
	table_set(t, row, "instruction", value_str(t, hotspots_instruction_at(code, h->offset)));
	table_set(t, row, "source", value_str(t, h->line));
}

static int hotspots_add_rows(struct table *t, struct store *s, const struct query *q,
			     const struct cost_part *part, const struct hotspots_list *h,
			     struct error *err)
{
	size_t limit = query_limit(q, LIMIT);
	struct hotspots_listing code = {.id = -1};
	int rc = 0;

	for (size_t i = 0; i < h->n && i < limit && !rc; i++) {
		rc = hotspots_list_code(&code, s, q, h->list[i].id, err);
		hotspots_add_row(t, q, part, &h->list[i], &code);
	}
	free(code.list);
	if (h->n > limit)
		note_add(&t->notes, rows_shown, limit, h->n);
	return rc;
}

/* Prints the cost of each function with the name, or why the part has no rows. */
static void hotspots_note_part(struct table *t, const struct cost_part *part, enum amount in)
{
	const struct tally *f = &part->tally;

	t->lossy |= part->basis.uncounted;
	for (size_t i = 0; i < f->n || !i; i++) {
		freed(str_free) struct str s = {0};

		if (!f->samples) {
			cost_print_absence(part, &s);
		} else if (!f->n) {
			str_printf(&s, "none of %llu samples of %s is in the function itself",
				   (unsigned long long)f->samples, f->event);
		} else {
			struct cost self = cost_self(part, &f->rows[i]);

			str_printf(&s, "%s: self %.2f %%", f->rows[i].key[0], 100 * self.share);
			if (!isnan(self.ns))
				str_printf(&s, " = %.1f %s/%s", self.ns, amount_name(in),
					   part->basis.unit);
			cost_print_coverage(part, &s);
			str_printf(&s, "; basis %s", part->basis.text);
		}
		note_add_block(&t->notes, &part->block, cost_sum, s.buf);
	}
	if (f->n)
		basis_note_event(t, part->basis.ns, in, f->event);
}

/* --- the two sources --- */

static int hotspots_gather_store(struct hotspots_list *h, struct store *s, const struct query *q,
				 const struct cost_part *part, struct error *err)
{
	struct store_spot *rows;
	autofree struct run *runs = NULL;
	int n = scope_runs(s, q, &part->block, FOR_PROFILE, &runs, err), count, rc = 0;

	if (n < 0)
		return n;
	for (int i = 0; i < n && rc >= 0 && part->tally.event; i++) {
		rc = count = store_spots(s, runs[i].id, part->tally.event, q->symbol, &rows, err);
		for (int k = 0; k < count; k++)
			hotspots_add(h, &rows[k], i, n);
		free(rows);
	}
	return rc < 0 ? rc : 0;
}

static void hotspots_gather_profile(struct hotspots_list *h, const struct profile *p,
				    const struct query *q, const char *event)
{
	for (size_t i = 0; i < p->nspots && event; i++) {
		const struct profile_spot *s = &p->spots[i];
		struct store_spot row = {.id = s->symbol,
					 .symbol = profile_symbol_name(p, s->symbol),
					 .dso = profile_symbol_dso(p, s->symbol),
					 .offset = s->offset,
					 .samples = s->samples,
					 .weight = s->weight};

		if (s->line != PROFILE_NONE)
			row.line = intern_get(&p->strings, s->line);
		if (str_matches(q->symbol, row.symbol) &&
		    !strcmp(event, intern_get(&p->strings, p->events[s->event].name)))
			hotspots_add(h, &row, 0, 1);
	}
}

static int hotspots_add_block(struct store *s, const struct query *q, const struct block *b,
			      struct table *t, bool *any, struct error *err)
{
	const struct tally_spec spec = {.keys = {BY_SYMBOL, BY_DSO},
					.nkeys = 2,
					.event = q->event,
					.in = q->in,
					.symbol = q->symbol};
	freed(hotspots_free) struct hotspots_list h = {.n = 0};
	freed(cost_part_free) struct cost_part part;
	int rc = cost_part_read(s, q, b, &spec, &part, err);

	if (!rc && s)
		rc = hotspots_gather_store(&h, s, q, &part, err);
	else if (!rc)
		hotspots_gather_profile(&h, q->bare.profile, q, part.tally.event);
	hotspots_finish(&h, q);
	rc = rc ?: hotspots_add_rows(t, s, q, &part, &h, err);
	if (!rc) {
		hotspots_note_part(t, &part, q->in);
		rc = cost_part_add_notes(s, q, &part, t, err);
	}
	*any |= part.tally.samples > 0;
	return rc;
}

/* Returns -ENOENT when the function has no samples, or when there are no samples at all. */
static int hotspots_check_found(struct store *s, const struct query *q, const struct table *t,
				bool any, struct error *err)
{
	if (t->rows)
		return 0;
	if (any)
		return error_set(
			err, ENOENT,
			"no sample is in a function '%s' itself, or it has less than 0.1 %% of the weight; 'zcost report functions' lists those that have samples",
			q->symbol);
	return error_set(
		err, ENOENT, "no sample is in a function '%s': there are no samples at all%s",
		q->symbol,
		s ? "; 'zcost report runs' shows why, and --from and --to give another part"
		  : "; record again, for longer");
}

static int hotspots_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	autofree struct block *blocks = NULL;
	bool any = false;
	int n, rc = 0;

	if (!q->symbol)
		return error_set(
			err, EINVAL,
			"hotspots of which function? zcost report hotspots FUNCTION [CAPTURE]");
	if (q->comm || q->cpus || q->dso)
		return error_set(
			err, EINVAL,
			"instructions have no command and no CPU: --comm, --cpu and --dso cannot filter them");
	if (!s && !q->bare.profile)
		return error_set(
			err, EINVAL,
			"table hotspots is made from a capture or a perf.data (--perf), not from a text");
	amount_columns(t, q->in);
	n = cost_blocks(s, q, &blocks, err);
	for (int i = 0; i < n && !rc; i++)
		rc = hotspots_add_block(s, q, &blocks[i], t, &any, err);
	if (n < 0 || rc)
		return n < 0 ? n : rc;
	if (s)
		scope_capture_notes(s, t);
	return hotspots_check_found(s, q, t, any, err);
}

#define SPOTS OPT_SAMPLES "dso symbol limit all unit basis in"

const struct measure measure_hotspots = {
	.name = "hotspots",
	.what = "cost of the instructions of a FUNCTION (a sample usually counts at the next one)",
	MEASURE_COLUMNS(hotspots_columns),
	.options =
		{[SOURCE_CAPTURE] = OPT_RUNS SPOTS, [SOURCE_PERF] = OPT_RECORDING OPT_DONE SPOTS},
	.whole =
		"the store has no process of an instruction's samples; 'zcost report functions' has the function's cost",
	.spare = "samples dso self_share symbol",
	.flags = MEASURE_COSTS | MEASURE_FUNCTION,
	.run = hotspots_run,
};
