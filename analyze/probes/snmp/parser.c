// SPDX-License-Identifier: GPL-2.0-only
/*
 * snmp.snap: a line "netns NUMBER", then /proc/net/snmp and netstat (a line of names, a line of
 * values, both beginning with the group), then /proc/net/snmp6 (a name and a value a line). Names
 * are those of nstat: group and name in one. Settings and gauges are no counters: they are left
 * out.
 */
#include "analyze/probes/snapshots.h"
#include "analyze/probes/ingest.h"

#include "lib/alloc.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const no_counters[] = {"IpForwarding", "IpDefaultTTL",	"TcpRtoAlgorithm",
					  "TcpRtoMin",	  "TcpRtoMax",		"TcpMaxConn",
					  "TcpCurrEstab", "MPTcpExtMPCurrEstab"};

static bool snmp_is_counter(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(no_counters); i++)
		if (!strcmp(no_counters[i], name))
			return false;
	return true;
}

/*
 * The lines of names are equal in most readings. So the ids of their names are remembered, by the
 * place of the line in the reading. INTERN_NONE: not a counter.
 */
struct snmp_names {
	char *line;
	uint32_t *ids;
	size_t n, cap;
};

struct snmp {
	struct deltas d;
	struct snmp_names *lines;
	size_t n, cap;
};

static uint32_t snmp_find_id(struct snmp *s, const char *name)
{
	return snmp_is_counter(name) ? deltas_id(&s->d, name) : INTERN_NONE;
}

static void snmp_add_value(struct ingest *in, struct deltas *d, uint32_t id, const char *value)
{
	char *end;
	unsigned long long v;
	double n;

	errno = 0;
	v = strtoull(value, &end, 10);
	if (end == value || *end || errno || *value == '-' || id == INTERN_NONE)
		return;
	n = deltas_put_id(d, id, v);
	if (!strcmp(deltas_name(d, id), "TcpRetransSegs") && d->span_s > 0 && !isnan(n))
		ingest_point(in, "tcp_retransmits_per_s", d->t_ns, n / d->span_s);
}

/* "Tcp: InSegs OutSegs" */
static void snmp_learn_names(struct snmp *s, struct snmp_names *names, const char *line)
{
	char *copy = xstrdup(line), *rest = copy, *group = str_token(&rest, ' '), *name;
	struct str full = {0};

	free(names->line);
	names->line = xstrdup(line);
	names->n = 0;
	while ((name = str_token(&rest, ' '))) {
		str_reset(&full);
		str_add(&full, group, strlen(group) - 1);
		str_puts(&full, name);
		array_add(names->ids, names->n, names->cap, snmp_find_id(s, full.buf));
	}
	str_free(&full);
	free(copy);
}

/* "Tcp: InSegs OutSegs", "Tcp: 5 7". `word`: the length of the group. */
static void snmp_parse_pair(struct ingest *in, struct snmp *s, size_t at, const char *line,
			    size_t word, char *values)
{
	const char *group = str_token(&values, ' '), *value;
	struct snmp_names *names;
	size_t i;

	if (strlen(group) != word || strncmp(line, group, word) != 0)
		return;
	if (at >= s->n)
		array_add(s->lines, s->n, s->cap, (struct snmp_names){0});
	names = &s->lines[at];
	if (!names->line || strcmp(names->line, line) != 0)
		snmp_learn_names(s, names, line);
	for (i = 0; i < names->n && (value = str_token(&values, ' ')); i++)
		snmp_add_value(in, &s->d, names->ids[i], value);
}

static void snmp_parse_reading(struct ingest *in, struct snmp *s, char *text)
{
	char *line, *value;
	size_t pairs = 0;

	while ((line = str_token(&text, '\n'))) {
		size_t word = strcspn(line, " \t");

		if (word && line[word - 1] == ':' && text) {
			snmp_parse_pair(in, s, pairs, line, word, str_token(&text, '\n'));
			pairs += pairs < s->n;
		} else if (line[word]) {
			value = line + word;
			*value++ = '\0';
			snmp_add_value(in, &s->d, snmp_find_id(s, line), str_trim(value));
		}
	}
}

/* Cuts off the first line. Returns the namespace that it names, or 0. */
static unsigned long long snmp_find_netns(char **text)
{
	unsigned long long id = 0;
	char *nl = strchr(*text, '\n');

	if (sscanf(*text, "netns %llu", &id) == 1 && nl)
		*text = nl + 1;
	return id;
}

/*
 * Reads all snapshots. Returns the time since which all snapshots are of the same namespace as the
 * last snapshot.
 */
static uint64_t snmp_read_snaps(struct ingest *in, struct snmp *s, struct snaps *snaps)
{
	unsigned long long before = 0;
	uint64_t from = snaps->snap[0].mono_ns;
	size_t i;

	for (i = 0; i < snaps->n; i++) {
		char *text = snaps_text(snaps, i);
		unsigned long long id = snmp_find_netns(&text);

		if (i && id != before) {
			deltas_restart(&s->d);
			from = snaps->snap[i].mono_ns;
		}
		before = id;
		deltas_reading(&s->d, snaps->snap[i].mono_ns);
		snmp_parse_reading(in, s, text);
	}
	return from;
}

static void snmp_add_metrics(struct ingest *in, const struct deltas *d)
{
	char *back = deltas_set_back(d);
	size_t i;

	for (i = 0; i < d->names.n; i++)
		if (d->d[i].known_s > 0)
			ingest_metric_of(in, "snmp", deltas_name(d, i), NO_CPU, "1", d->d[i].sum);
	if (back)
		note_add(&in->notes, snmp_reset, back);
	free(back);
}

static void snmp_free(struct snmp *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->lines[i].line);
		free(s->lines[i].ids);
	}
	free(s->lines);
	deltas_free(&s->d);
}

static int snmp_read_file(struct ingest *in, const char *path, struct error *err)
{
	struct snmp s = {0};
	struct snaps snaps;
	uint64_t from, to;
	int rc = snaps_open(in, "snmp", path, &snaps, err);

	if (rc)
		return rc;
	deltas_init(&s.d, in);
	from = snmp_read_snaps(in, &s, &snaps);
	to = snaps.snap[snaps.n - 1].mono_ns;
	if (ingest_cover(in, "/proc/net/snmp", &from, &to) > 0)
		snmp_add_metrics(in, &s.d);
	snmp_free(&s);
	snaps_close(in, &snaps);
	return 0;
}

const struct parser parser_snmp = {.files = {"snmp.snap"}, .read = snmp_read_file};
