// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/counter_kinds.h"

#include "lib/alloc.h"

#include <fnmatch.h>

struct counter_kind {
	const char *pattern, *kind;
};

/* THE TABLE of the stack's counters, as nstat names them; the first that fits. */
static const struct counter_kind snmp_kinds[] = {
	{"TcpRetransSegs", "retransmit"},
	{"TcpExtTCPLostRetransmit", "retransmit"},
	{"TcpExtTCPFastRetrans", "retransmit"},
	{"TcpExtTCPSlowStartRetrans", "retransmit"},
	{"TcpExtTCPSynRetrans", "retransmit"},
	{"TcpExtTCPTimeouts", "retransmit"},
	{"TcpExtTCPLossProbes", "retransmit"},
	{"TcpExtTCPSpuriousRTOs", "retransmit"},
	{"TcpExtTCPRetransFail", "retransmit"},
	{"TcpExtTCPSpuriousRtxHostQueues", "retransmit"},
	{"TcpExtTCPDSACK*Sent", "retransmit"}, /* the other end sent again what we had */
	{"MPTcpExtMPTCPRetrans", "retransmit"},
	{"TcpExt*Prune*", "prune"},
	{"TcpExtTCPRcvCollapsed", "copy"}, /* queued buffers copied together to save memory */
	{"TcpExtTCPMemoryPressure*", "pressure"},
	{"TcpExtTCPAbortOnMemory", "pressure"},
	{"TcpExtTCPWqueueTooBig", "pressure"},
	{"TcpExtTCP*ZeroWindowAdv", "pressure"},
	{"TcpExtTCPBacklogCoalesce", "pressure"}, /* the socket was locked by its reader */
	{"*Drop*", "drop"},
	{"*Discard", NULL}, /* TCPSACKDiscard: a part of an acknowledgement, no data */
	{"*Discards", "drop"},
	{"*BufErrors", "drop"},
	{"*MemErrors", "drop"},
	{"*Overflow*", "drop"},
	{"IpReasmFails", "drop"},
	{"Ip6ReasmFails", "drop"},
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

/* THE TABLE of what drivers call things. */
static const struct counter_kind nic_kinds[] = {
	{"*drop*", "drop"},
	{"*discard*", "drop"},
	{"*out_of_buffer*", "drop"},
	{"*no_buf*", "drop"},
	{"*nobuf*", "drop"},
	{"*missed*", "drop"},
	{"*overrun*", "drop"},
	{"*overflow*", "drop"},
	{"*fifo*", "drop"},
	{"*alloc*fail*", "drop"},
	{"*alloc_err*", "drop"},
	{"*no_desc*", "drop"},
	{"*overruns*", "drop"},
	{"*no_wqe*", "drop"},
	{"*nodesc*", "drop"},
	{"*alloc-fail*", "drop"},
	{"*error*", "error"},
	{"*err*", "error"},
	{"*crc*", "error"},
	{"*bad*", "error"},
	{"*fail*", "error"},
	{"*timeout*", "error"},
	{"*collision*", "error"},
	{"*carrier*", "error"},
	{"*tx_queue_stopped*", "busy"},
	{"*queue_stop*", "busy"},
	{"*hw-drop*", "drop"},
	{"*_xon*", "pause"},
	{"*_xoff*", "pause"},
	{"*pause*", "pause"},
};

static const char *counter_kind_of(const struct counter_kind *list, size_t n, const char *name,
				   int flags)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!fnmatch(list[i].pattern, name, flags))
			return list[i].kind;
	return NULL;
}

const char *snmp_kind(const char *name)
{
	return counter_kind_of(snmp_kinds, array_size(snmp_kinds), name, 0);
}

const char *nic_kind(const char *name)
{
	return counter_kind_of(nic_kinds, array_size(nic_kinds), name, FNM_CASEFOLD);
}
