// SPDX-License-Identifier: GPL-2.0-only
/*
 * A comparison: its tables, and its two ends. BASE and NEW are each a variant of a capture, or a
 * file that holds one run.
 */
#include "analyze/compare/compare.h"

#include "analyze/texts/text.h"
#include "analyze/evidence/limits.h"
#include "analyze/evidence/zerocopy.h"
#include "analyze/analysis/analysis.h"
#include "analyze/perfdata/perfdata.h"
#include "analyze/scope/work.h"
#include "lib/file.h"

#include <errno.h>

/* --- tables --- */

/* The list of tables, in the order of --help; the first that a source can make is its default. */
// clang-format off
#define TABLES(row) \
	row(metrics) \
	row(functions) \
	row(components) \
	row(contexts) \
	row(modules) \
	row(groups) \
	row(waterfall) \
	row(syscalls) \
	row(path) \
	row(settings) \
	row(self_test) \
	row(pairs)
// clang-format on

#define DECLARATION(name) extern const struct compare_table comparison_##name;
#define ADDRESS(name)	  &comparison_##name,

TABLES(DECLARATION)
static const struct compare_table *const tables[] = {TABLES(ADDRESS)};

const struct compare_table *compare_table_at(size_t i)
{
	return i < array_size(tables) ? tables[i] : NULL;
}

const struct compare_table *compare_table_find(const char *name)
{
	for (size_t i = 0; i < array_size(tables); i++)
		if (tables[i]->what && !strcmp(tables[i]->name, name))
			return tables[i];
	return NULL;
}

const struct compare_table *compare_table_for(enum data_source source)
{
	size_t i = 0;

	while (i + 1 < array_size(tables) && !tables[i]->options[source])
		i++;
	return tables[i];
}

void compare_table_init(const struct compare_table *table, struct table *t)
{
	table_init(t, table->table, table->columns, table->ncolumns);
	t->least = table->spare;
}

int compare_table_run(const struct compare_table *table, struct comparison *c, struct table *t,
		      struct outcome *out, struct error *err)
{
	int rc;

	c->table = table;
	compare_table_init(table, t);
	rc = table->run(c, t, out, err);
	for (int e = 0; e < ENDS && !rc; e++) {
		struct query q = compare_query(c, (enum end)e, c->side[BASE]);
		freed(str_free) struct str packets = {0};

		if (c->end[e].store)
			work_print_packets(&packets, c->end[e].store, &q);
		if (packets.len)
			note_add(&t->notes, table_how,
				 arena_printf(&t->arena, "%s: %s", c->end[e].label, packets.buf));
	}
	return rc;
}

/* --- a bare file: a perf.data, or the text of perf report --- */

struct bare {
	const char *path; /* the user's */
	bool is_text;
	struct profile profile; /* the samples of a perf.data */
	struct flat flat;	/* the rows of a text */
};

/* Returns whether the path is a perf.data, or a folder of perf record --threads. */
static bool bare_is_perf_data(const char *path)
{
	autofree char *name = path_is_dir(path) ? xasprintf("%s/data", path) : xstrdup(path);

	return file_begins_with(name, "PERFILE2", strlen("PERFILE2"));
}

bool bare_is_text(const char *path)
{
	static const char zstd[] = "\x28\xb5\x2f\xfd";
	char head[512] = "";
	struct stat st;
	size_t n = 0;
	FILE *in;

	if (bare_is_perf_data(path) || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	in = fopen(path, "re");
	if (in) {
		n = fread(head, 1, sizeof(head), in);
		fclose(in);
	}
	/* "SQLite format 3" ends in a zero byte */
	return n && !memchr(head, 0, n) && (n < strlen(zstd) || memcmp(head, zstd, strlen(zstd)));
}

bool bare_is(const char *path)
{
	return bare_is_perf_data(path) || bare_is_text(path);
}

/* Closes a file; NULL is fine. */
static void bare_close(struct bare *b)
{
	if (!b)
		return;
	profile_free(&b->profile);
	flat_free(&b->flat);
	free(b);
}

static int bare_open(struct bare **b, const char *path, const struct query *q,
		     const struct time_slice *slice, struct error *err)
{
	const struct perfdata_options options = {
		.use_this_host = true, .cpus = q->cpus, .slice = *slice};
	int ret;

	if (slice_given(slice) && bare_is_text(path))
		return error_set(err, EINVAL,
				 "%s: --from and --to mean nothing for a text; it has no times",
				 path);
	*b = xcalloc(1, sizeof(**b));
	(*b)->path = path;
	(*b)->is_text = bare_is_text(path);
	profile_init(&(*b)->profile);
	ret = (*b)->is_text ? perf_report_parse(path, NULL, 0, q->event, &(*b)->flat, err)
			    : perfdata_read(&(*b)->profile, path, &options, err);
	if (!ret && !(*b)->is_text && !(*b)->profile.ncosts)
		ret = error_set(err, ENODATA, "%s has no samples%s", path,
				q->cpus ? " of the CPUs in --cpu"
					: "; for perf record --threads, name the folder");
	if (ret) {
		bare_close(*b);
		*b = NULL;
	}
	return ret;
}

/* --- opening and closing --- */

char *compare_names(const char **names, int n)
{
	struct str s = {0};

	for (int i = 0; i < n; i++)
		str_printf(&s, "%s%s", i ? ", " : "", names[i]);
	return str_take(&s);
}

static int end_find_variant(struct compare_end *e, const char *capture, const char *want,
			    struct error *err)
{
	autofree const char **names = NULL;
	int n = store_variants(e->store, &names, err), ret = 0;
	autofree char *list = NULL;

	if (n < 0)
		return n;
	for (int i = 0; want && i < n; i++)
		if (!strcmp(names[i], want))
			e->variant = names[i];
	if (!want && n == 1)
		e->variant = names[0];
	list = compare_names(names, n);
	if (!e->variant && want)
		ret = error_set(err, ENOENT, "%s has no variant '%s'; %sit has: %s", capture, want,
				did_you_mean(list, want), n ? list : "none");
	else if (!e->variant)
		ret = error_set(err, EINVAL, "%s has %d variants: %s; name one as %s:VARIANT",
				capture, n, n ? list : "none", capture);
	return ret;
}

bool compare_is_pattern(const char *ref)
{
	return strpbrk(ref, "*?[");
}

/* An end that is a pattern of variants has no variant. */
static int end_open_capture(struct compare_end *e, const char *capture, const char *variant,
			    const struct time_slice *slice, struct error *err)
{
	const struct open_options how = {.slice = *slice};
	int ret = e->store ? 0 : capture_open(&e->store, capture, &how, err);

	if (ret || (variant && compare_is_pattern(variant)))
		return ret;
	return end_find_variant(e, capture, variant, err);
}

/* Opens CAPTURE or CAPTURE:VARIANT. A file whose path has a colon takes precedence. */
static int end_open(struct compare_end *e, const char *ref, const struct query *q,
		    const struct time_slice *slice, struct error *err)
{
	const char *colon = strrchr(ref, ':');
	autofree char *capture = NULL;

	if (bare_is(ref))
		return bare_open(&e->bare, ref, q, slice, err);
	if (path_exists(ref))
		return end_open_capture(e, ref, NULL, slice, err);
	if (!colon)
		return error_set(
			err, ENOENT,
			"there is no capture '%s'; for a variant, give -C CAPTURE or CAPTURE:%s",
			ref, ref);
	capture = xstrndup(ref, (size_t)(colon - ref));
	return end_open_capture(e, capture, colon + 1, slice, err);
}

int compare_open(struct comparison *c, const char *capture, const char *base, const char *new,
		 struct error *err)
{
	const char *const refs[ENDS] = {base, new};
	int ret = 0;

	for (int i = 0; i < ENDS && !ret; i++) {
		c->end[i] = (struct compare_end){.label = xstrdup(refs[i])};
		if (capture && i == NEW) {
			c->end[i].store = c->end[BASE].store;
			c->end[i].shared = true;
		}
		ret = capture ? end_open_capture(&c->end[i], capture, refs[i], &c->slice, err)
			      : end_open(&c->end[i], refs[i], &c->query, &c->slice, err);
	}
	return ret ? compare_close(c, ret, err) : 0;
}

int compare_failed(const struct comparison *c, struct error *err)
{
	return store_failed(c->end[BASE].store, err) ?: store_failed(c->end[NEW].store, err);
}

int compare_close(struct comparison *c, int ret, struct error *err)
{
	for (int i = 0; i < ENDS; i++) {
		if (c->end[i].store && !c->end[i].shared)
			ret = store_close(c->end[i].store, ret, err);
		bare_close(c->end[i].bare);
		free(c->end[i].label);
		c->end[i] = (struct compare_end){0};
	}
	return ret;
}

/* --- what holds for the whole comparison --- */

void compare_note_reading(const struct comparison *c, struct table *t)
{
	bool inlines[ENDS];

	for (int i = 0; i < ENDS; i++) {
		if (!c->end[i].store)
			return;
		scope_add_slice_notes(c->end[i].store, true, t);
		inlines[i] = store_capture_value(c->end[i].store, "inlines") != NULL;
	}
	if (inlines[BASE] != inlines[NEW])
		note_add(&t->notes, compare_inlines, c->end[inlines[NEW]].label);
	if (c->rule.apart)
		note_add(&t->notes, compare_apart, c->rule.alpha);
}

void compare_note_others(const struct comparison *c, enum end e, const char *side, double pct,
			 struct table *t)
{
	if (verdict_beside_others(VERDICT_BETTER, pct) == VERDICT_OTHERS)
		note_add_of(&t->notes, c->end[e].label, side, compare_others, pct);
}

bool compare_is_bare(const struct comparison *c)
{
	return c->end[BASE].bare && c->end[NEW].bare;
}

int compare_estimator(struct comparison *c, struct error *err)
{
	int ret = scope_estimator(c->end[BASE].store, &c->query, &c->estimator, err);

	if (!ret)
		c->query.estimator = estimator_names[c->estimator];
	return ret;
}

struct query compare_query(const struct comparison *c, enum end e, const char *side)
{
	struct query q = c->query;

	q.variant = c->end[e].variant;
	q.side = side && c->side[e] ? c->side[e] : side;
	q.figures_only = true;
	if (!c->end[e].bare)
		return q;
	q.side = NULL;
	q.work = c->work[e];
	if (c->end[e].bare->is_text)
		q.bare.flat = &c->end[e].bare->flat;
	else
		q.bare.profile = &c->end[e].bare->profile;
	return q;
}

/* Adds why a variant that asked for zero copy copied. Such a variant proves nothing of zero copy.
 */
static void end_add_evidence(const struct comparison *c, enum end e, struct str *line, bool *copied)
{
	struct query q = compare_query(c, e, NULL);
	const char *pattern = q.variant ? q.variant : c->end[e].label, **names;
	freed(table_free) struct table t = {0};
	int n;

	*copied = false;
	if (c->end[e].bare)
		return;
	table_init(&t, "zerocopy", NULL, 0);
	n = store_variants(c->end[e].store, &names, NULL);
	for (int k = 0; k < n; k++)
		if (str_matches(pattern, names[k]))
			zero_copy_notes(c->end[e].store, &q, names[k], &t);
	free(names);
	for (size_t i = 0; i < t.notes.n; i++)
		str_printf(line, "%s%s", line->len ? "; " : "", t.notes.note[i].value[0].text);
	*copied = t.notes.n;
}

void compare_evidence(struct comparison *c, struct str *lines)
{
	freed(str_free) struct str line = {0};
	bool base;

	end_add_evidence(c, BASE, &line, &base);
	end_add_evidence(c, NEW, &line, &c->rule.copied);
	if (line.len) {
		str_replace(line.buf, '\n', ' ');
		str_printf(lines, "%s%s\n", line.buf,
			   c->rule.copied ? ": no speed-up is claimed" : "");
	}
}

/* Reads the limits of an end and its variant's limits in words, NULL for a file. The caller frees
 * both, also after an error. */
static int end_limits(const struct comparison *c, enum end e, struct limits *l, char **words,
		      struct error *err)
{
	struct query q = compare_query(c, e, NULL);
	int ret;

	if (c->end[e].bare)
		return 0;
	ret = limits_read(c->end[e].store, &q, l, err);
	if (!ret)
		*words = limits_words(l, q.variant, LIMITS_BY_SHARE);
	return ret;
}

/* Returns whether the ends have different bottlenecks. Sides that are a pair have BASE's name. */
static bool ends_limits_differ(const struct comparison *c, struct limits limits[ENDS])
{
	for (struct limit_row *r = limits[NEW].row; r < limits[NEW].row + limits[NEW].n; r++)
		if (c->side[NEW] && !strcmp(r->side, c->side[NEW]))
			r->side = c->side[BASE];
	return limits_differ(&limits[BASE], c->end[BASE].variant, &limits[NEW],
			     c->end[NEW].variant);
}

int compare_limits(const struct comparison *c, struct table *t, struct outcome *out,
		   struct str *first, struct error *err)
{
	const char *base = c->end[BASE].label, *new = c->end[NEW].label;
	char *words[ENDS] = {NULL, NULL}, *both;
	struct limits limits[ENDS] = {0};
	int ret = 0;

	for (int e = 0; e < ENDS && !ret; e++)
		ret = end_limits(c, (enum end)e, &limits[e], &words[e], err);
	if (!ret && words[BASE] && words[NEW]) {
		out->limits_differ = ends_limits_differ(c, limits);
		both = !strcmp(words[BASE], words[NEW])
			       ? xasprintf("%s and %s by %s", base, new, words[BASE])
			       : xasprintf("%s by %s; %s by %s", base, words[BASE], new,
					   words[NEW]);
		if (out->limits_differ)
			str_printf(
				first,
				"DIFFERENT LIMITS: %s. Each end has another bottleneck, so throughput does not compare the two methods\n",
				both);
		else
			note_add(&t->notes, limited_by, both);
		free(both);
	}
	for (int e = 0; e < ENDS; e++) {
		free(words[e]);
		limits_free(&limits[e]);
	}
	return ret;
}
