// SPDX-License-Identifier: GPL-2.0-only
/*
 * snmp.snap: a line "netns NUMBER", then /proc/net/snmp and netstat (a line of names, a line of
 * values, both beginning with the group), then /proc/net/snmp6 (a name and a value a line). Names
 * are those of nstat: group and name in one. Settings and gauges are no counters: they are left
 * out.
 */
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"

#include "lib/str.h"

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

static void snmp_add_value(struct ingest *in, struct deltas *d, const char *name, const char *value)
{
	uint64_t v;
	double n;

	if (!snmp_is_counter(name) || !parse_u64(value, &v))
		return;
	n = deltas_put(d, name, NO_CPU, v);
	if (!strcmp(name, "TcpRetransSegs") && d->span_s > 0 && !isnan(n))
		ingest_point(in, "tcp_retransmits_per_s", d->t_ns, n / d->span_s);
}

/* "Tcp: InSegs OutSegs", "Tcp: 5 7". `word`: the length of the group with its colon. */
static void snmp_parse_pair(struct ingest *in, struct deltas *d, char *names, size_t word,
			    char *values)
{
	const char *group = str_token(&names, ' '), *of_values = str_token(&values, ' '), *name,
		   *value;
	struct str full = {0};

	while (!strcmp(group, of_values) && (name = str_token(&names, ' ')) &&
	       (value = str_token(&values, ' '))) {
		str_reset(&full);
		str_add(&full, group, word - 1);
		str_puts(&full, name);
		snmp_add_value(in, d, full.buf, value);
	}
	str_free(&full);
}

static void snmp_parse_reading(struct ingest *in, struct deltas *d, char *text)
{
	char *line, *value;

	while ((line = str_token(&text, '\n'))) {
		size_t word = strcspn(line, " \t");

		if (word && line[word - 1] == ':' && text) {
			snmp_parse_pair(in, d, line, word, str_token(&text, '\n'));
		} else if (line[word]) {
			value = line + word;
			*value++ = '\0';
			snmp_add_value(in, d, line, str_trim(value));
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

struct snmp {
	struct deltas d;
	unsigned long long netns;
	uint64_t from, to; /* the readings of the last namespace */
};

/* Counters of another namespace have nothing to do with those before. */
static size_t snmp_read_snap(struct ingest *in, void *snmp, char *text, uint64_t before_ns,
			     uint64_t t_ns)
{
	struct snmp *s = snmp;
	unsigned long long netns = snmp_find_netns(&text);

	if (before_ns && netns != s->netns)
		deltas_restart(&s->d);
	if (!before_ns || netns != s->netns)
		s->from = t_ns;
	s->to = t_ns;
	s->netns = netns;
	deltas_reading(&s->d, t_ns);
	snmp_parse_reading(in, &s->d, text);
	return 0;
}

static void snmp_finish(struct ingest *in, void *snmp, double covered_s)
{
	struct snmp *s = snmp;

	(void)covered_s;
	if (ingest_cover(in, "/proc/net/snmp", &s->from, &s->to) > 0)
		deltas_add_metrics(in, &s->d, "snmp", "snmp");
}

static int snmp_read_file(struct ingest *in, const char *path, struct error *err)
{
	static const struct snap_reader reader = {"snmp", "/proc/net/snmp",
						  .reading = snmp_read_snap, .finish = snmp_finish};
	struct snmp s = {0};
	int rc;

	deltas_init(&s.d, in);
	rc = snaps_parse(&reader, in, path, &s, err);
	deltas_free(&s.d);
	return rc;
}

const struct parser parser_snmp = {.files = {"snmp.snap"}, .read = snmp_read_file};
