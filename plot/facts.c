// SPDX-License-Identifier: GPL-2.0-only
/* What the store knows about its capture, as charts need it. */
#include "plot/chart.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Appends a name to "a, b" unless the list has it. */
static void facts_add_word(struct str *s, const char *word)
{
	char *at = s->buf ? strstr(s->buf, word ? word : "") : NULL;

	if (!word || !*word)
		return;
	/* A name inside a longer name is another name. */
	if (at && (at == s->buf || at[-1] == ' ') && (!at[strlen(word)] || at[strlen(word)] == ','))
		return;
	str_printf(s, "%s%s", s->len ? ", " : "", word);
}

static const char *facts_add_text(struct facts *f, struct str *s)
{
	const char *kept = s->len ? arena_strdup(&f->arena, s->buf) : NULL;

	str_free(s);
	return kept;
}

static int facts_read_hosts(struct facts *f, struct store *store, struct error *err)
{
	struct str names = {0}, releases = {0};
	struct host_row *rows = NULL;
	int n = store_hosts(store, &rows, err), i;

	for (i = 0; i < n; i++) {
		facts_add_word(&names, rows[i].name);
		facts_add_word(&releases, rows[i].release);
	}
	free(rows);
	f->chart.host = facts_add_text(f, &names);
	f->chart.kernel = facts_add_text(f, &releases);
	return n < 0 ? n : 0;
}

/* Returns the number of the variant's runs of this pass; a run counts once, not once a side. */
static int facts_count_runs(struct store *store, const char *variant, const char *pass, int repeat,
			    struct error *err)
{
	struct run_filter filter = {.variant = variant, .pass = pass, .repeat = repeat};
	struct run *runs = NULL;
	int n = store_runs(store, &filter, &runs, err), i, k, count = 0;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i && runs[k].repeat != runs[i].repeat; k++)
			;
		count += k == i;
	}
	free(runs);
	return n < 0 ? n : count;
}

/* Finds the least and the most runs of the variants that have runs of this pass. */
static int facts_count_pass(const struct facts *f, struct store *store, const char *pass,
			    int repeat, struct run_counts *runs, struct error *err)
{
	int i, n;

	*runs = (struct run_counts){0, 0};

	for (i = 0; i < f->chart.nvariants; i++) {
		n = facts_count_runs(store, f->chart.variants[i], pass, repeat, err);
		if (n < 0)
			return n;
		if (n && (!runs->least || n < runs->least))
			runs->least = n;
		if (n > runs->most)
			runs->most = n;
	}
	return 0;
}

/* A `zcost collect` run without passes is of the pass "all". */
static int facts_count_passes(struct facts *f, struct store *store, int repeat, struct error *err)
{
	struct run_counts all;
	struct {
		const char *pass;
		struct run_counts *runs;
	} passes[] = {{"measure", &f->chart.measured},
		      {"profile", &f->chart.profiled},
		      {"syscalls", &f->chart.counted}};
	int rc = facts_count_pass(f, store, "all", repeat, &all, err);
	size_t i;

	for (i = 0; i < array_size(passes) && !rc; i++) {
		rc = facts_count_pass(f, store, passes[i].pass, repeat, passes[i].runs, err);
		if (!passes[i].runs->least)
			*passes[i].runs = all;
	}
	return rc;
}

static const char *facts_base_name(struct facts *f, const char *path)
{
	char *copy = arena_strdup(&f->arena, path), *slash;
	size_t len = strlen(copy);

	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = 0;
	slash = strrchr(copy, '/');
	return slash && slash[1] ? slash + 1 : copy;
}

/* Leaves out the variants that are not to be drawn. */
static int facts_choose_variants(struct facts *f, struct store *store, const char *pattern,
				 struct error *err)
{
	int n = store_variants(store, &f->chart.variants, err), i, kept = 0;
	int *places = arena_alloc(&f->arena, sizeof(*places) * (size_t)(n > 0 ? n : 1));
	struct str names = {0};

	for (i = 0; i < n; i++) {
		if (!str_matches(pattern, f->chart.variants[i]))
			continue;
		places[kept] = i;
		f->chart.variants[kept++] = f->chart.variants[i];
	}
	f->chart.places = places;
	f->chart.nvariants = kept;
	if (n <= 0 || kept)
		return n < 0 ? n : 0;
	for (i = 0; i < n; i++) /* none was overwritten */
		str_printf(&names, "%s%s", i ? ", " : "", f->chart.variants[i]);
	error_set(err, ENOENT, "no variant is '%s'; %sthe variants are: %s", pattern,
		  did_you_mean(names.buf, pattern), names.buf);
	str_free(&names);
	return -ENOENT;
}

static int facts_read_sides(struct facts *f, struct store *store, struct error *err)
{
	static const char *const roles[] = {"receiver", "proxy", "sender"};
	const char **names;
	int n = store_sides(store, &names, err), i;
	struct chart_side *sides;
	size_t r;

	if (n < 0)
		return n;
	sides = arena_alloc(&f->arena, ((size_t)n + 1) * sizeof(*sides));
	for (i = 0; i < n; i++) {
		sides[i] = (struct chart_side){names[i], names[i]};
		for (r = 0; r < array_size(roles); r++)
			if (store_side_is(store, names[i], roles[r]))
				sides[i].role = roles[r];
	}
	f->chart.sides = sides;
	f->chart.nsides = n;
	free(names);
	return 0;
}

int facts_read(struct facts *f, struct store *store, const char *capture, const struct query *q,
	       struct error *err)
{
	const char *name = store_capture_value(store, "name");
	const char *created = store_capture_value(store, "created");
	int rc;

	*f = (struct facts){0};
	f->chart.capture =
		name && *name ? arena_strdup(&f->arena, name) : facts_base_name(f, capture);
	f->chart.estimator = store_capture_value(store, "estimator");
	f->chart.slice = store_capture_value(store, "slice");
	if (created && *created) {
		char *day = arena_strdup(&f->arena, created);

		day[strcspn(day, "T ")] = 0;
		f->chart.date = day;
	}
	rc = facts_choose_variants(f, store, q->variant, err);
	if (!rc)
		rc = facts_read_hosts(f, store, err);
	if (!rc)
		rc = facts_read_sides(f, store, err);
	if (!rc)
		rc = facts_count_passes(f, store, q->repeat, err);
	return rc ? rc : store_failed(store, err); /* of the capture's own values */
}

void facts_free(struct facts *f)
{
	free(f->chart.variants);
	arena_free(&f->arena);
	*f = (struct facts){0};
}

int facts_table(const struct chart_source *source, const char *name, const struct query *q,
		struct table *t, struct error *err)
{
	return measure_run(name, source->from, q, t, err);
}

void facts_comparison(struct comparison *c, struct store *store, const char *const ends[2],
		      const struct query *q)
{
	int e;

	*c = (struct comparison){
		.query = *q,
		.total = q->side && !strcmp(q->side, SIDE_TOTAL),
		.limit = q->limit,
		.rule = VERDICT_RULE,
	};
	c->side[BASE] = c->side[NEW] = c->total ? NULL : q->side;
	for (e = 0; e < ENDS; e++)
		c->end[e] = (struct compare_end){.store = store,
						 .variant = ends[e],
						 .label = (char *)ends[e],
						 .shared = e == NEW};
}

int facts_compare_prepare(struct comparison *c, struct str *evidence, struct error *err)
{
	struct str lines = {0}; /* c->rule has what they say */
	int rc;

	compare_evidence(c, evidence);
	rc = compare_drift(c, &lines, err);
	str_free(&lines);
	return rc ? rc : compare_estimator(c, err);
}

int facts_compare(const struct chart_source *source, const char *table, const char *const ends[2],
		  const struct query *q, struct table *t, struct outcome *out, struct error *err)
{
	struct comparison c;
	struct str lines = {0}; /* the charts have captions for them */
	int rc;

	facts_comparison(&c, source->from, ends, q);
	rc = facts_compare_prepare(&c, &lines, err);
	str_free(&lines);
	return rc ? rc : compare_table_run(compare_table_find(table), &c, t, out, err);
}
