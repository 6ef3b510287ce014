// SPDX-License-Identifier: GPL-2.0-only
/*
 * irq.snap: /proc/interrupts and then /proc/softirqs. Each begins with a line of the CPUs that are
 * online, which may change from reading to reading. A row is "SOURCE: a count per CPU,
 * description". A source is counted on the side's CPUs and on each CPU that took any. The
 * description of a numbered interrupt is its chip, its place and its device: "IO- APIC 4-edge
 * ttyS0".
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/snapshots.h"
#include "analyze/scope/changes.h"

#include <ctype.h>

struct columns {
	unsigned int cpu[CPUSET_MAX];
	unsigned int n;
};

/* "           CPU0       CPU2" */
static bool irq_parse_columns(struct columns *c, char *line)
{
	char *save = NULL, *word = strtok_r(line, " \t", &save);
	unsigned int cpu;

	c->n = 0;
	for (; word; word = strtok_r(NULL, " \t", &save)) {
		if (sscanf(word, "CPU%u", &cpu) != 1 || cpu >= CPUSET_MAX || c->n == CPUSET_MAX)
			return false;
		c->cpu[c->n++] = cpu;
	}
	return true;
}

/* Returns the device: what follows the interrupt's place and trigger, or the last field. */
static const char *irq_find_device(char *what)
{
	static const char *const triggers[] = {"edge", "level", "fasteoi"};
	char *field = what, *end, *last = what;
	size_t n;

	for (; *field; field = end + strspn(end, " \t")) {
		end = field + strcspn(field, " \t");
		n = (size_t)(end - field);
		for (size_t i = 0; i < array_size(triggers); i++) {
			size_t len = strlen(triggers[i]);

			if (n >= len && !strncasecmp(end - len, triggers[i], len))
				return end + strspn(end, " \t");
		}
		if (field > what && isspace((unsigned char)field[-2]))
			last = field;
	}
	return last;
}

/* "42 virtio3-tx", "LOC Local timer interrupts", "NET_RX" */
static void irq_find_name(struct str *name, const char *source, char *what)
{
	const char *device = isdigit((unsigned char)*source) ? irq_find_device(what) : what;

	str_reset(name);
	str_puts(name, source);
	str_puts(name, *device ? " " : "");
	str_puts(name, device);
}

struct irqs {
	struct deltas hard, soft;
	struct columns columns;
};

/* Adds a count of each CPU, or the one count of all CPUs. */
static void irq_add_counts(struct irqs *q, struct deltas *d, const unsigned long long *v,
			   unsigned int n, const char *name)
{
	for (unsigned int i = 0; i < n; i++)
		deltas_put(d, name, n < q->columns.n ? NO_CPU : (int)q->columns.cpu[i], v[i]);
}

/* "  42:          0     109906 PCI-MSIX-0000:00:04.0   2-edge      virtio3-tx" */
static void irq_parse_row(struct irqs *q, struct deltas *d, char *line)
{
	autofree unsigned long long *v = xcalloc(q->columns.n + 1, sizeof(*v));
	char *colon = strchr(line, ':'), *at, *end;
	freed(str_free) struct str name = {0};
	unsigned int n = 0;

	if (colon) {
		*colon = '\0';
		for (at = colon + 1; n < q->columns.n; at = end) {
			v[n] = strtoull(at, &end, 10);
			if (end == at || (*end && !isspace((unsigned char)*end)))
				break;
			n++;
		}
		irq_find_name(&name, str_trim(line), str_trim(at));
		if (n == q->columns.n || n == 1) /* ERR and MIS have one count */
			irq_add_counts(q, d, v, n, name.buf);
	}
}

static void irq_parse_reading(struct irqs *q, char *text)
{
	struct deltas *d = NULL;
	char *line;

	while ((line = str_token(&text, '\n'))) {
		if (!strchr(line, ':') && strstr(line, "CPU")) {
			if (!irq_parse_columns(&q->columns, line))
				q->columns.n = 0;
			d = d ? &q->soft : &q->hard;
		} else if (d && q->columns.n) {
			irq_parse_row(q, d, line);
		}
	}
}

static void irq_add_kind(struct ingest *in, const char *kind, struct deltas *d)
{
	ingest_metric_of(in, kind, "total", NO_CPU, "1", deltas_add_metrics(in, d, "irq", kind));
}

static size_t irq_read_snap(struct ingest *in, void *irqs, char *text, uint64_t before_ns,
			    uint64_t t_ns)
{
	struct irqs *q = irqs;

	(void)before_ns;
	q->hard.wraps = q->soft.wraps = true;
	deltas_reading(&q->hard, in, t_ns);
	deltas_reading(&q->soft, in, t_ns);
	irq_parse_reading(q, text);
	return 0;
}

static void irq_finish(struct ingest *in, void *irqs, double covered_s)
{
	struct irqs *q = irqs;

	if (!(covered_s > 0))
		return;
	irq_add_kind(in, "irq", &q->hard);
	irq_add_kind(in, "softirq", &q->soft);
}

static void irq_release(void *irqs)
{
	struct irqs *q = irqs;

	deltas_free(&q->hard);
	deltas_free(&q->soft);
}

const struct parser parser_irq = {
	.files = {"irq.snap"},
	.snaps = {"irq", "/proc/interrupts", false, sizeof(struct irqs), irq_read_snap, irq_finish,
		  irq_release},
};

/* --- the table --- */

/*
 * irq: the interrupts of the side's CPUs and the softirqs that these CPUs ran, the most frequent
 * first. --by cpu and --cpu SET show all CPUs of the host.
 */

static const struct column irq_columns[] = {
	SIDE_COLUMNS,
	{"kind", .type = V_STR, .what = "irq or softirq"},
	{"source", .type = V_STR,
	 .what = "the name in /proc/interrupts; total is the sum over all sources"},
	{"device", .type = V_STR, .what = "the interrupt's name"},
	{"cpu", .type = V_STR, .shape = STANDS_RIGHT, .what = "the CPU's number, with --by cpu"},
	{"count", .type = V_REAL, .digits = 1,
	 .what = "count in the window on the side's CPUs; estimate over the runs"},
	{"per_s", "1/s", V_REAL, .digits = 1, .spread = SPREAD_RANGE},
	{"per_mib", "1/MiB", V_REAL, .digits = 4, .what = "per MiB of the workload's bytes"},
	{"cpus", .type = V_STR, .shape = STAYS_WHOLE,
	 .what = "the CPUs that took the interrupt and their shares, including other CPUs than the side's"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

static void irq_put_row(const struct changes *c, const struct change_rate *ranked,
			const struct change_row *r, const char *kind, struct table *t)
{
	struct value *row = block_row(t, &c->b->block);
	char *copy = xstrdup(r->name), *device = strchr(copy, ' ');

	if (device)
		*device++ = '\0';
	table_set(t, row, "kind", value_str(t, kind));
	table_set(t, row, "source", value_str(t, copy));
	table_set(t, row, "device", value_str(t, device));
	if (r->cpu == NO_CPU)
		changes_put_cpus(ranked, c->n, r->name, t, row);
	else
		table_set(t, row, "cpu", value_int(r->cpu));
	changes_put(c, r, t, row);
	free(copy);
}

static int irq_put_block(struct block_table *k, struct error *err)
{
	static const char *const kinds[] = {"irq", "softirq"};
	long left = query_limit(k->q, LONG_MAX);
	int rc = 0;

	for (size_t kind = 0; kind < array_size(kinds) && !rc; kind++) {
		autofree struct change_rate *ranked = NULL;
		freed(changes_free) struct changes c;

		rc = changes_read(&c, k, kinds[kind], OF_ALL, err);
		k->found += c.n;
		changes_fill_cpus(&c);
		ranked = changes_rank(&c);
		for (size_t i = 0; i < c.n && left && !rc; i++) {
			if (!changes_wanted(&c, ranked[i].row, k->q))
				continue;
			irq_put_row(&c, ranked, ranked[i].row, kinds[kind], k->t);
			left--;
		}
	}
	return rc;
}

static void irq_add_notes(struct block_table *k)
{
	changes_note(k);
	if (k->found && !k->q->by && !k->q->cpus)
		note_add(
			&k->t->notes, table_how,
			"counts are those of the side's CPUs; the column cpus lists the CPUs on which the host took the interrupts");
}

const struct measure measure_irq = {
	.name = "irq",
	.what = "interrupts and softirqs: their source, rate and CPUs",
	MEASURE_COLUMNS(irq_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "by cpu limit all"},
	.whole = WHOLE_CPUS,
	.spare = "runs count",
	.keys = "cpu",
	.block = irq_put_block,
	.notes = irq_add_notes,
};
