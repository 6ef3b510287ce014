// SPDX-License-Identifier: GPL-2.0-only
/*
 * frame.tsv: the exact time of each CPU by context and process. due.tsv: what the CPU did when each
 * sample of perf's clock was due. The reader of perf.data weighs the samples by them. The sums over
 * the side's CPUs are metrics.
 */
#include "analyze/probes/ingest.h"

#include "analyze/perfdata/perfdata.h"
#include "analyze/probes/tsv.h"
#include "analyze/scope/results.h"

static const struct {
	const char *context; /* in the raw files */
	enum exact_place place;
	int part; /* the part of busy time; FRAME_PARTS: none */
} contexts[] = {
	{"user", PLACE_USER, CPU_APP},
	{"syscall", PLACE_SYSCALL, CPU_SYS},
	{"kthread", PLACE_KTHREAD, CPU_SYS},
	{"idle", PLACE_IDLE, CPU_SYS}, /* it is awake */
	{"halt", PLACE_HALT, FRAME_PARTS},
	{"softirq_in_user", PLACE_SOFTIRQ, CPU_SOFT},
	{"softirq_in_syscall", PLACE_SOFTIRQ_IN_SYSCALL, CPU_SOFT},
	{"softirq_in_kthread", PLACE_SOFTIRQ, CPU_SOFT},
	{"softirq_in_idle", PLACE_SOFTIRQ_IN_IDLE, CPU_SOFT},
	{"hardirq", PLACE_HARDIRQ, CPU_IRQ},
};

/* Returns the index of a context, or how many there are. */
static size_t context_find(const char *context)
{
	size_t i;

	for (i = 0; i < array_size(contexts) && strcmp(contexts[i].context, context); i++)
		;
	return i;
}

/* A file whose rows have a CPU, a process, a context and its vector, and two numbers. */
struct frame_file {
	struct tsv *t;
	int cpu, pid, context, vector, parent, comm, entries, first, second;
};

struct frame_row {
	uint64_t cpu, pid, first, second;
	uint32_t label;
};

static struct exact *frame_exact(struct ingest *in)
{
	if (!in->exact)
		in->exact = xcalloc(1, sizeof(*in->exact));
	return in->exact;
}

/* Returns the index of the label for a context and its vector, or -1 for an unknown context. */
static long frame_label(struct exact *x, const char *context, const char *vector)
{
	char *name;
	size_t i = context_find(context), k;

	if (i == array_size(contexts))
		return -1;
	name = xasprintf("[%.*s%s%s]", (int)strcspn(context, "_"), context, *vector ? " " : "",
			 vector);
	for (k = 0; k < x->nlabels; k++)
		if (x->labels[k].place == contexts[i].place && !strcmp(x->labels[k].name, name)) {
			free(name);
			return (long)k;
		}
	if (k == UINT8_MAX) {
		free(name);
		return -1;
	}
	array_add(x->labels, x->nlabels, x->labels_cap,
		  (struct exact_label){name, contexts[i].place});
	return (long)k;
}

/*
 * Reads a row. Returns false for a row that cannot be read or has no process, and for a CPU of
 * another side.
 */
static bool frame_read_row(struct ingest *in, struct frame_file *f, size_t i, struct frame_row *row)
{
	const char *pid = tsv_cell(f->t, i, f->pid);
	long label = -1;

	if (!*pid) /* the entries of a context */
		return false;
	if (parse_u64(tsv_cell(f->t, i, f->cpu), &row->cpu) && row->cpu < CPUSET_MAX &&
	    parse_u64(pid, &row->pid) && parse_u64(tsv_cell(f->t, i, f->first), &row->first) &&
	    parse_u64(tsv_cell(f->t, i, f->second), &row->second))
		label = frame_label(frame_exact(in), tsv_cell(f->t, i, f->context),
				    tsv_cell(f->t, i, f->vector));
	f->t->bad += label < 0;
	row->label = (uint32_t)label;
	return label >= 0 && ingest_has_cpu(in, (unsigned int)row->cpu);
}

static struct frame_file frame_columns(struct tsv *t, const char *first, const char *second)
{
	return (struct frame_file){.t = t,
				   .cpu = tsv_column(t, "cpu"),
				   .pid = tsv_column(t, "pid"),
				   .context = tsv_column(t, "context"),
				   .vector = tsv_column(t, "vector"),
				   .parent = tsv_column(t, "parent"),
				   .comm = tsv_column(t, "comm"),
				   .entries = tsv_column(t, "entries"),
				   .first = tsv_column(t, first),
				   .second = tsv_column(t, second)};
}

/* --- the workload's processes --- */

static bool frame_is_own(const struct ingest *in, uint64_t pid)
{
	return array_find(own, in->pids, in->npids, *own == pid);
}

/* Adds the processes with one of the plan's names, and the descendants that lived in the window. */
static void frame_add_own(struct ingest *in, const struct frame_file *f)
{
	uint64_t pid, parent;
	bool found = true;
	size_t i;

	while (found)
		for (found = false, i = 0; i < f->t->rows; i++) {
			if (!parse_u64(tsv_cell(f->t, i, f->pid), &pid) || !pid ||
			    frame_is_own(in, pid))
				continue;
			if ((parse_u64(tsv_cell(f->t, i, f->parent), &parent) &&
			     frame_is_own(in, parent)) ||
			    (in->named && str_matches_any(in->named, tsv_cell(f->t, i, f->comm)))) {
				array_add(in->pids, in->npids, in->pids_cap, (uint32_t)pid);
				found = true;
			}
		}
}

/* --- the metrics --- */

/* A context with its vector, such as "hardirq reschedule", over all processes. NAN: no row. */
struct frame_sum {
	double ns, entries;
};

static void frame_add_parts(struct ingest *in, const double ns[FRAME_PARTS], int cpu)
{
	double busy = 0;

	for (int i = 0; i < FRAME_PARTS; i++)
		busy += ns[i];
	for (int i = 0; i < FRAME_PARTS && busy > 0; i++)
		ingest_metric_of(in, "frame_pct", frame_parts[i], cpu, "%", 100 * ns[i] / busy);
}

static void frame_add_metrics(struct ingest *in, const struct frame_file *f)
{
	freed(intern_free) struct intern names = {0};
	struct frame_sum *sums = xcalloc(f->t->rows + 1, sizeof(*sums)), *sum;
	autofree double(*busy)[FRAME_PARTS + 1] =
		xcalloc(CPUSET_MAX + 1, sizeof(*busy)); /* the last: all CPUs */
	double total = NAN, ns;
	uint64_t cpu;

	for (size_t i = 0; i < f->t->rows; i++) {
		const char *vector = tsv_cell(f->t, i, f->vector);
		const char *context = tsv_cell(f->t, i, f->context);
		autofree char *name = xasprintf("%s%s%s", context, *vector ? " " : "", vector);
		size_t known = names.n, at = context_find(context);

		if (!parse_u64(tsv_cell(f->t, i, f->cpu), &cpu) || cpu >= CPUSET_MAX ||
		    !ingest_has_cpu(in, (unsigned int)cpu))
			continue;
		sum = &sums[intern_str(&names, name)];
		if (names.n > known)
			*sum = (struct frame_sum){NAN, NAN};
		ns = real_or_nan(tsv_cell(f->t, i, f->first));
		figure_add(&sum->ns, ns);
		if (*tsv_cell(f->t, i, f->pid))
			figure_add(&total, ns);
		figure_add(&sum->entries, real_or_nan(tsv_cell(f->t, i, f->entries)));
		if (at < array_size(contexts)) {
			figure_add(&busy[cpu][contexts[at].part], ns);
			figure_add(&busy[CPUSET_MAX][contexts[at].part], ns);
		}
	}
	for (uint32_t i = 0; i < names.n; i++) {
		const char *name = intern_get(&names, i);

		ingest_metric_of(in, "frame_ns", name, NO_CPU, "ns", sums[i].ns);
		ingest_metric_of(in, "frame_entries", name, NO_CPU, "1", sums[i].entries);
	}
	ingest_metric_of(in, "frame_ns", "total", NO_CPU, "ns", total);
	for (int i = 0; i <= CPUSET_MAX; i++)
		frame_add_parts(in, busy[i], i < CPUSET_MAX ? i : NO_CPU);
	free(sums);
}

/* --- the two files --- */

static int frame_read_rows(struct ingest *in, struct tsv *t, struct error *err)
{
	struct frame_file f = frame_columns(t, "ns", "ns");
	struct frame_row row;
	struct exact *x = frame_exact(in);

	(void)err;
	frame_add_own(in, &f);
	frame_add_metrics(in, &f);
	for (size_t i = 0; i < t->rows; i++)
		if (frame_read_row(in, &f, i, &row))
			array_add(x->times, x->ntimes, x->times_cap,
				  (struct exact_time){(uint32_t)row.cpu, (uint32_t)row.pid,
						      row.label, row.first});
	return 0;
}

static int due_compare(const void *a, const void *b)
{
	const struct exact_due *l = a, *r = b;

	return ascending(l->cpu, r->cpu) ?: ascending(l->at, r->at);
}

static int due_read_rows(struct ingest *in, struct tsv *t, struct error *err)
{
	struct frame_file f = frame_columns(t, "at", "late");
	struct frame_row row;
	struct exact *x = frame_exact(in);
	uint64_t changes;

	(void)err;
	for (size_t i = 0; i < t->rows; i++) {
		if (!frame_read_row(in, &f, i, &row))
			continue;
		if (parse_u64(tsv_text(t, i, "changes"), &changes))
			array_add(x->due, x->ndue, x->due_cap,
				  (struct exact_due){.at = row.first,
						     .late = row.second,
						     .cpu = (uint32_t)row.cpu,
						     .pid = (uint32_t)row.pid,
						     .label = row.label,
						     .changes = (uint32_t)changes});
		else
			t->bad++;
	}
	array_sort(x->due, x->ndue, due_compare);
	return 0;
}

/* A run whose perf.data is missing or damaged stays without a profile. */
void ingest_fill_profile(struct ingest *in)
{
	if (in->profile || !in->exact || !in->exact->ntimes)
		return;
	for (size_t i = 0; i < in->ncollectors; i++)
		if (!strcmp(in->collectors[i].name, "perf"))
			return;
	in->profile = xcalloc(1, sizeof(*in->profile));
	profile_init(in->profile);
	exact_fill_profile(in->exact, in->profile);
	for (size_t i = 0; i < in->npids; i++)
		profile_add_own(in->profile, in->pids[i]);
	profile_sort_own(in->profile);
}

const struct parser parser_frame = {.files = {"frame.tsv"},
				    .collector = "frame",
				    .columns = "cpu pid context vector ns parent comm entries",
				    .rows = frame_read_rows};
const struct parser parser_due = {.files = {"due.tsv"},
				  .collector = "frame",
				  .timed = true,
				  .columns = "cpu pid context vector at late changes",
				  .rows = due_read_rows};
