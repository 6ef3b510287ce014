// SPDX-License-Identifier: GPL-2.0-only
/*
 * snmp.snap: a line "netns NUMBER", then /proc/net/snmp and netstat (a line of names, a line of
 * values, both beginning with the group), then /proc/net/snmp6 (a name and a value a line). Names
 * are those of nstat: group and name in one. Settings and gauges are no counters: they are left
 * out.
 */
#include "analyze/probes/kinds.h"
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"
#include "analyze/scope/changes.h"

static const char *const no_counters[] = {"IpForwarding", "IpDefaultTTL",	"TcpRtoAlgorithm",
					  "TcpRtoMin",	  "TcpRtoMax",		"TcpMaxConn",
					  "TcpCurrEstab", "MPTcpExtMPCurrEstab"};

static void snmp_add_value(struct ingest *in, struct deltas *d, const char *name, const char *value)
{
	uint64_t v;
	double n;

	if (str_index(no_counters, array_size(no_counters), name) >= 0 || !parse_u64(value, &v))
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
	freed(str_free) struct str full = {0};

	while (!strcmp(group, of_values) && (name = str_token(&names, ' ')) &&
	       (value = str_token(&values, ' '))) {
		str_reset(&full);
		str_add(&full, group, word - 1);
		str_puts(&full, name);
		snmp_add_value(in, d, full.buf, value);
	}
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
	struct deltas d; /* first: deltas_free() releases it */
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
	deltas_reading(&s->d, in, t_ns);
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

const struct parser parser_snmp = {
	.files = {"snmp.snap"},
	.snaps = {"snmp", "/proc/net/snmp", false, sizeof(struct snmp), snmp_read_snap, snmp_finish,
		  deltas_free},
};

/* --- the table --- */

/* snmp: the counters of the network stack; those that indicate trouble come first. */

static const struct column snmp_columns[] = {
	SIDE_COLUMNS,
	{"name", .type = V_STR, .what = "the name that nstat prints"},
	{"kind", .type = V_STR,
	 .what = "retransmit, drop, prune, pressure, error, or copy if the kernel copied payload"},
	{"count", .type = V_REAL, .digits = 1,
	 .what = "count in the window; estimate over the runs"},
	{"per_s", "1/s", V_REAL, .digits = 2, .spread = SPREAD_RANGE},
	{"per_mib", "1/MiB", V_REAL, .digits = 4, .what = "per MiB of the workload's bytes"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
	{"scope", .type = V_STR,
	 .what = "namespace (all its sockets), or workload (its own sockets, by tcp_info)"},
};

/* The kinds of counters, with the names that nstat prints. The first match wins. */
static const struct counter_kind snmp_kinds[] = {
	{"TcpRetransSegs", "retransmit"},
	{"tcp_socket_retransmits", "retransmit"},
	{"TcpExtTCP*Retrans*", "retransmit"},
	{"TcpExtTCPTimeouts", "retransmit"},
	{"TcpExtTCPLossProbes", "retransmit"},
	{"TcpExtTCPSpuriousRTOs", "retransmit"},
	{"TcpExtTCPSpuriousRtxHostQueues", "retransmit"},
	{"TcpExtTCPDSACK*Sent", "retransmit"}, /* the peer sent the same data again */
	{"MPTcpExtMPTCPRetrans", "retransmit"},
	{"TcpExt*Prune*", "prune"},
	{"TcpExtTCPRcvCollapsed", "copy"}, /* the kernel merged queued buffers to save memory */
	{"TcpExtTCPMemoryPressure*", "pressure"},
	{"TcpExtTCPAbortOnMemory", "pressure"},
	{"TcpExtTCPWqueueTooBig", "pressure"},
	{"TcpExtTCP*ZeroWindowAdv", "pressure"},
	{"TcpExtTCPBacklogCoalesce", "pressure"}, /* a reader held the lock of the socket */
	{"*Drop*", "drop"},
	{"*Discards", "drop"},
	{"*bufErrors", "drop"},
	{"*MemErrors", "drop"},
	{"*Overflow*", "drop"},
	{"*NoPorts", "drop"},
	{"Ip*ReasmFails", "drop"},
	{"*Csum*Err*", "error"},
	{"*ChecksumErrors", "error"},
	{"*InErrs", "error"},
	{"*HdrErrors", "error"},
	{"*AddrErrors", "error"},
	{"*InErrors", "error"},
	{"*OutErrors", "error"},
	{"*NoRoutes", "error"},
	{"*TruncatedPkts", "error"},
};

const char *snmp_kind(const char *name)
{
	return counter_kind_of(snmp_kinds, array_size(snmp_kinds), name, 0);
}

static void snmp_put_row(struct block_table *k, const struct changes *c, const struct change_row *r,
			 const char *name, const char *scope)
{
	struct value *row = block_row(k->t, &k->b->block);

	table_set(k->t, row, "name", value_str(k->t, name));
	table_set(k->t, row, "kind", value_str(k->t, snmp_kind(name)));
	table_set(k->t, row, "scope", value_str(k->t, scope));
	changes_put(c, r, k->t, row);
}

/* Adds the retransmits of the workload's own sockets, where other sockets may have had some. */
static int snmp_put_own(struct block_table *k, const struct changes *namespace, struct error *err)
{
	const struct change_row *all = changes_find(namespace, "TcpRetransSegs", NO_CPU);
	freed(changes_free) struct changes own;
	int rc = changes_read(&own, k, "tcp_socket_retransmits", OF_SIDE, err);

	if (own.n && (k->q->all || (all && change_happened(namespace, all))))
		snmp_put_row(k, &own, own.row, "tcp_socket_retransmits", "workload");
	return rc;
}

/*
 * Adds the rows of counters that have a kind, or of those without a kind. Returns how many more
 * rows --limit allows.
 */
static long snmp_put_rows(struct block_table *k, const struct changes *c, bool of_a_kind, long left)
{
	for (size_t i = 0; i < c->n && left; i++) {
		const char *kind = snmp_kind(c->row[i].name);

		if (!kind == of_a_kind || (!k->q->all && !change_happened(c, &c->row[i])))
			continue;
		snmp_put_row(k, c, &c->row[i], c->row[i].name, "namespace");
		left--;
	}
	return left;
}

static int snmp_put_block(struct block_table *k, struct error *err)
{
	freed(changes_free) struct changes c;
	int rc = changes_read(&c, k, "snmp", OF_SIDE, err);
	long left = query_limit(k->q, LONG_MAX);

	k->found += c.n;
	rc = rc ?: snmp_put_own(k, &c, err);
	if (!rc) {
		left = snmp_put_rows(k, &c, true, left);
		snmp_put_rows(k, &c, false, left);
	}
	return rc;
}

const struct measure measure_snmp = {
	.name = "snmp",
	.what = "counters of the network stack: retransmits, drops, prunes, ...",
	MEASURE_COLUMNS(snmp_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "limit all"},
	.whole = WHOLE_NAMESPACE,
	.spare = "runs count per_mib scope",
	.block = snmp_put_block,
	.notes = changes_note,
};
