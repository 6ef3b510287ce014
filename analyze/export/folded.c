// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks: a line for each command and call chain, "comm;root;...;leaf weight", as flame
 * graph tools take them and stackcollapse-perf.pl makes them of perf script's text.
 *
 * Lines differ where they read differently: addresses without a symbol are known by their object
 * alone. So the profile's chains go into a trie of what is printed, whose roots are commands (or
 * the runs they belong to), and the lines are that trie's walk, in the order of names.
 */
#include "analyze/export/export.h"
#include "analyze/measures/scope.h"
#include "analyze/model/notes.h"
#include "analyze/measures/tally.h"
#include "lib/alloc.h"
#include "lib/hash.h"
#include "lib/radix.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Frames of `lines` are what stands between two ';'. */
struct folded {
	struct export *x;
	struct profile lines;
	uint64_t *weight; /* by frame of `lines`: of the line that ends there */
	size_t cap;
	const char *event; /* the first profile's, asked of the others too; in lines.strings */
};

/* A profile on its way into the lines, also run by run of a store. */
struct pass {
	struct folded *f;
	const struct profile *p; /* NULL: none yet */
	uint32_t event;
	uint32_t root;	      /* frame of the lines above the command, or PROFILE_NONE */
	struct map names;     /* symbol -> symbol of the lines + 1 */
	struct map comms;     /* comm -> frame of the lines + 2; 1: not wanted */
	struct place *places; /* by frame */
};

/* Where a frame went in the lines, and below which command's frame (+ 1; 0: nowhere yet). */
struct place {
	uint32_t comm, frame;
};

/* --- names --- */

static uint32_t name_symbol(struct folded *f, const char *name, bool comm)
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
 * An address is known by its object: "[libc.so.6]", "[unknown]"; code of a JIT compiler by the map
 * of it that perf would look for.
 */
static uint32_t object_symbol(struct folded *f, const char *dso)
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
	symbol = name_symbol(f, text, false);
	free(text);
	return symbol;
}

static uint32_t line_symbol(struct pass *w, uint32_t symbol)
{
	uint64_t *known = map_at(&w->names, symbol);

	if (!*known)
		*known =
			1 + (w->p->symbols[symbol].unresolved
				     ? object_symbol(w->f, profile_symbol_dso(w->p, symbol))
				     : name_symbol(w->f, profile_symbol_name(w->p, symbol), false));
	return (uint32_t)*known - 1;
}

/* --- from samples to lines --- */

/* The command's frame; PROFILE_NONE: it is not wanted. */
static uint32_t comm_frame(struct pass *w, uint32_t comm)
{
	uint64_t *known = map_at(&w->comms, comm);
	const char *name;

	if (!*known) {
		name = comm == PROFILE_NONE ? "" : intern_get(&w->p->strings, comm);
		*known = !tally_wanted(w->f->x->q->comm, name)
				 ? 1
				 : 2 + profile_frame(&w->f->lines, w->root,
						     name_symbol(w->f, name, true));
	}
	return *known == 1 ? PROFILE_NONE : (uint32_t)(*known - 2);
}

/* Climbs to the first frame that has its place below this command already, and descends. */
static uint32_t line_frame(struct pass *w, uint32_t comm, uint32_t frame)
{
	const struct profile_frame *frames = w->p->frames;
	uint32_t chain[256], n = 0, at = comm;

	for (; frame != PROFILE_NONE; frame = frames[frame].parent) {
		if (w->places[frame].comm == comm + 1) {
			at = w->places[frame].frame;
			break;
		}
		if (n == array_size(chain)) {
			at = line_frame(w, comm, frame);
			break;
		}
		chain[n++] = frame;
	}
	while (n--) {
		at = profile_frame(&w->f->lines, at, line_symbol(w, frames[chain[n]].symbol));
		w->places[chain[n]] = (struct place){comm + 1, at};
	}
	return at;
}

static void add_weight(struct folded *f, uint32_t frame, uint64_t weight)
{
	size_t old = f->cap;

	if (frame >= f->cap) {
		f->cap = f->lines.frames_cap;
		f->weight = xrealloc(f->weight, f->cap * sizeof(*f->weight));
		memset(f->weight + old, 0, (f->cap - old) * sizeof(*f->weight));
	}
	f->weight[frame] += weight;
}

/* The command's frame, or PROFILE_NONE where the row does not count. */
static uint32_t wanted(struct pass *w, const struct profile_cost *c)
{
	const struct cpuset *cpus = w->f->x->q->cpus;

	if (c->event != w->event || (cpus && (c->cpu == PROFILE_NONE || !cpuset_has(cpus, c->cpu))))
		return PROFILE_NONE;
	return comm_frame(w, c->comm);
}

/* Command by command, so that one place for each frame is enough to know. */
static void add_costs(struct pass *w)
{
	const struct profile *p = w->p;
	struct radix_row *rows = xcalloc(p->ncosts + 1, sizeof(*rows));
	size_t i, n = 0;
	uint32_t comm;

	for (i = 0; i < p->ncosts; i++) {
		comm = wanted(w, &p->costs[i]);
		if (comm != PROFILE_NONE)
			rows[n++] = (struct radix_row){comm, i};
	}
	radix_sort(rows, n);
	for (i = 0; i < n; i++) {
		const struct profile_cost *c = &p->costs[rows[i].value];

		add_weight(w->f, line_frame(w, (uint32_t)rows[i].key, c->frame),
			   w->f->x->count_samples ? c->samples : c->weight);
	}
	free(rows);
}

/* `root`: what stands before the commands, or NULL. */
static void pass_init(struct pass *w, const struct profile *p, const char *root)
{
	w->p = p;
	w->root = root ? profile_frame(&w->f->lines, PROFILE_NONE, name_symbol(w->f, root, true))
		       : PROFILE_NONE;
	w->places = xcalloc(p->nframes + 1, sizeof(*w->places));
}

static void pass_free(struct pass *w)
{
	map_free(&w->names);
	map_free(&w->comms);
	free(w->places);
}

static int add_profile(struct folded *f, struct pass *w, const struct profile *p, const char *root,
		       struct error *err)
{
	const char *name = f->event ? f->event : f->x->q->event;
	int rc = profile_pick_event(p, name, &w->event, err);

	if (rc || w->event == p->nevents)
		return rc;
	f->event = intern_get(
		&f->lines.strings,
		intern_str(&f->lines.strings, intern_get(&p->strings, p->events[w->event].name)));
	if (!w->p)
		pass_init(w, p, root);
	add_costs(w);
	return 0;
}

/* --- a capture --- */

static int add_runs(struct folded *f, const struct run *runs, int n, const char *root,
		    struct error *err)
{
	struct pass w = {.f = f};
	const struct profile *p;
	int i, rc = 0;

	for (i = 0; i < n && !rc; i++) {
		rc = store_profile(f->x->store, runs[i].id, &p, err);
		if (!rc)
			rc = add_profile(f, &w, p, root, err);
	}
	pass_free(&w);
	return rc;
}

static uint64_t weight_of_all(const struct folded *f)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < f->cap; i++)
		sum += f->weight[i];
	return sum;
}

static int say_notes(struct folded *f, const struct block *b, struct error *err)
{
	struct run *runs;
	int n = scope_runs(f->x->store, f->x->q, b, FOR_PROFILE_NOTES, &runs, err);

	if (n < 0)
		return n;
	scope_notes(f->x->store, runs, n, &f->x->notes);
	free(runs);
	return 0;
}

static int add_block(struct folded *f, const struct block *b, bool only, bool *empty,
		     struct error *err)
{
	char *root = only ? NULL : xasprintf("%s/%s", b->variant, b->side);
	uint64_t before = weight_of_all(f);
	struct run *runs;
	int n = scope_runs(f->x->store, f->x->q, b, FOR_PROFILE, &runs, err), rc = n;

	if (n >= 0) {
		rc = add_runs(f, runs, n, root, err);
		free(runs);
	}
	if (!rc)
		rc = say_notes(f, b, err);
	*empty = weight_of_all(f) == before;
	free(root);
	return rc;
}

/* Of several, where there is any line. */
static void say_blocks(struct folded *f, const struct block *blocks, const bool *empty, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (empty[i])
			note_add_of(&f->x->notes.notes, blocks[i].variant, blocks[i].side,
				    folded_empty);
	note_add(&f->x->notes.notes, folded_several);
}

static int add_store(struct folded *f, struct error *err)
{
	struct block *blocks = NULL;
	int n = scope_blocks(f->x->store, f->x->q, &blocks, err), i, rc = n < 0 ? n : 0;
	bool *empty = xcalloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*empty));

	for (i = 0; i < n && !rc; i++)
		rc = add_block(f, &blocks[i], n == 1, &empty[i], err);
	if (!rc && n > 1 && weight_of_all(f))
		say_blocks(f, blocks, empty, n);
	if (!rc)
		scope_capture_notes(f->x->store, &f->x->notes);
	free(empty);
	free(blocks);
	return rc;
}

/* --- the walk --- */

/* A frame among its siblings: place of its name in the order of names, then its number. */
typedef uint64_t child_t;

struct walk {
	struct folded *f;
	child_t *children; /* those of frame i from first[i + 1] on to first[i + 2]; roots from 0 */
	size_t *first;
	struct str line;
	FILE *out;
};

static int by_name(const void *a, const void *b, void *profile)
{
	return strcmp(profile_symbol_name(profile, *(const uint32_t *)a),
		      profile_symbol_name(profile, *(const uint32_t *)b));
}

/* The place of each symbol in the order of names; the caller frees. */
static uint32_t *rank_names(struct profile *p)
{
	uint32_t *order = xcalloc(p->nsymbols + 1, sizeof(*order)), i;
	uint32_t *rank = xcalloc(p->nsymbols + 1, sizeof(*rank));

	for (i = 0; i < p->nsymbols; i++)
		order[i] = i;
	if (p->nsymbols)
		qsort_r(order, p->nsymbols, sizeof(*order), by_name, p);
	for (i = 0; i < p->nsymbols; i++)
		rank[order[i]] = i;
	free(order);
	return rank;
}

static int by_rank(const void *a, const void *b)
{
	child_t l = *(const child_t *)a, r = *(const child_t *)b;

	return l < r ? -1 : l > r;
}

/* Where the children of `parent` begin in the list of all: PROFILE_NONE + 1 is 0. */
static size_t *first_of(struct walk *w, uint32_t parent)
{
	return &w->first[(uint32_t)(parent + 1)];
}

static void sort_children(struct walk *w)
{
	struct profile *p = &w->f->lines;
	uint32_t *rank = rank_names(p), i;
	size_t sum = 0, n;

	w->children = xcalloc(p->nframes + 1, sizeof(*w->children));
	w->first = xcalloc(p->nframes + 2, sizeof(*w->first));
	for (i = 0; i < p->nframes; i++)
		++*first_of(w, p->frames[i].parent);
	for (i = 0; i < p->nframes + 2; i++) { /* ends */
		sum += w->first[i];
		w->first[i] = sum;
	}
	for (i = 0; i < p->nframes; i++) /* filled from the end: they become beginnings */
		w->children[--*first_of(w, p->frames[i].parent)] =
			(uint64_t)rank[p->frames[i].symbol] << 32 | i;
	for (i = 0; i < p->nframes + 1; i++) {
		n = w->first[i + 1] - w->first[i];
		if (n > 1)
			qsort(w->children + w->first[i], n, sizeof(child_t), by_rank);
	}
	free(rank);
}

static void put_line(struct walk *w, uint64_t weight)
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

/* Depth first. A chain may be thousands deep: no recursion. */
static void put_lines(struct walk *w)
{
	const struct folded *f = w->f;
	struct level *levels = NULL, *top;
	size_t n = 0, cap = 0;
	uint32_t frame = PROFILE_NONE;

	for (;;) {
		array_grow(levels, n, cap);
		levels[n++] =
			(struct level){*first_of(w, frame), *(first_of(w, frame) + 1), w->line.len};
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
			put_line(w, f->weight[frame]);
	}
	free(levels);
}

/* " on CPU 7 of command x" */
static void say_filters(const struct query *q, struct str *s)
{
	char *cpus = q->cpus ? cpuset_format(q->cpus) : NULL;

	if (cpus)
		str_printf(s, " on CPU %s", cpus);
	if (q->comm)
		str_printf(s, " of command %s", q->comm);
	free(cpus);
}

/* Where to look for what there is. */
static const char *way_out(const struct folded *f)
{
	if (f->event && (f->x->q->cpus || f->x->q->comm))
		return "; 'zcost report functions --by cpu,comm' lists what there is";
	if (!f->x->store)
		return "; record again, for longer";
	return store_capture_value(f->x->store, "slice")
		       ? " between --from and --to; give another part of the window"
		       : "; 'zcost report runs' tells what became of the runs";
}

static int nothing(const struct folded *f, struct error *err)
{
	struct str s = {0};
	int rc;

	if (f->event)
		str_printf(&s, " of %s", f->event);
	say_filters(f->x->q, &s);
	rc = error_set(err, ENODATA, "nothing to export: no sample%s%s", s.len ? s.buf : "",
		       way_out(f));
	str_free(&s);
	return rc;
}

static int write_lines(struct folded *f, struct error *err)
{
	struct walk w = {.f = f};

	if (!weight_of_all(f))
		return nothing(f, err);
	w.out = export_open(f->x, err);
	if (!w.out)
		return -err->code;
	sort_children(&w);
	put_lines(&w);
	free(w.children);
	free(w.first);
	str_free(&w.line);
	return 0;
}

static int export_folded(struct export *x, struct error *err)
{
	struct folded f = {.x = x};
	struct pass w = {.f = &f};
	int rc;

	profile_init(&f.lines);
	profile_dso(&f.lines, "", NULL, DSO_UNKNOWN);
	if (x->store) {
		rc = add_store(&f, err);
	} else {
		rc = add_profile(&f, &w, x->q->profile, NULL, err);
		pass_free(&w);
		profile_add_notes(x->q->profile, &x->notes.notes);
		x->notes.lossy |= notes_have(&x->notes.notes, SEVERITY_LOSSY);
	}
	if (!rc)
		rc = write_lines(&f, err);
	free(f.weight);
	profile_free(&f.lines);
	return rc;
}

const struct format format_folded = {
	.name = "folded",
	.what = "call chains, a line each: comm;root;...;leaf weight (flame graphs)",
	.options = {[SOURCE_CAPTURE] = "variant side run weight " OPT_SLICE OPT_SAMPLES,
		    [SOURCE_PERF] = "weight " OPT_RECORDING OPT_SAMPLES},
	.write = export_folded,
};
