// SPDX-License-Identifier: GPL-2.0-only
/* snmp: the counters of the network stack; those that indicate trouble come first. */
#include "analyze/scope/changes.h"

static const struct column snmp_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
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
	{"*BufErrors", "drop"},
	{"*MemErrors", "drop"},
	{"*Overflow*", "drop"},
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

static const char *snmp_kind(const char *name)
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
	struct changes own;
	int rc = changes_read(&own, k, "tcp_socket_retransmits", OF_SIDE, err);

	if (own.n && (k->q->all || (all && change_happened(namespace, all))))
		snmp_put_row(k, &own, own.row, "tcp_socket_retransmits", "workload");
	changes_free(&own);
	return rc;
}

/*
 * Adds the rows of counters that have a kind, or of those without a kind. Returns how many more
 * rows --limit allows.
 */
static long snmp_put_rows(struct block_table *k, const struct changes *c, bool of_a_kind, long left)
{
	size_t i;

	for (i = 0; i < c->n && left; i++) {
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
	struct changes c;
	int rc = changes_read(&c, k, "snmp", OF_SIDE, err);
	long left = k->q->limit ? k->q->limit : -1;

	k->found += c.n;
	if (!rc)
		rc = snmp_put_own(k, &c, err);
	if (!rc) {
		left = snmp_put_rows(k, &c, true, left);
		snmp_put_rows(k, &c, false, left);
	}
	changes_free(&c);
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
