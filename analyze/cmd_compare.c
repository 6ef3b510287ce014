// SPDX-License-Identifier: GPL-2.0-only
/* zcost compare BASE NEW: what changed, and whether that is real. */
#include "analyze/cmd.h"
#include "analyze/compare/options.h"
#include "analyze/compare/self_test.h"
#include "analyze/compare/texts.h"
#include "analyze/measures/notes.h"
#include "analyze/narrow.h"
#include "lib/args.h"
#include "lib/command.h"

#include <stdlib.h>

/* The evidence stands before the title, or where formats have none, on stderr. */
static void put_first(struct table *t, const struct output *o, const char *first_line)
{
	const char *title = t->title;

	if (!first_line)
		return;
	if (o->format == FORMAT_TSV || o->format == FORMAT_CSV)
		warn("%s", first_line);
	table_title(t, "%s\n%s", first_line, title ? title : t->name);
}

static int run_self_test(struct compare_options *args, struct outcome *out, bool *lossy,
			 struct error *err)
{
	struct table t = {0};
	int ret = compare_self_test(&args->c, args->self_test, args->variant, &t, out, err);

	narrow_columns(&t);
	if (!ret)
		ret = output_table(&args->output, &t, err);
	*lossy = t.lossy;
	table_free(&t);
	return ret;
}

static int run_texts(struct compare_options *args, struct error *err)
{
	struct table t = {0};
	int ret = compare_texts(args->ref[BASE], args->ref[NEW], &t, err);

	narrow_columns(&t);
	if (!ret)
		ret = output_table(&args->output, &t, err);
	table_free(&t);
	return ret;
}

static int run_table(struct compare_options *args, struct outcome *out, bool *lossy,
		     struct error *err)
{
	struct table t = {0};
	char *first_line;
	int ret = compare_open(&args->c, args->capture, args->ref[BASE], args->ref[NEW], err);

	if (ret)
		return ret;
	ret = compare_pair_sides(&args->c, err);
	if (!ret)
		ret = compare_estimator(&args->c, err);
	first_line = compare_evidence(&args->c);
	if (!ret)
		ret = args->table->run(&args->c, &t, out, err);
	if (!ret) {
		compare_sides_say(&args->c, &t);
		compare_manner(&args->c, &t);
		notes_gather(&t);
	}
	if (!ret && args->output.format == FORMAT_COMMIT)
		compare_commit(&args->c, out, &t);
	put_first(&t, &args->output, first_line);
	narrow_columns(&t);
	if (!ret)
		ret = compare_failed(&args->c, err);
	if (!ret)
		ret = output_table(&args->output, &t, err);
	*lossy = t.lossy;
	free(first_line);
	table_free(&t);
	return compare_close(&args->c, ret, err);
}

/* What is not known to be no worse does not pass. */
static int gate(const struct compare_options *args, const struct outcome *out, int otherwise)
{
	const struct verdict_rule *rule = &args->c.rule;

	if (*out->aside)
		note("worse, but not asked by --fail-on worse, which asks throughput (or the "
		     "rate of packets or messages), ns_per_kib (or _packet, _message), roi_c "
		     "and roi_p: %s",
		     out->aside);
	if (out->worse) {
		note("%u row%s worse", out->worse, out->worse == 1 ? " is" : "s are");
		return EXIT_GATE;
	}
	if (out->unjudged) {
		warn("--fail-on worse cannot tell: %u row%s too few runs for a verdict, which "
		     "takes %zu a side",
		     out->unjudged, out->unjudged == 1 ? " has" : "s have",
		     verdict_runs_needed(rule, out->tests));
		return EXIT_LOSSY;
	}
	if (!out->judged) {
		warn("--fail-on worse cannot tell: no row that it asks has a figure at both ends");
		return EXIT_LOSSY;
	}
	return otherwise;
}

int cmd_compare(int argc, char **argv)
{
	struct compare_options args = {0};
	struct error err = {0};
	struct outcome out = {0};
	bool lossy = false;
	int ret;

	args.c.rule = (struct verdict_rule){.alpha = 0.05, .threshold = 0.02};
	args_parse(&compare_argp, argc, argv, 0, &args);
	ret = args.self_test ? run_self_test(&args, &out, &lossy, &err)
	      : args.texts   ? run_texts(&args, &err)
			     : run_table(&args, &out, &lossy, &err);
	free(args.c.query.groups);
	if (ret) {
		error_print(&err);
		return error_exit(&err);
	}
	ret = lossy ? EXIT_LOSSY : EXIT_OK;
	return args.fail_on_worse ? gate(&args, &out, ret) : ret;
}
