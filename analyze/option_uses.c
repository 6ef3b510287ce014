// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/option_uses.h"

#include "lib/alloc.h"

#include <string.h>

#define SLICE	  "from to jobs "
#define RUNS	  "variant side run estimator " SLICE
#define SAMPLES	  "cpu comm event "
#define ROWS	  "by dso symbol components component-set limit all "
#define WORK	  "unit basis rate in system-load "
#define DONE	  "units seconds busy-ns cycles instructions "
#define RECORDING SLICE "kallsyms vmlinux inline symfs buildid-dir "
#define MODEL	  "power-model power-kind "
#define CALLS	  "comm by limit all unit units rate seconds "
#define COSTS	  SAMPLES ROWS WORK
#define SPOTS	  SAMPLES "dso symbol limit all unit basis rate in "

/* THE TABLE of report. What a table refuses itself, with a better reason, is in its row. */
static const struct option_uses of_report[] = {
	{"summary", {RUNS MODEL}},
	{"variants", {"variant "}},
	{"runs", {"variant side run " SLICE}},
	{"passes", {RUNS}},
	{"functions", {RUNS COSTS, RECORDING COSTS DONE, COSTS DONE}},
	{"components", {RUNS COSTS, RECORDING COSTS DONE, COSTS DONE}},
	{"groups", {RUNS COSTS "group ", RECORDING COSTS DONE "group ", COSTS DONE "group "}},
	{"contexts", {RUNS COSTS, RECORDING COSTS DONE, COSTS DONE}},
	{"modules", {RUNS COSTS, RECORDING COSTS DONE, COSTS DONE}},
	{"hotspots", {RUNS SPOTS, RECORDING SPOTS DONE}},
	{"syscalls", {"variant side run comm by limit all " SLICE, "from to cpu " CALLS, CALLS}},
	{"sched", {RUNS "comm by limit all ", "from to cpu comm event by limit all "}},
	{"cpu", {RUNS}},
	{"cpu --by", {RUNS "cpu comm by limit all "}},
	{"roi",
	 {RUNS MODEL "roi-n roi-m ", NULL, NULL,
	  "throughput cpu-pct power power-model roi-n roi-m "}},
	{"scores", {RUNS MODEL}},
	{"rates", {NULL, NULL, NULL, "rate "}},
	{"zerocopy", {RUNS}},
	{"host", {""}},
	{"topology", {"variant side run all "}},
	{"counters", {RUNS, NULL, "cpu comm by unit units rate "}},
	{"power", {RUNS MODEL "roi-n roi-m "}},
	{"softnet", {RUNS "by cpu all "}},
	{"tcp", {RUNS "by limit all "}},
	{"tcp --by name", {RUNS "by "}},
	{"sizes", {RUNS}},
	{"idle", {RUNS "by cpu "}},
	{"irq", {RUNS "by cpu limit all "}},
	{"nic", {RUNS "by limit all ", NULL, "by limit all seconds "}},
	{"snmp", {RUNS "limit all "}},
	{NULL, {NULL}},
};

#define CHOICE	SLICE "unit basis cpu comm dso symbol limit all "
#define OF_RUNS "side estimator fail-on threshold "
#define EACH	"rate units seconds busy-ns "

/* THE TABLE of compare; of two texts of calls or counters nothing can be asked. */
static const struct option_uses of_compare[] = {
	{"metrics", {SLICE OF_RUNS "unit basis roi-n roi-m power-model power-kind "}},
	{"functions", {OF_RUNS CHOICE, EACH CHOICE}},
	{"components", {OF_RUNS CHOICE, EACH CHOICE}},
	{"contexts", {OF_RUNS CHOICE, EACH CHOICE}},
	{"modules", {OF_RUNS CHOICE, EACH CHOICE}},
	{"groups", {OF_RUNS CHOICE "group ", EACH CHOICE "group "}},
	{"syscalls", {SLICE OF_RUNS "unit comm limit all "}},
	{"waterfall", {OF_RUNS CHOICE "by ", EACH CHOICE "by "}},
	{"two texts", {NULL, NULL, ""}},
	{"self-test", {NULL, NULL, NULL, "side variant threshold estimator unit basis "}},
	{NULL, {NULL}},
};

/* THE TABLE of export. */
static const struct option_uses of_export[] = {
	{"folded", {"variant side run weight " SLICE SAMPLES, "weight " RECORDING SAMPLES}},
	{"csv", {"table " SLICE}},
	{"sql", {SLICE}},
	{NULL, {NULL}},
};

#define ANY_CHART "base new variant from to "

/* THE TABLE of plot; without a chart's name all are drawn. */
static const struct option_uses of_plot[] = {
	{"throughput", {ANY_CHART}},
	{"cpu", {ANY_CHART "side "}},
	{"components", {ANY_CHART "side "}},
	{"functions", {ANY_CHART "side limit "}},
	{"functions_sender", {ANY_CHART "limit "}},
	{"waterfall", {ANY_CHART "side limit "}},
	{"waterfall_sender", {ANY_CHART "limit "}},
	{"roi_c", {ANY_CHART "side roi-n "}},
	{"roi_p", {ANY_CHART "side roi-n roi-m power-model power-kind "}},
	{NULL, {NULL}},
};

const struct option_table report_option_uses = {
	{"a capture", "a perf.data (--perf)", "a text", "given numbers"}, of_report};
const struct option_table compare_option_uses = {
	{"two variants", "two files", "two texts of calls or counters", "one variant"}, of_compare};
const struct option_table export_option_uses = {{"a capture", "a perf.data (--perf)", "", ""},
						of_export};
const struct option_table plot_option_uses = {{"a capture", "", "", ""}, of_plot};

void options_note(struct options_given *g, const struct argp_option *list, int key)
{
	for (; list->name || list->doc; list++)
		if (list->name && list->key == key && g->n < (int)array_size(g->names))
			g->names[g->n++] = list->name;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *at = words;

	while (at && (at = strstr(at, word))) {
		if ((at == words || at[-1] == ' ') && at[len] == ' ')
			return true;
		at += len;
	}
	return false;
}

static bool is_known(const struct option_uses *u, const char *option)
{
	int s;

	for (; u->table; u++)
		for (s = 0; s < OPTION_SOURCES; s++)
			if (has_word(u->of[s], option))
				return true;
	return false;
}

static void add_name(struct str *list, const char *name)
{
	str_printf(list, "%s%s", list->len ? ", " : "", name);
}

static const struct option_uses *find_row(const struct option_table *t, const char *table)
{
	const struct option_uses *row = t->uses;

	while (row->table && strcmp(row->table, table))
		row++;
	return row->table ? row : NULL;
}

/* The same table's other sources, else the same source's other tables, else any table. */
static void add_places(struct str *list, const struct option_table *t,
		       const struct option_uses *row, enum option_source source, const char *option)
{
	const struct option_uses *u;
	int s;

	for (s = 0; s < OPTION_SOURCES; s++)
		if (has_word(row->of[s], option))
			add_name(list, t->sources[s]);
	if (list->len)
		return;
	for (u = t->uses; u->table; u++)
		if (has_word(u->of[source], option))
			add_name(list, u->table);
	for (u = t->uses; !list->len && u->table; u++)
		for (s = 0; s < OPTION_SOURCES && !list->len; s++)
			if (has_word(u->of[s], option))
				str_printf(list, "%s of %s", u->table, t->sources[s]);
}

static void say_refused(struct str *why, const struct option_table *t, const char *const *tables,
			size_t n, enum option_source source, const char *option)
{
	struct str places = {0};
	size_t i;

	str_printf(why, "--%s means nothing for ", option);
	for (i = 0; i < n; i++)
		str_printf(why, "%s'%s'", i ? ", " : "", tables[i]);
	add_places(&places, t, find_row(t, tables[0]), source, option);
	str_printf(why, " of %s; it goes with %s", t->sources[source], places.buf);
	str_free(&places);
}

/* Of a table that has no row, or is not made from that, the table says itself what is wrong. */
static bool means_something(const struct option_table *t, const char *const *tables, size_t n,
			    enum option_source source, const char *option)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct option_uses *row = find_row(t, tables[i]);

		if (!row || !row->of[source] || has_word(row->of[source], option))
			return true;
	}
	return !is_known(t->uses, option);
}

bool options_refused_by_all(const struct options_given *g, const struct option_table *t,
			    const char *const *tables, size_t n, enum option_source source,
			    struct str *why)
{
	int i;

	for (i = 0; i < g->n; i++)
		if (!means_something(t, tables, n, source, g->names[i])) {
			say_refused(why, t, tables, n, source, g->names[i]);
			return true;
		}
	return false;
}

bool options_refused(const struct options_given *g, const struct option_table *t, const char *table,
		     enum option_source source, struct str *why)
{
	return options_refused_by_all(g, t, &table, 1, source, why);
}
