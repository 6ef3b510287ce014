// SPDX-License-Identifier: GPL-2.0-only
/* THE TABLE of options. */
#include "option_table.h"

#include "tcpzc.h"

enum { FLOWS_MAX = 4096 };

#define AT(member) offsetof(struct options, member), sizeof(((struct options *)0)->member)
const struct option_row option_table[ROWS_MAX + 1] = {
	{"Which end:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"listen", 'l', "ADDRESS", "receive: wait for a sender", LISTEN, AT(listen), 0, 0, 0},
	{"connect", 'c', "HOST", "send: connect to a receiver (name, IPv4 or IPv6)", CONNECT,
	 AT(host), 0, 0, 0},
	{"port", 'p', "PORT", "TCP port (7077)", PORT, AT(port), 1, 65535, 0},
	{"How:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"tx", 0, "MODE", "way of sending", TX_MODE, AT(mode), 0, 0, 0},
	{"rx", 0, "MODE", "way of receiving", RX_MODE, AT(mode), 0, 0, 0},
	{"size", 's', "BYTES", "of a message, and of a receive (128k)", SIZE, AT(size), 1, 64 << 20,
	 0},
	{"batch", 0, "N", "messages per io_uring_enter (8)", NUMBER, AT(batch), 1, 1024, 0},
	{"window", 0, "BYTES", "--rx mmap: map so much at once (2M)", SIZE, AT(window), 64 << 10,
	 1 << 30, 0},
	{"rr", 0, 0,
	 "requests of --size one way, and for each a response the other way by send and recv, or "
	 "as --tx of the listening and --rx of the connecting side say; given at both ends",
	 FLAG, AT(rr), 0, 0, 0},
	{"response", 0, "BYTES", "--rr: size of a response, given at both ends (that of a request)",
	 SIZE, AT(response), 1, 64 << 20, 0},
	{"outstanding", 0, "N", "--rr: requests under way on each flow (1)", NUMBER,
	 AT(outstanding), 1, 1 << 16, SENDER},
	{"rate", 0, "RATE",
	 "send at most so fast on each flow: 100M (bytes), 10Gbit/s, 5000msg/s; powers of 1000",
	 RATE, AT(rate), 0, 0, SENDER},
	{"flows", 0, "N", "connections, given at both ends (1)", NUMBER, AT(flows), 1, FLOWS_MAX,
	 0},
	{"threads", 0, "N",
	 "spread the flows over so many (as many as --cpu names CPUs and there are flows; else 1)",
	 NUMBER, AT(threads), 1, FLOWS_MAX, 0},
	{"cpu", 0, "LIST",
	 "run on these CPUs, as 1 or 0-3,8: a thread on each in turn, and flow after flow on each "
	 "thread in turn",
	 CPUS, AT(cpus), 0, 0, 0},
	{"The socket:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"sndbuf", 0, "BYTES", "SO_SNDBUF (the kernel's own tuning)", SIZE, AT(sndbuf), 1, 1 << 30,
	 0},
	{"rcvbuf", 0, "BYTES", "SO_RCVBUF (the kernel's own tuning)", SIZE, AT(rcvbuf), 1, 1 << 30,
	 0},
	{"rcvlowat", 0, "BYTES", "SO_RCVLOWAT: wait for so much (--rx mmap: half the window)", SIZE,
	 AT(rcvlowat), 1, 1 << 30, 0},
	{"How much:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"seconds", 't', "S", "send for so long (10, unless --bytes is given)", SECONDS,
	 AT(seconds), 0, 0, SENDER},
	{"bytes", 'n', "BYTES", "send so much on each flow; a receiver fails unless so much came",
	 SIZE, AT(bytes), 1, INT64_MAX, 0},
	{"connect-timeout", 0, "S", "go on trying while nobody listens yet (10)", SECONDS,
	 AT(connect_timeout), 0, 0, 0},
	{"accept-timeout", 0, "S", "wait so long for a sender (60)", SECONDS, AT(accept_timeout), 0,
	 0, 0},
	{"Checking, given at both ends:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"verify", 0, 0, "send a pattern that depends on the position, and compare every byte",
	 FLAG, AT(verify), 0, 0, 0},
	{"corrupt-at", 0, "OFFSET",
	 "sender: spoil the byte there in the first flow, to see that it is found", SIZE,
	 AT(corrupt_at), 0, INT64_MAX, SENDER},
};
