// SPDX-License-Identifier: GPL-2.0-only
/* The command line. */
#include "tcpzc.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FLOWS_MAX = 4096,
	OPT_TX = 256,
	OPT_RX,
	OPT_CPU,
	OPT_FLOWS,
	OPT_THREADS,
	OPT_SNDBUF,
	OPT_RCVBUF,
	OPT_RCVLOWAT,
	OPT_WINDOW,
	OPT_BATCH,
	OPT_CONNECT_TIMEOUT,
	OPT_ACCEPT_TIMEOUT,
	OPT_VERIFY,
	OPT_CORRUPT_AT,
};

static const struct argp_option table[] = {
	{0, 0, 0, 0, "Which end:", 1},
	{"listen", 'l', "ADDRESS", OPTION_ARG_OPTIONAL, "receive: wait for a sender", 0},
	{"connect", 'c', "HOST", 0, "send: connect to a receiver (name, IPv4 or IPv6)", 0},
	{"port", 'p', "PORT", 0, "TCP port (7077)", 0},
	{0, 0, 0, 0, "How:", 2},
	{"tx", OPT_TX, "MODE", 0, "way of sending", 0},
	{"rx", OPT_RX, "MODE", 0, "way of receiving", 0},
	{"size", 's', "BYTES", 0, "of a message, and of a receive (128k)", 0},
	{"batch", OPT_BATCH, "N", 0, "messages per io_uring_enter (8)", 0},
	{"window", OPT_WINDOW, "BYTES", 0, "--rx mmap: map so much at once (2M)", 0},
	{"flows", OPT_FLOWS, "N", 0, "connections, given at both ends (1)", 0},
	{"threads", OPT_THREADS, "N", 0,
	 "spread the flows over so many (as many as --cpu names CPUs and there are flows; else 1)",
	 0},
	{"cpu", OPT_CPU, "LIST", 0,
	 "run on these CPUs, as 1 or 0-3,8: a thread on each in turn, and flow after flow on each "
	 "thread in turn",
	 0},
	{"sndbuf", OPT_SNDBUF, "BYTES", 0, "SO_SNDBUF (the kernel's own tuning)", 0},
	{"rcvbuf", OPT_RCVBUF, "BYTES", 0, "SO_RCVBUF (the kernel's own tuning)", 0},
	{"rcvlowat", OPT_RCVLOWAT, "BYTES", 0,
	 "SO_RCVLOWAT: wait for so much (--rx mmap: half the window)", 0},
	{0, 0, 0, 0, "How much:", 3},
	{"seconds", 't', "S", 0, "send for so long (10, unless --bytes is given)", 0},
	{"bytes", 'n', "BYTES", 0,
	 "send so much on each flow; a receiver fails unless so much came", 0},
	{"connect-timeout", OPT_CONNECT_TIMEOUT, "S", 0,
	 "go on trying while nobody listens yet (10)", 0},
	{"accept-timeout", OPT_ACCEPT_TIMEOUT, "S", 0, "wait so long for a sender (60)", 0},
	{0, 0, 0, 0, "Checking, given at both ends:", 4},
	{"verify", OPT_VERIFY, 0, 0,
	 "send a pattern that depends on the position, and compare every byte", 0},
	{"corrupt-at", OPT_CORRUPT_AT, "OFFSET", 0,
	 "sender: spoil the byte there, to see that it is found", 0},
	{0},
};

static const char doc[] =
	"Moves bytes over TCP connections by one way of sending and one of receiving, and says "
	"how "
	"many were copied, mapped or sent without a copy. Prints JSON lines: a point every 100 ms, "
	"then "
	"a summary. Sizes take k, M and G (powers of 1024)."
	"\vExample: tcpzc --listen --rx mmap & tcpzc --connect ::1 --tx sendfile --seconds 3";

/* "64k" as bytes; anything else than a whole number in the range is a usage error. */
static uint64_t size_arg(struct argp_state *state, const char *name, const char *arg, uint64_t min,
			 uint64_t max)
{
	static const char suffixes[] = "kMG";
	const char *suffix;
	uint64_t v;
	char *end;

	errno = 0;
	v = strtoull(arg, &end, 10);
	if (end == arg || *arg == '-' || errno)
		argp_error(state, "--%s: '%s' is not a number", name, arg);
	suffix = *end ? strchr(suffixes, *end == 'K' ? 'k' : *end) : NULL;
	if (*end && (!suffix || end[1]))
		argp_error(state, "--%s: '%s': a number, then k, M or G", name, arg);
	if (suffix) {
		int shift = 10 * (int)(suffix - suffixes + 1);

		v = v > UINT64_MAX >> shift ? UINT64_MAX : v << shift;
	}
	if (v < min || v > max)
		argp_error(state, "--%s: %s is not within %llu to %llu", name, arg,
			   (unsigned long long)min, (unsigned long long)max);
	return v;
}

/* "0-3,8" */
static void cpus_arg(struct argp_state *state, const char *arg, cpu_set_t *set)
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
			argp_error(state, "--cpu: '%s' is no list of CPUs like 1 or 0-3,8", arg);
		for (; from <= to; from++)
			CPU_SET(from, set);
		p = end;
		if (!*p)
			return;
	}
}

static double seconds_arg(struct argp_state *state, const char *name, const char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !isfinite(v) || v <= 0 || v > 1e6)
		argp_error(state, "--%s: '%s' is not a number of seconds above 0", name, arg);
	return v;
}

static const struct mode *mode_arg(struct argp_state *state, const char *name,
				   const struct mode *const *modes, const char *arg)
{
	const struct mode *m = mode_find(modes, arg);
	char known[256] = "";

	for (; !m && *modes; modes++) {
		strncat(known, " ", sizeof(known) - strlen(known) - 1);
		strncat(known, (*modes)->name, sizeof(known) - strlen(known) - 1);
	}
	if (!m)
		argp_error(state, "--%s: no mode '%s'; there are:%s", name, arg, known);
	return m;
}

struct parse {
	struct options *opt;
	const struct mode *tx, *rx;
	const char *peer;
};

static int parse_size(int key, char *arg, struct argp_state *state, struct options *o)
{
	switch (key) {
	case 's':
		o->size = size_arg(state, "size", arg, 1, 64 << 20);
		return 0;
	case 'n':
		o->bytes = size_arg(state, "bytes", arg, 1, INT64_MAX);
		return 0;
	case OPT_FLOWS:
		o->flows = (unsigned int)size_arg(state, "flows", arg, 1, FLOWS_MAX);
		return 0;
	case OPT_THREADS:
		o->threads = (unsigned int)size_arg(state, "threads", arg, 1, FLOWS_MAX);
		return 0;
	case OPT_BATCH:
		o->batch = (unsigned int)size_arg(state, "batch", arg, 1, 1024);
		return 0;
	case OPT_WINDOW:
		o->window = size_arg(state, "window", arg, 64 << 10, 1 << 30) & ~(size_t)0xffff;
		return 0;
	case OPT_SNDBUF:
		o->sndbuf = size_arg(state, "sndbuf", arg, 1, 1 << 30);
		return 0;
	case OPT_RCVBUF:
		o->rcvbuf = size_arg(state, "rcvbuf", arg, 1, 1 << 30);
		return 0;
	case OPT_RCVLOWAT:
		o->rcvlowat = size_arg(state, "rcvlowat", arg, 1, 1 << 30);
		return 0;
	case OPT_CORRUPT_AT:
		o->corrupt = true;
		o->corrupt_at = size_arg(state, "corrupt-at", arg, 0, INT64_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void check(struct argp_state *state, const struct parse *p)
{
	const struct options *o = p->opt;

	if (o->threads > o->flows)
		argp_error(state, "--threads %u: more than there are --flows (%u)", o->threads,
			   o->flows);
	if (o->listen == !!p->peer)
		argp_error(state, "either --listen or --connect HOST");
	if (o->listen && p->tx)
		argp_error(state, "--tx belongs to --connect: the listening side receives");
	if (!o->listen && p->rx)
		argp_error(state, "--rx belongs to --listen: the connecting side sends");
	if (o->listen && o->seconds > 0)
		argp_error(state, "--seconds belongs to the sender");
	if (o->corrupt && (!o->verify || o->listen))
		argp_error(state, "--corrupt-at belongs to a sender with --verify");
}

static error_t parse_other(int key, char *arg, struct argp_state *state, struct parse *p)
{
	struct options *o = p->opt;

	switch (key) {
	case 'l':
		o->listen = true;
		o->host = arg;
		return 0;
	case 'c':
		p->peer = o->host = arg;
		return 0;
	case 'p':
		size_arg(state, "port", arg, 1, 65535);
		o->port = arg;
		return 0;
	case OPT_CPU:
		cpus_arg(state, arg, &o->cpus);
		o->pinned = true;
		return 0;
	case OPT_TX:
		p->tx = mode_arg(state, "tx", tx_modes, arg);
		return 0;
	case OPT_RX:
		p->rx = mode_arg(state, "rx", rx_modes, arg);
		return 0;
	case 't':
		o->seconds = seconds_arg(state, "seconds", arg);
		return 0;
	case OPT_CONNECT_TIMEOUT:
		o->connect_timeout = seconds_arg(state, "connect-timeout", arg);
		return 0;
	case OPT_ACCEPT_TIMEOUT:
		o->accept_timeout = seconds_arg(state, "accept-timeout", arg);
		return 0;
	case OPT_VERIFY:
		o->verify = true;
		return 0;
	default:
		return parse_size(key, arg, state, o);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	if (key == ARGP_KEY_ARG)
		argp_error(state,
			   "'%s': there are no arguments, only options (an address to listen on: "
			   "--listen=ADDRESS)",
			   arg);
	if (key != ARGP_KEY_END)
		return parse_other(key, arg, state, p);
	check(state, p);
	return 0;
}

static void list_modes(FILE *out, const char *title, const struct mode *const *modes)
{
	fprintf(out, "%s\n", title);
	for (; *modes; modes++)
		fprintf(out, "  %-16s %s%s%s%s\n", (*modes)->name, (*modes)->what,
			(*modes)->needs ? " (" : "", (*modes)->needs ? (*modes)->needs : "",
			(*modes)->needs ? ")" : "");
	fprintf(out, "\n");
}

/* The modes of the tables go before the example. */
static char *help_filter(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t n;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !(out = open_memstream(&list, &n)))
		return (char *)text;
	list_modes(out, "Ways of sending:", tx_modes);
	list_modes(out, "Ways of receiving:", rx_modes);
	fprintf(out, "%s", text ? text : "");
	fclose(out);
	return list;
}

void options_parse(struct options *opt, int argc, char **argv)
{
	static const struct argp argp = {
		.options = table, .parser = parse, .doc = doc, .help_filter = help_filter};
	struct parse p = {.opt = opt};

	*opt = (struct options){.port = "7077",
				.size = 128 << 10,
				.window = 2 << 20,
				.batch = 8,
				.flows = 1,
				.connect_timeout = 10,
				.accept_timeout = 60};
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &p);
	opt->mode = opt->listen ? p.rx : p.tx;
	if (!opt->mode)
		opt->mode = opt->listen ? rx_modes[0] : tx_modes[0];
	if (!opt->threads)
		opt->threads = opt->pinned ? (unsigned int)CPU_COUNT(&opt->cpus) : 1;
	if (opt->threads > opt->flows)
		opt->threads = opt->flows;
	if (!opt->listen && !opt->bytes && opt->seconds <= 0)
		opt->seconds = 10;
}
