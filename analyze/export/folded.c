// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks: one line per command and call chain, "comm;root;...;leaf weight". Flame graph
 * tools read this format; stackcollapse-perf.pl makes it from the text of perf script.
 */
#include "analyze/export/lines.h"

struct folded {
	struct lines lines;
	FILE *out;
};

static void folded_write_line(void *folded, struct str *text, uint32_t frame)
{
	struct folded *f = folded;
	char digits[24], *at = digits + sizeof(digits);
	uint64_t weight = lines_weight(&f->lines, 0, frame);

	*--at = '\n';
	do
		*--at = (char)('0' + weight % 10);
	while (weight /= 10);
	*--at = ' ';
	str_add(text, at, (size_t)(digits + sizeof(digits) - at));
	fwrite_unlocked(text->buf, text->len, 1, f->out);
}

static int export_folded(struct export *x, struct error *err)
{
	struct samples s = {.store = x->store, .q = x->q, .notes = &x->notes};
	struct folded f;
	int rc = samples_open(&s, err);

	lines_init(&f.lines);
	f.lines.count_samples = x->count_samples;
	if (!rc)
		rc = samples_read(&s, lines_add, &f.lines, err);
	if (!rc && s.nblocks > 1)
		note_add(
			&x->notes.notes, export_about,
			"each line begins with its variant and side; --variant and --side pick one");
	if (!rc) {
		f.out = export_open(x, err);
		rc = f.out ? 0 : -err->code;
	}
	if (!rc)
		lines_walk(&f.lines, folded_write_line, &f);
	lines_free(&f.lines);
	samples_close(&s);
	return rc;
}

const struct format format_folded = {
	.name = "folded",
	.what = "call chains, a line each: comm;root;...;leaf weight (flame graphs)",
	.options = {[SOURCE_CAPTURE] =
			    "variant side run weight workload-only " OPT_SLICE OPT_SAMPLES,
		    [SOURCE_PERF] = "weight " OPT_RECORDING OPT_SAMPLES},
	.write = export_folded,
};
