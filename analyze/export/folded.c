// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks: one line per command and call chain, "comm;root;...;leaf weight". Flame graph
 * tools read this format; stackcollapse-perf.pl makes it from the text of perf script.
 */
#include "analyze/compare/compare.h"
#include "analyze/export/export.h"

#include <errno.h>

struct folded {
	struct lines lines;
	FILE *out;
	/* folded-diff alone fills the members below. */
	struct samples of[ENDS];
	struct query q[ENDS];
	struct picoseconds sum[ENDS];
};

static void folded_write_line(void *folded, const char *text, uint32_t frame)
{
	struct folded *f = folded;

	fprintf(f->out, "%s %llu\n", text, (unsigned long long)lines_weight(&f->lines, 0, frame));
}

/* Writes the lines that were read without an error. Frees all but the samples. */
static int folded_write(struct folded *f, line_fn *line, struct export *x, int rc,
			struct error *err)
{
	f->out = rc ? NULL : export_open(x, err);
	if (f->out)
		lines_walk(&f->lines, line, f);
	lines_free(&f->lines);
	return rc || f->out ? rc : -err->code;
}

static int export_folded(struct export *x, struct error *err)
{
	struct samples s = {.store = x->store, .q = x->q, .notes = &x->notes};
	struct folded f = {0};
	int rc = samples_open(&s, err);

	lines_init(&f.lines);
	f.lines.count_samples = x->count_samples;
	rc = rc ?: samples_read(&s, lines_add, &f.lines, err);
	rc = folded_write(&f, folded_write_line, x, rc, err);
	samples_close(&s);
	return rc;
}

const struct format format_folded = {
	.name = "folded",
	.what = "call chains, a line each: comm;root;...;leaf weight (flame graphs)",
	.options = {[SOURCE_CAPTURE] =
			    "variant side run weight workload-only wall " OPT_SLICE OPT_SAMPLES,
		    [SOURCE_PERF] = "weight " OPT_RECORDING OPT_SAMPLES},
	.write = export_folded,
};

/* --- two ends --- */

/*
 * The lines of folded with two costs: "comm;root;...;leaf BASE NEW", in picoseconds per unit of
 * work. flamegraph.pl draws the difference. difffolded.pl would print numbers of samples, which
 * another throughput or sampling rate changes.
 */

static void folded_diff_write_line(void *folded_diff, const char *text, uint32_t frame)
{
	struct folded *w = folded_diff;
	int64_t ps[ENDS];

	for (int e = 0; e < ENDS; e++)
		ps[e] = picoseconds_round(&w->sum[e],
					  w->of[e].blocks[0].ns *
						  (double)lines_weight(&w->lines, e, frame));
	if (ps[BASE] || ps[NEW])
		fprintf(w->out, "%s %lld %lld\n", text, (long long)ps[BASE], (long long)ps[NEW]);
}

static int folded_diff_read_end(struct folded *w, struct export *x, enum end e, const char *side,
				struct error *err)
{
	const struct comparison *c = x->ends;
	struct samples *s = &w->of[e];
	int rc;

	w->q[e] = compare_query(c, e, side);
	if (w->q[e].bare.flat)
		return error_set(err, EINVAL, "%s is a text without call chains; give a perf.data",
				 c->end[e].label);
	*s = (struct samples){
		.store = c->end[e].store, .q = &w->q[e], .notes = &x->notes, .costs = true};
	rc = samples_open(s, err);
	if (!rc && !s->nblocks)
		rc = error_set(err, ENODATA, "%s has no run of the side %s", c->end[e].label, side);
	w->lines.end = (int)e;
	rc = rc ?: samples_read(s, lines_add, &w->lines, err);
	lines_end(&w->lines);
	if (!rc && !s->blocks[0].unit)
		rc = error_set(err, ENODATA,
			       "%s has no cost per unit of work, so there is no difference",
			       c->end[e].label);
	return rc;
}

static int folded_diff_read(struct folded *w, struct export *x, struct error *err)
{
	const char *side, *unit[ENDS];
	int rc = compare_side(x->ends, &side, err);

	for (int e = 0; e < ENDS && !rc; e++)
		rc = folded_diff_read_end(w, x, (enum end)e, *side ? side : NULL, err);
	if (rc)
		return rc;
	for (int e = 0; e < ENDS; e++)
		unit[e] = w->of[e].blocks[0].unit;
	if (strcmp(unit[BASE], unit[NEW]) != 0)
		return error_set(err, EINVAL,
				 "%s costs ns per %s, %s ns per %s: give a --unit that both have",
				 x->ends->end[BASE].label, unit[BASE], x->ends->end[NEW].label,
				 unit[NEW]);
	note_add(&x->notes.notes, export_about,
		 arena_printf(&x->notes.arena, "%s: picoseconds per %s, of BASE and of NEW",
			      *side ? side : "files", unit[BASE]));
	return 0;
}

static int export_folded_diff(struct export *x, struct error *err)
{
	struct folded f = {0};
	int rc;

	lines_init(&f.lines);
	rc = folded_diff_read(&f, x, err);
	rc = folded_write(&f, folded_diff_write_line, x, rc, err);
	samples_close(&f.of[BASE]);
	samples_close(&f.of[NEW]);
	return rc;
}

const struct format format_folded_diff = {
	.name = "folded-diff",
	.what = "call chains of BASE and NEW: comm;root;...;leaf base new, in ps per unit of work (flamegraph.pl)",
	.options = {[SOURCE_CAPTURE] =
			    "capture side from to cpu comm event workload-only unit basis",
		    [SOURCE_PERF] = "from to cpu comm event rate unit"},
	.two_ends = true,
	.write = export_folded_diff,
};
