// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks: one line per command and call chain, "comm;root;...;leaf weight". Flame graph
 * tools read this format; stackcollapse-perf.pl makes it from the text of perf script.
 *
 * Two chains with the same text share a line: an address without a symbol has only its object's
 * name. The chains of the profiles therefore go into a trie of the printed names. Its roots are
 * commands, or VARIANT/SIDE above the commands. A walk of the trie in the order of names prints the
 * lines.
 */
#include "analyze/export/export.h"
#include "analyze/measures/scope.h"
#include "analyze/measures/tally.h"
#include "lib/hash.h"
#include "lib/radix.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A frame of `lines` is the text between two ';'. */
struct folded {
	struct export *x;
	struct profile lines;
	uint64_t *weight; /* of the line that ends at each frame of `lines` */
	size_t cap;
	const char *event; /* the first profile's event, read from all; in lines.strings */
};

/* A profile that is added to the lines, or one profile after another of a store's runs. */
struct folded_source {
	struct folded *f;
	const struct profile *p; /* NULL: none yet */
	uint32_t event;
	uint32_t root;	      /* frame of the lines above the command, or PROFILE_NONE */
	struct map names;     /* symbol -> symbol of the lines + 1 */
	struct map comms;     /* comm -> frame of the lines + 2; 1: not wanted */
	struct place *places; /* by frame */
};

/* The frame of the lines that a profile's frame became, and the frame of its command + 1 (0: none).
 */
struct place {
	uint32_t comm, frame;
};

/* --- names --- */

static uint32_t folded_name_symbol(struct folded *f, const char *name, bool comm)
{
	char *copy = xstrdup(*name ? name : "[unknown]"), *at;
	uint32_t symbol;

	for (at = copy; *at; at++) {
		if (*at == ';')
			*at = ':';
		else if ((unsigned char)*at < ' ' || (comm && *at == ' '))
			*at = '_';
	}
	symbol = profile_symbol(&f->lines, 0, copy, false);
	free(copy);
	return symbol;
}

/*
 * Returns the symbol that names an unresolved address by its object: "[libc.so.6]", "[unknown]".
 * The object of code from a JIT compiler is the map file that perf looks for.
 */
static uint32_t folded_object_symbol(struct folded *f, const char *dso)
{
	static const char jit[] = "[JIT] tid ";
	const char *slash = strrchr(dso, '/');
	uint32_t symbol;
	char *text;

	if (!strcmp(dso, "[unknown]"))
		text = xstrdup(dso);
	else if (str_starts(dso, jit))
		text = xasprintf("[perf-%s.map]", dso + strlen(jit));
	else
		text = xasprintf("[%s]", slash ? slash + 1 : dso);
	symbol = folded_name_symbol(f, text, false);
	free(text);
	return symbol;
}

static uint32_t folded_symbol(struct folded_source *w, uint32_t symbol)
{
	uint64_t *known = map_at(&w->names, symbol);

	if (!*known)
		*known = 1 + (w->p->symbols[symbol].unresolved
				      ? folded_object_symbol(w->f, profile_symbol_dso(w->p, symbol))
				      : folded_name_symbol(w->f, profile_symbol_name(w->p, symbol),
							   false));
	return (uint32_t)*known - 1;
}

/* --- from samples to lines --- */

/* Returns the command's frame, or PROFILE_NONE for a command that --comm leaves out. */
static uint32_t folded_comm_frame(struct folded_source *w, uint32_t comm)
{
	uint64_t *known = map_at(&w->comms, comm);
	const char *name;

	if (!*known) {
		name = comm == PROFILE_NONE ? "" : intern_get(&w->p->strings, comm);
		*known = !str_matches(w->f->x->q->comm, name)
				 ? 1
				 : 2 + profile_frame(&w->f->lines, w->root,
						     folded_name_symbol(w->f, name, true));
	}
	return *known == 1 ? PROFILE_NONE : (uint32_t)(*known - 2);
}

/* Climbs to the first frame that this command already has in the lines, and adds those below it. */
static uint32_t folded_frame(struct folded_source *w, uint32_t comm, uint32_t frame)
{
	const struct profile_frame *frames = w->p->frames;
	uint32_t chain[256], n = 0, at = comm;

	for (; frame != PROFILE_NONE; frame = frames[frame].parent) {
		if (w->places[frame].comm == comm + 1) {
			at = w->places[frame].frame;
			break;
		}
		if (n == array_size(chain)) {
			at = folded_frame(w, comm, frame);
			break;
		}
		chain[n++] = frame;
	}
	while (n--) {
		at = profile_frame(&w->f->lines, at, folded_symbol(w, frames[chain[n]].symbol));
		w->places[chain[n]] = (struct place){comm + 1, at};
	}
	return at;
}

static void folded_add_weight(struct folded *f, uint32_t frame, uint64_t weight)
{
	size_t old = f->cap;

	if (frame >= f->cap) {
		f->cap = f->lines.frames_cap;
		f->weight = xrealloc(f->weight, f->cap * sizeof(*f->weight));
		memset(f->weight + old, 0, (f->cap - old) * sizeof(*f->weight));
	}
	f->weight[frame] += weight;
}

/* Returns the frame above interrupts that ran in no process of the workload. */
static uint32_t folded_elsewhere_frame(struct folded_source *w)
{
	return profile_frame(&w->f->lines, w->root,
			     folded_name_symbol(w->f, TALLY_ELSEWHERE, true));
}

/* Returns the command's frame, or PROFILE_NONE for a cost that the filters leave out. */
static uint32_t folded_root_of_cost(struct folded_source *w, const struct profile_cost *c)
{
	const struct cpuset *cpus = w->f->x->q->cpus;

	if (c->event != w->event || (cpus && (c->cpu == PROFILE_NONE || !cpuset_has(cpus, c->cpu))))
		return PROFILE_NONE;
	if (!w->f->x->q->workload_only || profile_is_own(w->p, c->pid))
		return folded_comm_frame(w, c->comm);
	return context_is_softirq(c->context) || c->context == CTX_HARDIRQ
		       ? folded_elsewhere_frame(w)
		       : PROFILE_NONE;
}

/* Adds the costs command by command, so that one place for each frame suffices. */
static void folded_add_costs(struct folded_source *w)
{
	const struct profile *p = w->p;
	struct radix_row *rows = xcalloc(p->ncosts + 1, sizeof(*rows));
	size_t i, n = 0;
	uint32_t comm;

	for (i = 0; i < p->ncosts; i++) {
		comm = folded_root_of_cost(w, &p->costs[i]);
		if (comm != PROFILE_NONE)
			rows[n++] = (struct radix_row){comm, i};
	}
	radix_sort(rows, n);
	for (i = 0; i < n; i++) {
		const struct profile_cost *c = &p->costs[rows[i].value];

		folded_add_weight(w->f, folded_frame(w, (uint32_t)rows[i].key, c->frame),
				  w->f->x->count_samples ? c->samples : c->weight);
	}
	free(rows);
}

/* Starts with the first profile; `root` is the name above the commands, or NULL. */
static void folded_source_init(struct folded_source *w, const struct profile *p, const char *root)
{
	w->p = p;
	w->root = root ? profile_frame(&w->f->lines, PROFILE_NONE,
				       folded_name_symbol(w->f, root, true))
		       : PROFILE_NONE;
	w->places = xcalloc(p->nframes + 1, sizeof(*w->places));
}

static void folded_source_free(struct folded_source *w)
{
	map_free(&w->names);
	map_free(&w->comms);
	free(w->places);
}

static int folded_add_profile(struct folded *f, struct folded_source *w, const struct profile *p,
			      const char *root, struct error *err)
{
	const char *name = f->event ? f->event : f->x->q->event;
	int rc = profile_pick_event(p, name, &w->event, err);

	if (rc || w->event == p->nevents)
		return rc;
	f->event = intern_get(
		&f->lines.strings,
		intern_str(&f->lines.strings, intern_get(&p->strings, p->events[w->event].name)));
	if (!w->p)
		folded_source_init(w, p, root);
	folded_add_costs(w);
	return 0;
}

/* --- a capture --- */

static int folded_add_runs(struct folded *f, const struct run *runs, int n, const char *root,
			   struct error *err)
{
	struct folded_source w = {.f = f};
	const struct profile *p;
	int i, rc = 0;

	for (i = 0; i < n && !rc; i++) {
		rc = store_profile(f->x->store, runs[i].id, &p, err);
		if (!rc && f->x->q->workload_only)
			rc = profile_check_own(p, runs[i].variant, runs[i].side, err);
		if (!rc)
			rc = folded_add_profile(f, &w, p, root, err);
	}
	folded_source_free(&w);
	return rc;
}

static uint64_t folded_weight(const struct folded *f)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < f->cap; i++)
		sum += f->weight[i];
	return sum;
}

static int folded_add_block(struct folded *f, const struct block *b, bool only, bool *empty,
			    struct error *err)
{
	char *root = only ? NULL : xasprintf("%s/%s", b->variant, b->side);
	uint64_t before = folded_weight(f);
	struct run *runs;
	int n = scope_runs(f->x->store, f->x->q, b, FOR_PROFILE, &runs, err), rc = n;

	if (n >= 0) {
		rc = folded_add_runs(f, runs, n, root, err);
		free(runs);
	}
	if (!rc)
		rc = scope_profile_notes(f->x->store, f->x->q, b, &f->x->notes, err);
	*empty = folded_weight(f) == before;
	free(root);
	return rc;
}

/* Adds the notes of an export that holds several variants or sides. */
static void folded_note_blocks(struct folded *f, const struct block *blocks, const bool *empty,
			       int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (empty[i])
			note_add_of(&f->x->notes.notes, blocks[i].variant, blocks[i].side,
				    folded_empty);
	note_add(&f->x->notes.notes, folded_several);
}

static int folded_add_store(struct folded *f, struct error *err)
{
	struct block *blocks = NULL;
	int n = scope_blocks(f->x->store, f->x->q, &blocks, err), i, rc = n < 0 ? n : 0;
	bool *empty = xcalloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*empty));

	for (i = 0; i < n && !rc; i++)
		rc = folded_add_block(f, &blocks[i], n == 1, &empty[i], err);
	if (!rc && n > 1 && folded_weight(f))
		folded_note_blocks(f, blocks, empty, n);
	if (!rc)
		scope_capture_notes(f->x->store, &f->x->notes);
	free(empty);
	free(blocks);
	return rc;
}

/* --- the walk --- */

/* A frame, ordered among its siblings: the rank of its name (upper half), then its number. */
typedef uint64_t child_t;

struct walk {
	struct folded *f;
	child_t *children; /* those of frame i from first[i + 1] on to first[i + 2]; roots from 0 */
	size_t *first;
	struct str line;
	FILE *out;
};

static int folded_order_names(const void *a, const void *b, void *profile)
{
	return strcmp(profile_symbol_name(profile, *(const uint32_t *)a),
		      profile_symbol_name(profile, *(const uint32_t *)b));
}

/* Returns the rank of each symbol in the order of names; the caller frees. */
static uint32_t *folded_rank_names(struct profile *p)
{
	uint32_t *order = xcalloc(p->nsymbols + 1, sizeof(*order)), i;
	uint32_t *rank = xcalloc(p->nsymbols + 1, sizeof(*rank));

	for (i = 0; i < p->nsymbols; i++)
		order[i] = i;
	if (p->nsymbols)
		qsort_r(order, p->nsymbols, sizeof(*order), folded_order_names, p);
	for (i = 0; i < p->nsymbols; i++)
		rank[order[i]] = i;
	free(order);
	return rank;
}

static int walk_order_ranks(const void *a, const void *b)
{
	child_t l = *(const child_t *)a, r = *(const child_t *)b;

	return l < r ? -1 : l > r;
}

/* Returns the index of the first child of `parent`; PROFILE_NONE + 1 is 0. */
static size_t *walk_first_child(struct walk *w, uint32_t parent)
{
	return &w->first[(uint32_t)(parent + 1)];
}

static void walk_sort_children(struct walk *w)
{
	struct profile *p = &w->f->lines;
	uint32_t *rank = folded_rank_names(p), i;
	size_t sum = 0, n;

	w->children = xcalloc(p->nframes + 1, sizeof(*w->children));
	w->first = xcalloc(p->nframes + 2, sizeof(*w->first));
	for (i = 0; i < p->nframes; i++)
		++*walk_first_child(w, p->frames[i].parent);
	for (i = 0; i < p->nframes + 2; i++) { /* ends of the lists */
		sum += w->first[i];
		w->first[i] = sum;
	}
	for (i = 0; i < p->nframes; i++) /* filling from the end turns ends into starts */
		w->children[--*walk_first_child(w, p->frames[i].parent)] =
			(uint64_t)rank[p->frames[i].symbol] << 32 | i;
	for (i = 0; i < p->nframes + 1; i++) {
		n = w->first[i + 1] - w->first[i];
		if (n > 1)
			qsort(w->children + w->first[i], n, sizeof(child_t), walk_order_ranks);
	}
	free(rank);
}

static void walk_write_line(struct walk *w, uint64_t weight)
{
	char digits[24], *at = digits + sizeof(digits);
	size_t len = w->line.len;

	*--at = '\n';
	do
		*--at = (char)('0' + weight % 10);
	while (weight /= 10);
	*--at = ' ';
	str_add(&w->line, at, (size_t)(digits + sizeof(digits) - at));
	fwrite_unlocked(w->line.buf, w->line.len, 1, w->out);
	w->line.len = len;
}

struct level {
	size_t at, end; /* of the children */
	size_t len;	/* of the line above them */
};

/* Walks depth first. No recursion: a chain may be thousands of frames deep. */
static void walk_write_lines(struct walk *w)
{
	const struct folded *f = w->f;
	struct level *levels = NULL, *top;
	size_t n = 0, cap = 0;
	uint32_t frame = PROFILE_NONE;

	for (;;) {
		array_grow(levels, n, cap);
		levels[n++] = (struct level){*walk_first_child(w, frame),
					     *(walk_first_child(w, frame) + 1), w->line.len};
		while (n && levels[n - 1].at == levels[n - 1].end)
			n--;
		if (!n)
			break;
		top = &levels[n - 1];
		frame = (uint32_t)w->children[top->at++];
		w->line.len = top->len;
		if (top->len)
			str_putc(&w->line, ';');
		str_puts(&w->line, profile_symbol_name(&f->lines, f->lines.frames[frame].symbol));
		if (frame < f->cap && f->weight[frame])
			walk_write_line(w, f->weight[frame]);
	}
	free(levels);
}

/* " on CPU 7 of command x" */
static void folded_print_filters(const struct query *q, struct str *s)
{
	char *cpus = q->cpus ? cpuset_format(q->cpus) : NULL;

	if (cpus)
		str_printf(s, " on CPU %s", cpus);
	if (q->comm)
		str_printf(s, " of command %s", q->comm);
	if (q->workload_only)
		str_puts(s, " of the workload");
	free(cpus);
}

/* Returns what the user can do about an empty export. */
static const char *folded_hint(const struct folded *f)
{
	if (f->event && (f->x->q->cpus || f->x->q->comm))
		return "; 'zcost report functions --by cpu,comm' lists what there is";
	if (!f->x->store)
		return "; record again, for longer";
	return store_capture_value(f->x->store, "slice")
		       ? " between --from and --to; give another part of the window"
		       : "; 'zcost report runs' lists the runs and why they failed";
}

static int folded_refuse_empty(const struct folded *f, struct error *err)
{
	struct str s = {0};
	int rc;

	if (f->event)
		str_printf(&s, " of %s", f->event);
	folded_print_filters(f->x->q, &s);
	rc = error_set(err, ENODATA, "nothing to export: no sample%s%s", s.len ? s.buf : "",
		       folded_hint(f));
	str_free(&s);
	return rc;
}

static int folded_write(struct folded *f, struct error *err)
{
	struct walk w = {.f = f};

	if (!folded_weight(f))
		return folded_refuse_empty(f, err);
	w.out = export_open(f->x, err);
	if (!w.out)
		return -err->code;
	walk_sort_children(&w);
	walk_write_lines(&w);
	free(w.children);
	free(w.first);
	str_free(&w.line);
	return 0;
}

static int export_folded(struct export *x, struct error *err)
{
	struct folded f = {.x = x};
	struct folded_source w = {.f = &f};
	int rc;

	profile_init(&f.lines);
	profile_dso(&f.lines, "", NULL, DSO_UNKNOWN);
	if (x->store) {
		rc = folded_add_store(&f, err);
	} else {
		rc = folded_add_profile(&f, &w, x->q->profile, NULL, err);
		folded_source_free(&w);
		profile_add_notes(x->q->profile, &x->notes.notes);
		x->notes.lossy |= notes_have(&x->notes.notes, SEVERITY_LOSSY);
	}
	if (!rc)
		rc = folded_write(&f, err);
	free(f.weight);
	profile_free(&f.lines);
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
