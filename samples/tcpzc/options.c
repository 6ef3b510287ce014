// SPDX-License-Identifier: GPL-2.0-only
/* The command line: the table of modes and that of options, their arguments, checks and help. */
#include "tcpzc.h"

#include "lib/command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

// clang-format off
#define TX_MODES(X) \
	X(tx_send) X(tx_sendfile) X(tx_sendfile_direct) X(tx_splice) X(tx_msg_zerocopy) \
	X(tx_uring_send) X(tx_uring_send_zc) X(tx_uring_sendmsg_zc) X(tx_devmem)
#define RX_MODES(X) \
	X(rx_recv) X(rx_recvmsg) X(rx_trunc) X(rx_mmap) X(rx_uring_recv) X(rx_uring_multishot) \
	X(rx_zcrx) X(rx_devmem)
// clang-format on

#define DECLARE(m) extern const struct mode m;
TX_MODES(DECLARE)
RX_MODES(DECLARE)

/* The first mode is the default. */
#define ROW(m) &(m),
static const struct mode *const tx_modes[] = {TX_MODES(ROW) NULL};
static const struct mode *const rx_modes[] = {RX_MODES(ROW) NULL};

/* --- the options --- */

enum { ROW_KEY = 256, UDP_SIZE = 1400, UDP_MAX = 65507 };

const char *argp_program_version = "tcpzc " ZCOST_VERSION;

static const char doc[] =
	"Moves bytes over TCP connections with one way of sending and one of receiving, and reports how many bytes were copied, mapped or sent without a copy. "
	"Prints JSON lines: a point every 100 ms, then a summary. "
	"Sizes take k, M and G (powers of 1024)."
	"\vExample: tcpzc --listen --rx mmap & tcpzc --connect ::1 --tx sendfile --seconds 3";

enum { ROWS_MAX = 48 };

/* An option is a row: where its value goes and which values it takes. */
enum option_kind {
	HEADER,
	FLAG,
	NUMBER,
	SIZE,
	SECONDS,
	RATE,
	CPUS,
	MEMORY,
	TEXT,
	TX_MODE,
	RX_MODE,
	LISTEN,
	CONNECT,
	PORT
};
enum { SENDER = 1, RECEIVER = 2 }; /* the end that the option belongs to; 0: both */

struct option_row {
	const char *name;
	int key; /* a letter, or 0 */
	const char *arg, *help;
	enum option_kind kind;
	size_t at, width; /* in struct options; NUMBER and SIZE have 4 or 8 bytes */
	uint64_t min, max;
	int whose;
	unsigned int taker; /* a flag of the modes that take the option; 0: all take it */
};

enum { FLOWS_MAX = 4096, CQ_ENTRIES_MAX = 1 << 16 /* the kernel's own limit */ };

#define AT(member) offsetof(struct options, member), sizeof(((struct options *)0)->member)
static const struct option_row option_table[ROWS_MAX + 1] = {
	{"Which end:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0, 0},
	{"listen", 'l', "ADDRESS", "receive: wait for a sender", LISTEN, AT(listen), 0, 0, 0, 0},
	{"connect", 'c', "HOST", "send: connect to a receiver (name, IPv4 or IPv6)", CONNECT,
	 AT(host), 0, 0, 0, 0},
	{"port", 'p', "PORT", "port (7077)", PORT, AT(port), 1, 65535, 0, 0},
	{"How:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0, 0},
	{"tx", 0, "MODE", "way of sending", TX_MODE, AT(mode), 0, 0, 0, 0},
	{"rx", 0, "MODE", "way of receiving", RX_MODE, AT(mode), 0, 0, 0, 0},
	{"size", 's', "BYTES", "size of a message and of a receive (128k)", SIZE, AT(size), 1,
	 64 << 20, 0, 0},
	{"cq-entries", 0, "N",
	 "room for N completions in io_uring's ring, rounded up to a power of two. Take more when the summary has ring_overflow, and fewer to provoke it (default: enough for everything that the mode has in flight)",
	 NUMBER, AT(cq_entries), 1, CQ_ENTRIES_MAX, 0, MODE_RING},
	{"plain-buffers", 0, 0,
	 "--tx uring-send-zc, uring-sendmsg-zc: do not register the memory; the kernel pins it for each send",
	 FLAG, AT(plain_buffers), 0, 0, 0, MODE_BUFFERS},
	{"depth", 0, "N",
	 "zero-copy --tx and uring-send: have at most N messages in flight. 1 waits for the notification of each (4M of them, but 4 to 1024)",
	 NUMBER, AT(depth), 1, 1024, SENDER, MODE_SLOTS},
	{"offset", 0, "BYTES",
	 "zero-copy --tx and uring-send: begin the first message so many bytes after the start of a page (0)",
	 SIZE, AT(offset), 1, 4095, SENDER, MODE_SLOTS},
	{"udp", 0, 0,
	 "send datagrams of --size (1400), for control runs that check what is reported as copied; no receiver need read them, but a host with the address must have the port open",
	 FLAG, AT(udp), 0, 0, SENDER, 0},
	{"rr", 0, 0,
	 "send requests of --size and answer each with a response. Responses use send and recv, or --tx of the listening and --rx of the connecting end; both ends need it",
	 FLAG, AT(rr), 0, 0, 0, 0},
	{"response", 0, "BYTES",
	 "--rr: size of a response; both ends need it (the size of a request)", SIZE, AT(response),
	 1, 64 << 20, 0, 0},
	{"outstanding", 0, "N", "--rr: requests in flight on each flow (1)", NUMBER,
	 AT(outstanding), 1, 1 << 16, SENDER, 0},
	{"rate", 0, "RATE",
	 "send at most at this rate on each flow: 100M (bytes), 10Gbit/s, 5000msg/s; powers of 1000",
	 RATE, AT(rate), 0, 0, SENDER, 0},
	{"flows", 0, "N", "number of connections; both ends need it (1)", NUMBER, AT(flows), 1,
	 FLOWS_MAX, 0, 0},
	{"threads", 0, "N",
	 "spread the flows over N threads (one per CPU of --cpu, but at most one per flow; else 1)",
	 NUMBER, AT(threads), 1, FLOWS_MAX, 0, 0},
	{"cpu", 0, "LIST",
	 "run on these CPUs, such as 1 or 0-3,8. Threads take the CPUs in turn, and flows take the threads in turn",
	 CPUS, AT(cpus), 0, 0, 0, 0},
	{"The interface (zcrx, devmem):", 0, 0, 0, HEADER, 0, 0, 0, 0, 0, 0},
	{"nic", 0, "IF", "the network interface", TEXT, AT(nic), 0, 0, 0, MODE_NIC},
	{"queue", 0, "N",
	 "its receive queue for the first flow; further flows take the following ones (1)", NUMBER,
	 AT(queue), 0, 65535, RECEIVER, MODE_NIC},
	{"area", 0, "BYTES", "memory that each flow's queue receives into (64M)", SIZE, AT(area),
	 1 << 20, 128 << 20, RECEIVER, MODE_NIC},
	{"memory", 0, "udmabuf|cuda:N",
	 "devmem: receive into, or send from, memory of the host or of GPU N (udmabuf)", MEMORY,
	 AT(gpu), 0, 63, 0, MODE_DMABUF},
	{"dmabuf-fd", 0, "FD", "devmem: receive into, or send from, this inherited dmabuf instead",
	 NUMBER, AT(dmabuf_fd), 0, 1 << 20, 0, MODE_DMABUF},
	{"The socket:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0, 0},
	{"sndbuf", 0, "BYTES", "SO_SNDBUF (default: the kernel tunes it)", SIZE, AT(sndbuf), 1,
	 1 << 30, 0, 0},
	{"rcvbuf", 0, "BYTES", "SO_RCVBUF (default: the kernel tunes it)", SIZE, AT(rcvbuf), 1,
	 1 << 30, 0, 0},
	{"How much:", 0, 0, 0, HEADER, 0, 0, 0, 0, 0, 0},
	{"seconds", 't', "S", "send for S seconds (10, unless --bytes is set)", SECONDS,
	 AT(seconds), 0, 0, SENDER, 0},
	{"bytes", 'n', "BYTES",
	 "send this much on each flow; a receiver fails when it gets another number of bytes", SIZE,
	 AT(bytes), 1, INT64_MAX, 0, 0},
	{"connect-timeout", 0, "S", "try to connect for S seconds while nobody listens (10)",
	 SECONDS, AT(connect_timeout), 0, 0, 0, 0},
	{"accept-timeout", 0, "S", "wait S seconds for a sender (60)", SECONDS, AT(accept_timeout),
	 0, 0, 0, 0},
	{"peer-timeout", 0, "S", "give up on a peer that is silent for S seconds (20)", SECONDS,
	 AT(peer_timeout), 0, 0, 0, 0},
	{"Checking (both ends need it):", 0, 0, 0, HEADER, 0, 0, 0, 0, 0, 0},
	{"verify", 0, 0, "send a pattern that depends on the position, and compare every byte",
	 FLAG, AT(verify), 0, 0, 0, 0},
};

struct parse {
	struct options *opt;
	const struct mode *tx, *rx;
	const char *peer;
	bool given[ROWS_MAX];
};

static bool options_given(const struct parse *p, const char *name)
{
	for (size_t i = 0; option_table[i].name; i++)
		if (!strcmp(option_table[i].name, name))
			return p->given[i];
	abort();
}

static void options_check_udp(struct argp_state *state, const struct parse *p)
{
	const struct options *o = p->opt;

	if (!o->udp || o->listen)
		return;
	if (o->rr || o->verify || o->flows > 1)
		argp_error(state, "--udp does not go together with --rr, --verify or --flows");
	if (p->tx && !(p->tx->flags & MODE_UDP))
		argp_error(state, "--udp: '%s' does not send datagrams", p->tx->name);
	if (!options_given(p, "size"))
		p->opt->size = UDP_SIZE;
	if (o->size > UDP_MAX)
		argp_error(state, "--udp: a datagram has at most %d bytes", UDP_MAX);
}

static void options_check_rr(struct argp_state *state, const struct parse *p)
{
	const struct options *o = p->opt;

	if (!o->rr && (options_given(p, "response") || options_given(p, "outstanding")))
		argp_error(state, "--response and --outstanding belong to --rr");
	if (o->rr && !o->listen && o->bytes % o->size)
		argp_error(state, "--rr: --bytes must be a multiple of --size");
	if (o->rr && p->tx && p->rx && p->tx->flags & MODE_NONBLOCK && p->rx->flags & MODE_RING)
		argp_error(state, "--rr: --tx %s does not go together with --rx %s on one socket",
			   p->tx->name, p->rx->name);
	if (o->rr && p->rx && p->rx->flags & MODE_NO_DATA)
		argp_error(state, "--rr: --rx %s never sees the data", p->rx->name);
}

/* The modes that take the options whose rows have a flag of a mode. */
static const struct {
	unsigned int flag;
	const char *modes;
} takers[] = {
	{MODE_RING, "of io_uring"},
	{MODE_NIC, "zcrx, devmem"},
	{MODE_DMABUF, "devmem"},
	{MODE_BUFFERS, "uring-send-zc, uring-sendmsg-zc"},
	{MODE_SLOTS, "msg-zerocopy, uring-send, uring-send-zc, uring-sendmsg-zc"},
};

/* Checks options that only some modes take. */
static void options_check_modes(struct argp_state *state, const struct parse *p)
{
	unsigned int flags = (p->tx ? p->tx->flags : 0) | (p->rx ? p->rx->flags : 0);

	for (size_t i = 0; option_table[i].name; i++)
		for (size_t k = 0; k < array_size(takers) && p->given[i]; k++)
			if (option_table[i].taker == takers[k].flag && !(flags & takers[k].flag))
				argp_error(state, "--%s belongs to the modes %s",
					   option_table[i].name, takers[k].modes);
}

/* Checks the combination of all options. */
static void options_check(struct argp_state *state, const struct parse *p)
{
	const struct options *o = p->opt;
	bool rx, tx;

	if (o->listen == !!p->peer)
		argp_error(state, "either --listen or --connect HOST");
	if (o->listen && p->tx && !o->rr)
		argp_error(state, "--tx belongs to --connect: the listening side receives");
	if (!o->listen && p->rx && !o->rr)
		argp_error(state, "--rx belongs to --listen: the connecting side sends");
	options_check_rr(state, p);
	options_check_udp(state, p);
	for (size_t i = 0; option_table[i].name; i++)
		if (p->given[i] && option_table[i].whose == (o->listen ? SENDER : RECEIVER))
			argp_error(state, "--%s belongs to the %s", option_table[i].name,
				   o->listen ? "sender" : "receiver");
	options_check_modes(state, p);
	if (options_given(p, "memory") && options_given(p, "dmabuf-fd"))
		argp_error(state, "--memory and --dmabuf-fd exclude each other");
	rx = p->rx && p->rx->flags & MODE_NIC;
	tx = p->tx && p->tx->flags & MODE_NIC;
	if ((rx || tx) && !o->nic)
		argp_error(state, "--%s %s: which interface? --nic IF", rx ? "rx" : "tx",
			   (rx ? p->rx : p->tx)->name);
	if (o->threads > o->flows)
		argp_error(state, "--threads %u: there are only %u --flows", o->threads, o->flows);
	if (o->listen && o->verify && p->rx && p->rx->flags & MODE_NO_DATA)
		argp_error(state, "--rx %s never sees the data: there is nothing to --verify",
			   p->rx->name);
}

/* --- arguments: a bad one is a usage error, and then these functions do not return --- */

/* Parses a whole number, with k, M or G (powers of 1024) when `suffixes` is set. */
static uint64_t option_parse_number(struct argp_state *state, const char *name, const char *arg,
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

static void option_parse_cpus(struct argp_state *state, const char *name, const char *arg,
			      struct cpuset *set)
{
	struct error err = {0};
	long all = sysconf(_SC_NPROCESSORS_CONF);

	if (cpuset_parse(set, arg, &err))
		argp_error(state, "--%s: %s", name, err.text);
	for (unsigned int cpu = (unsigned int)all; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(set, cpu))
			argp_error(state, "--%s: this machine has no CPU %u, only %ld CPUs", name,
				   cpu, all);
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

/* Parses "10Gbit/s" or "5000msg/s" into bytes or messages a second. */
static double option_parse_rate(struct argp_state *state, const char *name, const char *arg,
				bool *messages)
{
	static const char powers[] = "kMGT";
	const struct unit *u = units, *end = units + array_size(units);
	const char *power;
	double v;
	char *rest;

	v = strtod(arg, &rest);
	power = *rest ? strchr(powers, *rest == 'K' ? 'k' : *rest) : NULL;
	if (power)
		v *= pow(1000, (double)(power - powers) + 1), rest++;
	while (u < end && strcmp(u->name, rest))
		u++;
	if (rest == arg || u == end || !isfinite(v) || v <= 0)
		argp_error(state, "--%s: '%s' is not a rate such as 100M, 10Gbit/s or 5000msg/s",
			   name, arg);
	*messages = u->messages;
	return v * u->bytes;
}

static double option_parse_seconds(struct argp_state *state, const char *name, const char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !isfinite(v) || v <= 0 || v > 1e6)
		argp_error(state, "--%s: '%s' is not a number of seconds above 0", name, arg);
	return v;
}

static const struct mode *option_parse_mode(struct argp_state *state, const char *name,
					    const struct mode *const *modes, const char *arg)
{
	char known[512] = "";

	for (; *modes; modes++) {
		if (!strcmp((*modes)->name, arg))
			return *modes;
		strncat(known, " ", sizeof(known) - strlen(known) - 1);
		strncat(known, (*modes)->name, sizeof(known) - strlen(known) - 1);
	}
	argp_error(state, "--%s: there is no mode '%s'; the modes are:%s", name, arg, known);
	return NULL;
}

static void option_store(struct argp_state *state, struct parse *p, const struct option_row *r,
			 char *arg)
{
	struct options *o = p->opt;
	char *to = (char *)o + r->at;
	uint64_t v;

	switch (r->kind) {
	case HEADER:
		break;
	case FLAG:
		*(bool *)to = true;
		break;
	case NUMBER:
	case SIZE:
		v = option_parse_number(state, r->name, arg, r->min, r->max, r->kind == SIZE);
		if (r->width == sizeof(v))
			*(uint64_t *)to = v;
		else
			*(unsigned int *)to = (unsigned int)v;
		break;
	case SECONDS:
		*(double *)to = option_parse_seconds(state, r->name, arg);
		break;
	case RATE:
		*(double *)to = option_parse_rate(state, r->name, arg, &o->rate_messages);
		break;
	case CPUS:
		option_parse_cpus(state, r->name, arg, &o->cpus);
		break;
	case MEMORY:
		if (str_starts(arg, "cuda:"))
			o->gpu = (int)option_parse_number(state, r->name, arg + strlen("cuda:"),
							  r->min, r->max, false);
		else if (strcmp(arg, "udmabuf") != 0)
			argp_error(state, "--memory: '%s' is not udmabuf or cuda:N", arg);
		break;
	case PORT:
		option_parse_number(state, r->name, arg, r->min, r->max, false);
		/* fall through */
	case TEXT:
		*(const char **)to = arg;
		break;
	case TX_MODE:
		p->tx = option_parse_mode(state, r->name, tx_modes, arg);
		break;
	case RX_MODE:
		p->rx = option_parse_mode(state, r->name, rx_modes, arg);
		break;
	case LISTEN:
		o->listen = true;
		o->host = arg;
		break;
	case CONNECT:
		p->peer = o->host = arg;
		break;
	}
}

static error_t options_parse_key(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	size_t i;

	if (key == ARGP_KEY_ARG)
		argp_error(
			state,
			"'%s': tcpzc takes only options (an address to listen on: --listen=ADDRESS)",
			arg);
	if (key == ARGP_KEY_END) {
		options_check(state, p);
		return 0;
	}
	for (i = 0; option_table[i].name; i++)
		if (option_table[i].kind != HEADER &&
		    key == (option_table[i].key ?: ROW_KEY + (int)i))
			break;
	if (!option_table[i].name)
		return ARGP_ERR_UNKNOWN;
	p->given[i] = true;
	option_store(state, p, &option_table[i], arg);
	return 0;
}

static void help_add_modes(struct str *s, const char *title, const struct mode *const *modes)
{
	enum { COLUMN = 19 };

	str_printf(s, "%s\n", title);
	for (; *modes; modes++) {
		const struct mode *m = *modes;
		autofree char *text =
			m->needs ? xasprintf("%s (%s)", m->what, m->needs) : xstrdup(m->what);

		args_help_line(s, COLUMN, m->name, text);
	}
	str_putc(s, '\n');
}

/* Inserts the modes before the example. */
static char *help_filter(int key, const char *text, void *input)
{
	struct str s = {0};

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	help_add_modes(&s, "Ways of sending:", tx_modes);
	help_add_modes(&s, "Ways of receiving:", rx_modes);
	str_puts(&s, text ? text : "");
	return str_take(&s);
}

static void options_complete(struct str *lines, const char *option, const char *what, char **words,
			     int n, const void *of)
{
	const struct mode *const *m = option && !strcmp(option, "tx") ? tx_modes : rx_modes;

	(void)words, (void)n, (void)of;
	for (; !strcmp(what, "MODE") && *m; m++)
		complete_add(lines, (*m)->name, (*m)->what);
}

/* Converts the table for argp. */
static void options_fill_argp(struct argp_option *to)
{
	int group = 0;

	for (size_t i = 0; option_table[i].name; i++) {
		const struct option_row *r = &option_table[i];

		if (r->kind == HEADER)
			to[i] = (struct argp_option){.doc = r->name, .group = ++group};
		else
			to[i] = (struct argp_option){
				r->name, r->key ?: ROW_KEY + (int)i,
				r->arg,	 r->kind == LISTEN ? OPTION_ARG_OPTIONAL : 0,
				r->help, 0};
	}
}

static void options_fill_defaults(struct parse *p)
{
	struct options *o = p->opt;

	const struct mode *tx = p->tx ?: tx_modes[0], *rx = p->rx ?: rx_modes[0];

	o->mode = o->listen ? rx : tx;
	o->back_mode = o->listen ? tx : rx;
	if (!o->response)
		o->response = o->size;
	o->pinned = options_given(p, "cpu");
	if (!o->threads)
		o->threads = o->pinned ? cpuset_count(&o->cpus) : 1;
	if (o->threads > o->flows)
		o->threads = o->flows;
	if (!o->listen && !o->bytes && o->seconds <= 0)
		o->seconds = 10;
}

void options_parse(struct options *opt, int argc, char **argv)
{
	static struct argp_option options[ROWS_MAX + 1];
	const struct argp argp = {.options = options,
				  .parser = options_parse_key,
				  .doc = doc,
				  .help_filter = help_filter};
	struct parse p = {.opt = opt};

	*opt = (struct options){.port = "7077",
				.size = 128 << 10,
				.queue = 1,
				.area = 64 << 20,
				.dmabuf_fd = -1,
				.gpu = -1,
				.flows = 1,
				.outstanding = 1,
				.connect_timeout = 10,
				.accept_timeout = 60,
				.peer_timeout = 20};
	options_fill_argp(options);
	argp_err_exit_status = 2;
	if (argc == 2 && !strcmp(argv[1], "--man"))
		manual_print_name("tcpzc", "move bytes over TCP, with and without copies");
	complete_run(&argp, argc, argv, options_complete, NULL);
	args_parse(&argp, argc, argv, 0, &p);
	options_fill_defaults(&p);
}
