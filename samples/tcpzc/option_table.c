// SPDX-License-Identifier: GPL-2.0-only
/* THE TABLE of options. */
#include "option_table.h"
#include "tcpzc.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t option_parse_number(struct argp_state *state, const char *name, const char *arg,
			     uint64_t min, uint64_t max, bool suffixes)
{
	const char *known = suffixes ? "kMG" : "", *suffix;
	uint64_t v;
	char *end;

	errno = 0;
	v = strtoull(arg, &end, 10);
	if (end == arg || *arg == '-' || errno)
		argp_error(state, "--%s: '%s' is not a number", name, arg);
	suffix = *end ? strchr(known, *end == 'K' ? 'k' : *end) : NULL;
	if (*end && (!suffix || end[1]))
		argp_error(state, "--%s: '%s' is not a number%s", name, arg,
			   suffixes ? ", optionally with k, M or G" : "");
	if (suffix) {
		int shift = 10 * (int)(suffix - known + 1);

		v = v > UINT64_MAX >> shift ? UINT64_MAX : v << shift;
	}
	if (v < min || v > max)
		argp_error(state, "--%s: %s is not within %llu to %llu", name, arg,
			   (unsigned long long)min, (unsigned long long)max);
	return v;
}

/* Returns true when the machine has the CPU, online or not, or when sysfs is missing. */
static bool cpu_exists(unsigned long cpu)
{
	static const char folder[] = "/sys/devices/system/cpu";
	char path[sizeof(folder) + 32];

	snprintf(path, sizeof(path), "%s/cpu%lu", folder, cpu);
	return !access(path, F_OK) || access(folder, F_OK);
}

void option_parse_cpus(struct argp_state *state, const char *name, const char *arg, cpu_set_t *set)
{
	const char *p = arg;

	CPU_ZERO(set);
	for (;; p++) {
		char *end;
		unsigned long from = strtoul(p, &end, 10), to = from;
		bool number = isdigit((unsigned char)*p);

		if (number && *end == '-') {
			p = end + 1;
			number = isdigit((unsigned char)*p);
			to = strtoul(p, &end, 10);
		}
		if (!number || (*end && *end != ',') || to < from || to >= CPU_SETSIZE)
			argp_error(state, "--%s: '%s' is not a list of CPUs such as 1 or 0-3,8",
				   name, arg);
		for (; from <= to; from++) {
			if (!cpu_exists(from))
				argp_error(state,
					   "--%s: this machine has no CPU %lu, only %ld CPUs", name,
					   from, sysconf(_SC_NPROCESSORS_CONF));
			CPU_SET(from, set);
		}
		p = end;
		if (!*p)
			return;
	}
}

/* The units of a rate. Those in messages are only for --rate. */
static const struct unit {
	const char *name;
	double bytes;
	bool messages;
} units[] = {
	{"", 1, false},		 {"B/s", 1, false},  {"bit/s", 1.0 / 8, false},
	{"bit", 1.0 / 8, false}, {"msg/s", 1, true}, {"msg", 1, true},
};

double option_parse_rate(struct argp_state *state, const char *name, const char *arg,
			 bool *messages)
{
	static const char powers[] = "kMGT";
	const struct unit *u = units, *end = units + sizeof(units) / sizeof(units[0]);
	const char *power;
	double v;
	char *rest;

	v = strtod(arg, &rest);
	power = *rest ? strchr(powers, *rest == 'K' ? 'k' : *rest) : NULL;
	if (power)
		v *= pow(1000, (double)(power - powers) + 1), rest++;
	while (u < end && (strcmp(u->name, rest) || (u->messages && !messages)))
		u++;
	if (rest == arg || u == end || !isfinite(v) || v <= 0)
		argp_error(state, "--%s: '%s' is not a rate such as 100M, 10Gbit/s%s", name, arg,
			   messages ? " or 5000msg/s" : "");
	if (messages)
		*messages = u->messages;
	return v * u->bytes;
}

double option_parse_seconds(struct argp_state *state, const char *name, const char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !isfinite(v) || v <= 0 || v > 1e6)
		argp_error(state, "--%s: '%s' is not a number of seconds above 0", name, arg);
	return v;
}

const struct mode *option_parse_mode(struct argp_state *state, const char *name,
				     const struct mode *const *modes, const char *arg)
{
	const struct mode *m = mode_find(modes, arg);
	char known[512] = "";

	for (; !m && *modes; modes++) {
		strncat(known, " ", sizeof(known) - strlen(known) - 1);
		strncat(known, (*modes)->name, sizeof(known) - strlen(known) - 1);
	}
	if (!m)
		argp_error(state, "--%s: there is no mode '%s'; the modes are:%s", name, arg,
			   known);
	return m;
}

enum { FLOWS_MAX = 4096, CQ_ENTRIES_MAX = 1 << 16 /* the kernel's own limit */ };

#define AT(member) offsetof(struct options, member), sizeof(((struct options *)0)->member)
const struct option_row option_table[ROWS_MAX + 1] = {
	{"Which end:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"listen", 'l', "ADDRESS", "receive: wait for a sender", LISTEN, AT(listen), 0, 0, 0},
	{"connect", 'c', "HOST", "send: connect to a receiver (name, IPv4 or IPv6)", CONNECT,
	 AT(host), 0, 0, 0},
	{"port", 'p', "PORT", "port (7077)", PORT, AT(port), 1, 65535, 0},
	{"How:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"tx", 0, "MODE", "way of sending", TX_MODE, AT(mode), 0, 0, 0},
	{"rx", 0, "MODE", "way of receiving", RX_MODE, AT(mode), 0, 0, 0},
	{"size", 's', "BYTES", "size of a message and of a receive (128k)", SIZE, AT(size), 1,
	 64 << 20, 0},
	{"batch", 0, "N", "messages per io_uring_enter (8)", NUMBER, AT(batch), 1, 1024, 0},
	{"cq-entries", 0, "N",
	 "room for N completions in io_uring's ring, rounded up to a power of two. Take more when the summary has ring_overflow, and fewer to provoke it (default: enough for everything that the mode has in flight)",
	 NUMBER, AT(cq_entries), 1, CQ_ENTRIES_MAX, 0},
	{"plain-buffers", 0, 0,
	 "--tx uring-send-zc, uring-sendmsg-zc: do not register the memory; the kernel pins it for each send",
	 FLAG, AT(plain_buffers), 0, 0, 0},
	{"huge-pages", 0, 0,
	 "use huge pages for memory of 64 KiB or more: those that vm.nr_hugepages reserves, or else transparent ones (the socket mapping of --rx mmap keeps small pages)",
	 FLAG, AT(huge_pages), 0, 0, 0},
	{"window", 0, "BYTES", "--rx mmap: map this much at once (2M)", SIZE, AT(window), 64 << 10,
	 1 << 30, 0},
	{"udp", 0, 0,
	 "send datagrams of --size (1400), for control runs that check what is reported as copied; both ends need it",
	 FLAG, AT(udp), 0, 0, 0},
	{"rr", 0, 0,
	 "send requests of --size and answer each with a response. Responses use send and recv, or --tx of the listening and --rx of the connecting end; both ends need it",
	 FLAG, AT(rr), 0, 0, 0},
	{"response", 0, "BYTES",
	 "--rr: size of a response; both ends need it (the size of a request)", SIZE, AT(response),
	 1, 64 << 20, 0},
	{"outstanding", 0, "N", "--rr: requests in flight on each flow (1)", NUMBER,
	 AT(outstanding), 1, 1 << 16, SENDER},
	{"rate", 0, "RATE",
	 "send at most at this rate on each flow: 100M (bytes), 10Gbit/s, 5000msg/s; powers of 1000",
	 RATE, AT(rate), 0, 0, SENDER},
	{"flows", 0, "N", "number of connections; both ends need it (1)", NUMBER, AT(flows), 1,
	 FLOWS_MAX, 0},
	{"threads", 0, "N",
	 "spread the flows over N threads (one per CPU of --cpu, but at most one per flow; else 1)",
	 NUMBER, AT(threads), 1, FLOWS_MAX, 0},
	{"cpu", 0, "LIST",
	 "run on these CPUs, such as 1 or 0-3,8. Threads take the CPUs in turn, and flows take the threads in turn",
	 CPUS, AT(cpus), 0, 0, 0},
	{"The interface (zcrx, devmem):", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"nic", 0, "IF", "the network interface", TEXT, AT(nic), 0, 0, 0},
	{"queue", 0, "N",
	 "its receive queue for the first flow; further flows take the following ones (1)", NUMBER,
	 AT(queue), 0, 65535, RECEIVER},
	{"area", 0, "BYTES", "memory that each flow's queue receives into (64M)", SIZE, AT(area),
	 1 << 20, 128 << 20, RECEIVER},
	{"dmabuf-fd", 0, "FD",
	 "devmem: receive into, or send from, this inherited dmabuf (default: a udmabuf)", NUMBER,
	 AT(dmabuf_fd), 0, 1 << 20, 0},
	{"dontneed-batch", 0, "N", "--rx devmem: give back N tokens at once (512)", NUMBER,
	 AT(dontneed_batch), 1, 1024, RECEIVER},
	{"no-device", 0, 0, "--rx zcrx without an interface, which copies everything (Linux 7.1)",
	 FLAG, AT(no_device), 0, 0, RECEIVER},
	{"print-setup", 0, 0,
	 "only print the commands that set up the interface and those that undo it", FLAG,
	 AT(print_setup), 0, 0, RECEIVER},
	{"The socket:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"sndbuf", 0, "BYTES", "SO_SNDBUF (default: the kernel tunes it)", SIZE, AT(sndbuf), 1,
	 1 << 30, 0},
	{"rcvbuf", 0, "BYTES", "SO_RCVBUF (default: the kernel tunes it)", SIZE, AT(rcvbuf), 1,
	 1 << 30, 0},
	{"rcvlowat", 0, "BYTES", "SO_RCVLOWAT: wait for this much (--rx mmap: half the window)",
	 SIZE, AT(rcvlowat), 1, 1 << 30, 0},
	{"mss", 0, "BYTES", "TCP_MAXSEG: segments of at most this size", NUMBER, AT(mss), 1, 65535,
	 0},
	{"pacing-rate", 0, "RATE", "SO_MAX_PACING_RATE: as --rate, but the kernel paces", RATE,
	 AT(pacing_rate), 0, 0, SENDER},
	{"busy-poll", 0, "US",
	 "SO_BUSY_POLL: poll the device this long before sleeping, also in the waits of io_uring",
	 NUMBER, AT(busy_poll), 1, 1000000, 0},
	{"prefer-busy-poll", 0, 0, "SO_PREFER_BUSY_POLL: poll rather than use interrupts", FLAG,
	 AT(prefer_busy_poll), 0, 0, 0},
	{"busy-poll-budget", 0, "N", "SO_BUSY_POLL_BUDGET: packets per poll", NUMBER,
	 AT(busy_poll_budget), 1, 65535, 0},
	{"no-iowait", 0, 0, "count the time that io_uring waits as idle, not as iowait", FLAG,
	 AT(no_iowait), 0, 0, 0},
	{"How much:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"seconds", 't', "S", "send for S seconds (10, unless --bytes is set)", SECONDS,
	 AT(seconds), 0, 0, SENDER},
	{"bytes", 'n', "BYTES",
	 "send this much on each flow; a receiver fails when it gets another number of bytes", SIZE,
	 AT(bytes), 1, INT64_MAX, 0},
	{"connect-timeout", 0, "S", "try to connect for S seconds while nobody listens (10)",
	 SECONDS, AT(connect_timeout), 0, 0, 0},
	{"accept-timeout", 0, "S", "wait S seconds for a sender (60)", SECONDS, AT(accept_timeout),
	 0, 0, 0},
	{"peer-timeout", 0, "S", "give up on a peer that is silent for S seconds (20)", SECONDS,
	 AT(peer_timeout), 0, 0, 0},
	{"Checking (both ends need it):", 0, 0, 0, HEADER, 0, 0, 0, 0, 0},
	{"verify", 0, 0, "send a pattern that depends on the position, and compare every byte",
	 FLAG, AT(verify), 0, 0, 0},
	{"corrupt-at", 0, "OFFSET",
	 "sender: change the byte at OFFSET of the first flow, to test --verify", SIZE,
	 AT(corrupt_at), 0, INT64_MAX, SENDER},
};
