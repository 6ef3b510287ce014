// SPDX-License-Identifier: GPL-2.0-only
/*
 * drops.tsv: the packets that the kernel dropped, with the addresses of the places, which the
 * host's kallsyms name. drop_times.tsv: how long the kernel worked for them. batches.tsv: how much
 * the kernel handled at once, by CPU and interface. pools.tsv: pages of page pools.
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/tsv.h"
#include "analyze/symbols/symtab.h"

enum { COUNTS = 4 };

struct packets_file {
	struct tsv *t;
	struct symtab kernel;
};

/*
 * The files. Each row has counts, and names the object of their metrics. Rows of the same object
 * add up, and an empty cell counts nothing. NULL: the row is another side's.
 */
struct packets_kind {
	struct {
		const char *column, *metric, *unit;
	} counts[COUNTS];
	bool total; /* the object "total", known in every run */
	char *(*object)(const struct ingest *in, const struct packets_file *f, size_t row);
};

/* Returns "NO_SOCKET __udp4_lib_rcv". Without kallsyms a place is its address. */
static char *drop_times_object(const struct ingest *in, const struct packets_file *f, size_t row)
{
	const char *address = tsv_text(f->t, row, "location");
	const struct symtab_symbol *s = symtab_find(&f->kernel, strtoull(address, NULL, 16));

	(void)in;
	return xasprintf("%s %s", tsv_text(f->t, row, "reason"),
			 s ? symtab_name(&f->kernel, s) : address);
}

/* Returns "namespace NO_SOCKET __udp4_lib_rcv". */
static char *drops_object(const struct ingest *in, const struct packets_file *f, size_t row)
{
	autofree char *place = drop_times_object(in, f, row);

	return xasprintf("%s %s", tsv_text(f->t, row, "whose"), place);
}

/* Returns "poll", "poll host/eth0", "receive workload/veth0". CPUs of the side poll. */
static char *batches_object(const struct ingest *in, const struct packets_file *f, size_t row)
{
	const char *kind = tsv_text(f->t, row, "kind");
	const char *interface = tsv_text(f->t, row, "interface");
	unsigned long cpu = strtoul(tsv_text(f->t, row, "cpu"), NULL, 10);

	if (!strcmp(kind, "poll") && (cpu >= CPUSET_MAX || !ingest_has_cpu(in, (unsigned int)cpu)))
		return NULL;
	return *interface ? xasprintf("%s %s/%s", kind, tsv_text(f->t, row, "netns"), interface)
			  : xstrdup(kind);
}

/*
 * Returns "eth0/rx-0/held", with the name that queues.snap gave to the pool. Pools that the kernel
 * does not list share "va/pool/held".
 */
static char *pools_object(const struct ingest *in, const struct packets_file *f, size_t row)
{
	const char *kind = tsv_text(f->t, row, "kind"),
		   *interface = tsv_text(f->t, row, "interface");
	double id = strtod(tsv_text(f->t, row, "id"), NULL);

	for (size_t i = 0; i < in->nmetrics; i++) {
		const struct metric_row *m = &in->metrics[i];

		if (!strcmp(m->key.name, "page_pool_mean") && str_ends(m->key.object, "/id") &&
		    fabs(m->value - id) < 0.5)
			return xasprintf("%.*s%s", (int)strlen(m->key.object) - 2, m->key.object,
					 kind);
	}
	return xasprintf("%s/pool/%s", interface, kind);
}

static const struct packets_kind drops = {{{"drops", "drops", "1"},
					   {"segments", "drops_segments", "1"},
					   {"bytes", "drops_bytes", "B"}},
					  true,
					  drops_object};
static const struct packets_kind drop_times = {
	{{"drops", "drops_timed", "1"}, {"ns", "drops_ns", "ns"}}, true, drop_times_object};
static const struct packets_kind batches = {{{"batches", "batches", "1"},
					     {"segments", "batch_segments", "1"},
					     {"bytes", "batch_bytes", "B"},
					     {"full", "batch_full", "1"}},
					    false,
					    batches_object};
static const struct packets_kind pools = {{{"batches", "page_pool", "1"}}, false, pools_object};

/* NAN: an empty cell. Returns false if a number cannot be read. */
static bool packets_read_row(const struct packets_kind *k, const struct tsv *t, size_t row,
			     double n[COUNTS])
{
	bool good = true;

	for (size_t i = 0; i < COUNTS; i++) {
		const char *cell = k->counts[i].column ? tsv_text(t, row, k->counts[i].column) : "";

		n[i] = NAN;
		good &= !*cell || parse_real(cell, &n[i]);
	}
	return good;
}

static void packets_add_metrics(struct ingest *in, const struct packets_kind *k,
				const struct packets_file *f)
{
	freed(intern_free) struct intern names = {0};
	double(*sums)[COUNTS] = xcalloc(f->t->rows + 1, sizeof(*sums)), n[COUNTS];
	size_t known, at;

	if (k->total)
		intern_str(&names, "total");
	for (size_t row = 0; row < f->t->rows; row++) {
		autofree char *name = k->object(in, f, row);

		if (!packets_read_row(k, f->t, row, n)) {
			f->t->bad++;
			continue;
		}
		if (!name)
			continue;
		known = names.n;
		at = intern_str(&names, name);
		for (size_t i = 0; i < COUNTS; i++) {
			sums[at][i] = at < known ? sums[at][i] : NAN;
			figure_add(&sums[at][i], n[i]);
			if (k->total)
				figure_add(&sums[0][i], n[i]);
		}
	}
	for (uint32_t m = 0; m < names.n; m++)
		for (size_t i = 0; i < COUNTS && k->counts[i].metric; i++)
			ingest_metric_of(in, k->counts[i].metric, intern_get(&names, m), NO_CPU,
					 k->counts[i].unit, sums[m][i]);
	free(sums);
}

static int packets_read(struct ingest *in, const struct packets_kind *k, struct tsv *t,
			struct error *err)
{
	autofree char *kallsyms = ingest_kallsyms(in);
	struct packets_file f = {.t = t};
	struct error unnamed = {0};

	if (k->total && kallsyms && t->rows)
		symbol_cache_kallsyms(in->how.symbols, &f.kernel, kallsyms, &unnamed);
	if (!error_of_machine(unnamed.code))
		packets_add_metrics(in, k, &f);
	symtab_free(&f.kernel);
	return error_of_machine(unnamed.code) ? error_set(err, unnamed.code, "%s", unnamed.text)
					      : 0;
}

#define READ_ROWS(kind)                                                                  \
	static int kind##_read_rows(struct ingest *in, struct tsv *t, struct error *err) \
	{                                                                                \
		return packets_read(in, &(kind), t, err);                                \
	}
READ_ROWS(drops)
READ_ROWS(drop_times)
READ_ROWS(batches)
READ_ROWS(pools)

const struct parser parser_drops = {.files = {"drops.tsv"},
				    .collector = "drops",
				    .columns = "whose reason location drops segments bytes",
				    .rows = drops_read_rows};
const struct parser parser_drop_times = {.files = {"drop_times.tsv"},
					 .collector = "batches",
					 .columns = "reason location drops ns",
					 .rows = drop_times_read_rows};
const struct parser parser_batches = {
	.files = {"batches.tsv"},
	.collector = "batches",
	.columns = "cpu netns interface kind batches segments bytes full",
	.rows = batches_read_rows};
const struct parser parser_pools = {.files = {"pools.tsv"},
				    .last = true,
				    .collector = "pools",
				    .columns = "interface kind id batches",
				    .rows = pools_read_rows};
