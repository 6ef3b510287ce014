// SPDX-License-Identifier: GPL-2.0-only
/*
 * irq.snap: /proc/interrupts and then /proc/softirqs. Each begins with a line of the CPUs that are
 * online, which may change from reading to reading. A row is "SOURCE: a count per CPU,
 * description". A source is counted on the side's CPUs, on the other CPUs, and on each CPU that
 * took any. The description of a numbered interrupt is its chip, its place and its device: "IO-
 * APIC 4-edge ttyS0".
 */
#include "analyze/probes/snapshots.h"
#include "analyze/probes/ingest.h"

#include "lib/alloc.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct columns {
	unsigned int cpu[CPUSET_MAX];
	char name[CPUSET_MAX][sizeof("4294967295")]; /* the same as text */
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
		snprintf(c->name[c->n], sizeof(c->name[c->n]), "%u", cpu);
		c->cpu[c->n++] = cpu;
	}
	return true;
}

/* Returns the device: what follows the interrupt's place and trigger, or the last field. */
static const char *irq_find_device(char *what)
{
	static const char *const triggers[] = {"edge", "level", "fasteoi"};
	char *field = what, *end, *last = what;
	size_t i, n;

	for (; *field; field = end + strspn(end, " \t")) {
		end = field + strcspn(field, " \t");
		n = (size_t)(end - field);
		for (i = 0; i < array_size(triggers); i++) {
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
	struct deltas hard, soft; /* names: "CPU SOURCE", CPU "-": of all, not known of which */
	struct columns columns;
	struct cpuset cpus; /* of the reading */
	bool offline;
};

static void irq_add_counts(struct irqs *q, struct deltas *d, const unsigned long long *v,
			   unsigned int n, const char *name)
{
	struct str key = {0};
	unsigned int i;

	for (i = 0; i < n; i++) {
		str_reset(&key);
		str_puts(&key, n < q->columns.n ? "-" : q->columns.name[i]);
		str_putc(&key, ' ');
		str_puts(&key, name);
		deltas_put(d, key.buf, v[i]);
	}
	str_free(&key);
}

/* "  42:          0     109906 PCI-MSIX-0000:00:04.0   2-edge      virtio3-tx" */
static void irq_parse_row(struct irqs *q, struct deltas *d, char *line)
{
	unsigned long long *v = xcalloc(q->columns.n + 1, sizeof(*v));
	char *colon = strchr(line, ':'), *at, *end;
	struct str name = {0};
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
	str_free(&name);
	free(v);
}

static void irq_parse_reading(struct irqs *q, char *text)
{
	struct deltas *d = NULL;
	char *line;
	unsigned int i;

	while ((line = str_token(&text, '\n'))) {
		if (!strchr(line, ':') && strstr(line, "CPU")) {
			if (!irq_parse_columns(&q->columns, line))
				q->columns.n = 0;
			d = d ? &q->soft : &q->hard;
		} else if (d && q->columns.n) {
			irq_parse_row(q, d, line);
		}
	}
	q->cpus = (struct cpuset){0};
	for (i = 0; i < q->columns.n; i++)
		cpuset_add(&q->cpus, q->columns.cpu[i]);
}

/* --- metrics: irq of each source, of the side's CPUs and of each CPU; irq_elsewhere --- */

struct source {
	double here, elsewhere;
	bool known, known_elsewhere;
};

/* Adds a CPU's count to its source, and adds a metric of it unless it is 0. */
static void irq_add_cpu_metric(struct ingest *in, const char *kind, const char *name,
			       const struct delta *d, struct source *s)
{
	const char *source = strchr(name, ' ') + 1;
	bool here = *name == '-' || ingest_has_cpu(in, (unsigned int)atoi(name));

	*(here ? &s->here : &s->elsewhere) += d->sum;
	*(here ? &s->known : &s->known_elsewhere) = true;
	if (*name != '-' && d->sum > 0)
		ingest_metric_of(in, kind, source, atoi(name), "1", d->sum);
}

static void irq_add_kind(struct ingest *in, const char *kind, const char *elsewhere,
			 const struct deltas *d)
{
	struct intern names = {0};
	struct source *list = xcalloc(d->names.n + 1, sizeof(*list)), all = {0};
	size_t i;

	for (i = 0; i < d->names.n; i++) {
		const char *name = deltas_name(d, i);
		struct source *s = &list[intern_str(&names, strchr(name, ' ') + 1)];

		if (d->d[i].known_s > 0)
			irq_add_cpu_metric(in, kind, name, &d->d[i], s);
		if (d->d[i].known_s > 0 && *name != '-' &&
		    ingest_has_cpu(in, (unsigned int)atoi(name))) {
			all.here += d->d[i].sum;
			all.known = true;
		}
	}
	for (i = 0; i < names.n; i++) {
		const char *source = intern_get(&names, (uint32_t)i);

		if (list[i].known)
			ingest_metric_of(in, kind, source, NO_CPU, "1", list[i].here);
		if (list[i].known_elsewhere)
			ingest_metric_of(in, elsewhere, source, NO_CPU, "1", list[i].elsewhere);
	}
	if (all.known)
		ingest_metric_of(in, kind, "total", NO_CPU, "1", all.here);
	intern_free(&names);
	free(list);
}

static void irq_note_reset(struct ingest *in, const struct deltas *d)
{
	char *back = deltas_set_back(d);

	if (back)
		note_add(&in->notes, irq_reset, back);
	free(back);
}

static void irq_add_metrics(struct ingest *in, const struct irqs *q)
{
	irq_add_kind(in, "irq", "irq_elsewhere", &q->hard);
	irq_add_kind(in, "softirq", "softirq_elsewhere", &q->soft);
	irq_note_reset(in, &q->hard);
	irq_note_reset(in, &q->soft);
	if (q->offline)
		note_add(&in->notes, irq_hotplug);
}

static void irq_read_snaps(struct irqs *q, struct snaps *snaps)
{
	struct cpuset before;
	size_t i;

	for (i = 0; i < snaps->n; i++) {
		before = q->cpus;
		deltas_reading(&q->hard, snaps->snap[i].mono_ns);
		deltas_reading(&q->soft, snaps->snap[i].mono_ns);
		irq_parse_reading(q, snaps_text(snaps, i));
		q->offline |= i && memcmp(&before, &q->cpus, sizeof(before));
	}
}

static int irq_read_file(struct ingest *in, const char *path, struct error *err)
{
	struct irqs *q;
	struct snaps snaps;
	int rc = snaps_open(in, "irq", path, &snaps, err);

	if (rc)
		return rc;
	q = xcalloc(1, sizeof(*q));
	deltas_init(&q->hard, in);
	deltas_init(&q->soft, in);
	irq_read_snaps(q, &snaps);
	if (snaps_cover(in, "/proc/interrupts", &snaps) > 0)
		irq_add_metrics(in, q);
	deltas_free(&q->hard);
	deltas_free(&q->soft);
	free(q);
	snaps_close(in, &snaps);
	return 0;
}

const struct parser parser_irq = {.files = {"irq.snap"}, .read = irq_read_file};
