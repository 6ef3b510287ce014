// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits.tsv: what each thread of the workload did and waited for. Threads of one name add up. The
 * object of a metric is "NAME;STATE;BY;WAKER", as in the table waits.
 */
#include "analyze/probes/waits/waits.h"

#include "lib/str.h"

enum { BUCKETS = 256, PER_OCTAVE = 8 };

/* What threads spend in one way. */
struct wait_sum {
	double ns, n;
	uint64_t hist[BUCKETS];
};

struct waits_file {
	struct tsv *t;
	struct intern names;
	struct wait_sum *sums; /* by name */
};

/* Adds a part of an object. A program chooses its name, which may have any character. */
static void wait_add_part(struct str *s, const char *text, size_t len)
{
	str_putc(s, ';');
	for (size_t i = 0; i < len && text[i]; i++)
		str_putc(s, text[i] == ';' ? ':' : text[i]);
}

/* Adds "softirq NET_RX", or "workload NAME". Threads of the kernel on each CPU are "kworker". */
static void wait_add_waker(struct str *s, const struct tsv *t, size_t row)
{
	const char *from = tsv_text(t, row, "from"), *by = tsv_text(t, row, "by");
	autofree char *waker = xasprintf("%s%s%s", from, *by ? " " : "", by);

	wait_add_part(s, waker, strcspn(waker, "/"));
}

/* Returns "NAME;kernel", "NAME;blocked;recvfrom;softirq NET_RX". The caller frees it. */
static char *wait_object(const struct tsv *t, size_t row)
{
	const char *state = tsv_text(t, row, "state"), *call = tsv_text(t, row, "call");
	bool preempted = !strcmp(tsv_text(t, row, "kind"), "R");
	bool stopped = !strcmp(tsv_text(t, row, "kind"), "T");
	struct str s = {0};

	wait_add_part(&s, tsv_text(t, row, "comm"), SIZE_MAX);
	if (!strcmp(state, "blocked")) {
		wait_add_part(&s, state, SIZE_MAX);
		wait_add_part(&s, stopped ? "stopped" : *call ? call : "no system call", SIZE_MAX);
		wait_add_waker(&s, t, row);
	} else if (!strcmp(state, "waiting")) {
		wait_add_part(&s, "run queue", SIZE_MAX);
		wait_add_part(&s,
			      !preempted		  ? "woken"
			      : *tsv_text(t, row, "from") ? "preempted"
							  : "new",
			      SIZE_MAX);
		if (preempted)
			wait_add_waker(&s, t, row);
	} else {
		wait_add_part(&s,
			      !strcmp(state, "syscall") || !strcmp(state, "kthread") ? "kernel"
										     : state,
			      strcspn(state, "_"));
		if (*tsv_text(t, row, "vector"))
			wait_add_part(&s, tsv_text(t, row, "vector"), SIZE_MAX);
	}
	memmove(s.buf, s.buf + 1, s.len); /* the first ';' */
	return str_take(&s);
}

/* Returns the lower bound of a bucket of waits_bucket() in collect/waits/waits.h. */
static double wait_bucket_ns(size_t b)
{
	return b < PER_OCTAVE
		       ? (double)b
		       : ldexp((double)(PER_OCTAVE + b % PER_OCTAVE), (int)(b / PER_OCTAVE) - 1);
}

static double wait_quantile(const struct wait_sum *sum, double p)
{
	double all = 0, below = 0, lo;
	size_t b;

	for (b = 0; b < BUCKETS; b++)
		all += (double)sum->hist[b];
	if (!(all > 0))
		return NAN;
	for (b = 0; b < BUCKETS - 1 && below + (double)sum->hist[b] < p * all; b++)
		below += (double)sum->hist[b];
	lo = wait_bucket_ns(b);
	return lo + (wait_bucket_ns(b + 1) - lo) * (p * all - below) / (double)sum->hist[b];
}

static void waits_add_row(struct waits_file *f, size_t row)
{
	const char *state = tsv_text(f->t, row, "state"), *count = tsv_text(f->t, row, "count");
	autofree char *name = wait_object(f->t, row);
	size_t known = f->names.n, at = intern_str(&f->names, name);
	struct wait_sum *sum = &f->sums[at];
	uint64_t ns, n = 0;

	if (at == known)
		*sum = (struct wait_sum){NAN, NAN, {0}};
	if (!*state || !wait_parse_ns(tsv_text(f->t, row, "ns"), &ns) ||
	    (*count && !parse_u64(count, &n)) ||
	    !parse_hist(tsv_text(f->t, row, "hist"), sum->hist, BUCKETS)) {
		f->t->bad++;
		return;
	}
	figure_add(&sum->ns, (double)ns);
	figure_add(&sum->n, *count ? (double)n : NAN);
}

/* Returns "user", or "blocked: recvfrom", of all threads. The caller frees it. */
static char *wait_part_of_all(const char *name)
{
	autofree char *copy = xstrdup(name);
	char *rest = copy, *state, *by;

	str_token(&rest, ';');
	state = str_token(&rest, ';');
	by = rest ? str_token(&rest, ';') : NULL;
	return !strcmp(state, "blocked") ? xasprintf("blocked: %s", by ?: "") : xstrdup(state);
}

/* Adds how long all threads spent in each way. */
static void waits_add_account(struct ingest *in, const struct waits_file *f)
{
	freed(intern_free) struct intern parts = {0};
	autofree double *ns = xcalloc(f->names.n + 1, sizeof(*ns));

	for (uint32_t i = 0; i < f->names.n; i++) {
		autofree char *part = wait_part_of_all(intern_get(&f->names, i));

		ns[intern_str(&parts, part)] += isnan(f->sums[i].ns) ? 0 : f->sums[i].ns;
	}
	for (uint32_t i = 0; i < parts.n; i++)
		ingest_metric_of(in, "waits_account_ns", intern_get(&parts, i), NO_CPU, "ns",
				 ns[i]);
}

static void waits_add_metrics(struct ingest *in, const struct waits_file *f)
{
	double wall = NAN;

	waits_add_account(in, f);
	for (uint32_t i = 0; i < f->names.n; i++) {
		const struct wait_sum *sum = &f->sums[i];
		const char *name = intern_get(&f->names, i);

		if (str_ends(name, ";wall"))
			figure_add(&wall, sum->ns);
		ingest_metric_of(in, "waits_ns", name, NO_CPU, "ns", sum->ns);
		ingest_metric_of(in, "waits", name, NO_CPU, "1", sum->n);
		ingest_metric_of(in, "waits_p50_ns", name, NO_CPU, "ns", wait_quantile(sum, 0.5));
		ingest_metric_of(in, "waits_p99_ns", name, NO_CPU, "ns", wait_quantile(sum, 0.99));
	}
	ingest_metric(in, "waits_wall_ns", "ns", wall);
}

static int waits_read_rows(struct ingest *in, struct tsv *t, struct error *err)
{
	autofree char *stacks = xasprintf("%.*s_stacks.tsv", (int)(strlen(t->path) - 4), t->path);
	struct waits_file f = {.t = t, .sums = xcalloc(t->rows + 1, sizeof(*f.sums))};

	for (size_t row = 0; row < t->rows; row++)
		waits_add_row(&f, row);
	waits_add_metrics(in, &f);
	free(f.sums);
	intern_free(&f.names);
	return waits_add_profile(in, t, stacks, err);
}

const struct parser parser_waits = {
	.files = {"waits.tsv"},
	.last = true,
	.collector = "waits",
	.columns = "pid tid comm state vector call kind from by count ns hist",
	.rows = waits_read_rows};
