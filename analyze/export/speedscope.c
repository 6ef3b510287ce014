// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file format of speedscope: a list of frames, and one profile for each variant and side with
 * stacks of places in this list. The weights are nanoseconds per unit of work where they are known.
 */
#include "analyze/export/export.h"

#include <jansson.h>

struct speedscope {
	struct samples s;
	struct lines lines;
	struct stack *stacks; /* in the order of lines */
	size_t n, cap;
	FILE *out;
};

/* A line, and the root of its block. */
struct stack {
	uint32_t frame, root;
};

static void speedscope_add_line(void *speedscope, const char *text, uint32_t frame)
{
	struct speedscope *w = speedscope;
	const struct profile_frame *frames = w->lines.trie.frames;
	uint32_t root = frame;

	(void)text;
	while (frames[root].parent != PROFILE_NONE)
		root = frames[root].parent;
	array_add(w->stacks, w->n, w->cap, (struct stack){frame, root});
}

/* Returns the text as a JSON string. The caller frees it. Bytes that are not UTF-8 become \xHH. */
static char *speedscope_quote(const char *text)
{
	freed(str_free) struct str scratch = {0};
	json_auto_t *string = json_string(printable(&scratch, text, PRINTABLE_LINE));

	return json_dumps(string, JSON_ENCODE_ANY);
}

static void speedscope_write_frames(struct speedscope *w)
{
	const struct profile *trie = &w->lines.trie;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"zcost\",\n\"shared\":{\"frames\":[\n",
	      w->out);
	for (uint32_t i = 0; i < trie->nsymbols; i++) {
		autofree char *name = speedscope_quote(profile_symbol_name(trie, i));

		fprintf(w->out, "{\"name\":%s}%s\n", name, i + 1 < trie->nsymbols ? "," : "");
	}
	fputs("]},\n\"profiles\":[", w->out);
}

/* Writes the places of a stack from the command to the leaf. */
static void speedscope_write_stack(struct speedscope *w, const struct stack *stack)
{
	const struct profile_frame *frames = w->lines.trie.frames;
	autofree uint32_t *chain = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t frame = stack->frame; frame != stack->root; frame = frames[frame].parent)
		array_add(chain, n, cap, frames[frame].symbol);
	putc('[', w->out);
	while (n--)
		fprintf(w->out, "%u%s", chain[n], n ? "," : "]");
}

static double speedscope_weight(const struct speedscope *w, const struct sample_block *b,
				const struct stack *stack)
{
	return (double)lines_weight(&w->lines, 0, stack->frame) * (b->unit ? b->ns : 1);
}

/* Writes the profile of the stacks from first to end. */
static void speedscope_write_profile(struct speedscope *w, const struct sample_block *b,
				     const struct stack *first, const struct stack *end)
{
	autofree char *name = b->unit ? xasprintf("%s, ns per %s", b->name, b->unit)
				      : xasprintf("%s, %s", b->name, w->s.event);
	autofree char *quoted = speedscope_quote(name);
	double sum = 0;

	fprintf(w->out,
		"{\"type\":\"sampled\",\"name\":%s,\"unit\":\"%s\",\"startValue\":0,\n\"samples\":[",
		quoted, b->unit || w->s.is_time ? "nanoseconds" : "none");
	for (const struct stack *at = first; at < end; at++) {
		fputs(at > first ? ",\n" : "\n", w->out);
		speedscope_write_stack(w, at);
	}
	fputs("],\n\"weights\":[", w->out);
	for (const struct stack *at = first; at < end; at++) {
		fprintf(w->out, "%s%.9g", at > first ? ",\n" : "\n", speedscope_weight(w, b, at));
		sum += speedscope_weight(w, b, at);
	}
	fprintf(w->out, "],\n\"endValue\":%.9g}", sum);
}

static void speedscope_write(struct speedscope *w)
{
	const struct stack *first, *at, *end = w->stacks + w->n;
	const char *before = "\n";

	speedscope_write_frames(w);
	for (const struct sample_block *b = w->s.blocks; b < w->s.blocks + w->s.nblocks; b++) {
		for (first = w->stacks; first < end && first->root != b->root; first++)
			;
		for (at = first; at < end && at->root == b->root; at++)
			;
		if (!b->weight)
			continue;
		fputs(before, w->out);
		speedscope_write_profile(w, b, first, at);
		before = ",\n";
	}
	fputs("\n]}\n", w->out);
}

static int export_speedscope(struct export *x, struct error *err)
{
	struct speedscope w = {
		.s = {.store = x->store, .q = x->q, .notes = &x->notes, .costs = true}};
	int rc = samples_open(&w.s, err);

	lines_init(&w.lines);
	w.lines.all_roots = true;
	rc = rc ?: samples_read(&w.s, lines_add, &w.lines, err);
	if (!rc) {
		lines_walk(&w.lines, speedscope_add_line, &w);
		w.out = export_open(x, err);
		rc = w.out ? 0 : -err->code;
	}
	if (!rc)
		speedscope_write(&w);
	free(w.stacks);
	lines_free(&w.lines);
	samples_close(&w.s);
	return rc;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.what = "a profile for each variant and side, in ns per unit of work (speedscope)",
	.options = {[SOURCE_CAPTURE] = OPT_EXPORT_RUNS, [SOURCE_PERF] = OPT_EXPORT_FILE},
	.write = export_speedscope,
};
