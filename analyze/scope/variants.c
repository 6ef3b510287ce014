// SPDX-License-Identifier: GPL-2.0-only
/* variants: the settings of each variant, one column per setting, and its number of runs. */
#include "analyze/scope/measure.h"

#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The columns of the settings go between the first column and the others. */
static const struct column variants_columns[] = {
	{"variant", .type = V_STR},
	{"runs", .type = V_INT, .what = "successful runs of all passes"},
	{"failed_runs", .type = V_INT},
	{"what", .type = V_STR, .what = "the plan's description"},
};

enum { OTHERS = 3 };

/* Adds the column "base" if settings made several variants from one variant of the plan. */
static void variants_make_columns(struct table *t, const char **settings, int n)
{
	struct column *list = arena_alloc(&t->arena, (size_t)(n + 2 + OTHERS) * sizeof(*list));
	int i, k = 0;

	list[k++] = variants_columns[0];
	if (n)
		list[k++] = (struct column){"base", .type = V_STR,
					    .what = "name of the variant in the plan"};
	for (i = 0; i < n; i++)
		list[k++] = (struct column){arena_strdup(&t->arena, settings[i]), .type = V_STR,
					    .what = "value of the setting"};
	memcpy(list + k, variants_columns + 1, OTHERS * sizeof(*list));
	t->columns = list;
	t->ncolumns = k + OTHERS;
}

/* Counts each run once for all its sides. A run succeeds if all its sides succeed. */
static int variants_count_runs(struct store *s, const char *variant, int64_t *ok, int64_t *failed,
			       struct error *err)
{
	struct run_filter all = {.variant = variant, .failed = true};
	struct run *runs;
	int n = store_runs(s, &all, &runs, err), i, k;

	*ok = *failed = 0;
	for (i = 0; i < n; i = k) {
		bool good = true;

		for (k = i; k < n && runs[k].repeat == runs[i].repeat &&
			    !strcmp(runs[k].pass, runs[i].pass);
		     k++)
			good &= !strcmp(runs[k].status, "ok");
		*ok += good;
		*failed += !good;
	}
	free(runs);
	return n < 0 ? n : 0;
}

static int variants_put_variant(struct store *s, const char *variant, const char **settings, int n,
				struct table *t, struct error *err)
{
	const char *base = store_variant_base(s, variant);
	struct value *row = table_row(t);
	int64_t ok, failed;
	int i, k = 0, rc = variants_count_runs(s, variant, &ok, &failed, err);

	row[k++] = value_str(t, variant);
	if (n)
		row[k++] = value_str(t, base ? base : variant);
	for (i = 0; i < n; i++)
		row[k++] = value_str(t, store_setting(s, variant, settings[i]));
	row[k++] = value_int(ok);
	row[k++] = value_int(failed);
	row[k] = value_str(t, store_variant_what(s, variant));
	return rc;
}

static int variants_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	const char **variants = NULL, **settings = NULL;
	int nv = store_variants(s, &variants, err), i;
	int ns = nv < 0 ? nv : store_settings(s, &settings, err);
	int rc = ns < 0 ? ns : 0;

	if (!rc)
		variants_make_columns(t, settings, ns);
	t->least = "what";
	for (i = 0; i < nv && !rc; i++)
		if (str_matches(q->variant, variants[i]))
			rc = variants_put_variant(s, variants[i], settings, ns, t, err);
	if (!rc && !t->rows)
		rc = error_set(err, ENOENT,
			       "no variant is '%s'; 'zcost report variants' lists them",
			       q->variant ? q->variant : "");
	free(variants);
	free(settings);
	return rc;
}

const struct measure measure_variants = {
	.name = "variants",
	.what = "settings of each variant",
	MEASURE_COLUMNS(variants_columns),
	.options = {[SOURCE_CAPTURE] = "variant"},
	.whole = WHOLE_FACTS,
	.flags = MEASURE_FACTS,
	.run = variants_run,
};
