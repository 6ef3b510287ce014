// SPDX-License-Identifier: GPL-2.0-only
/* The command line: it reads the options, checks them together, and prints the help. */
#include "option_table.h"

#include "lib/command.h"
#include "lib/complete.h"
#include "lib/manual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_KEY = 256, UDP_SIZE = 1400, UDP_MAX = 65507 };

const char *argp_program_version = "tcpzc " ZCOST_VERSION;

static const char doc[] =
	"Moves bytes over TCP connections with one way of sending and one of receiving, and reports how many bytes were copied, mapped or sent without a copy. "
	"Prints JSON lines: a point every 100 ms, then a summary. "
	"Sizes take k, M and G (powers of 1024)."
	"\vExample: tcpzc --listen --rx mmap & tcpzc --connect ::1 --tx sendfile --seconds 3";

struct parse {
	struct options *opt;
	const struct mode *tx, *rx;
	const char *peer;
	bool given[ROWS_MAX];
};

static bool options_given(const struct parse *p, const char *name)
{
	size_t i;

	for (i = 0; option_table[i].name; i++)
		if (!strcmp(option_table[i].name, name))
			return p->given[i];
	abort();
}

static void options_check_udp(struct argp_state *state, const struct parse *p)
{
	const struct mode *m = p->opt->listen ? p->rx : p->tx;
	const struct options *o = p->opt;

	if (!o->udp)
		return;
	if (o->rr || o->verify || o->flows > 1)
		argp_error(state, "--udp does not go together with --rr, --verify or --flows");
	if (m && !(m->flags & MODE_UDP))
		argp_error(state, "--udp: '%s' does not take datagrams", m->name);
	if (options_given(p, "mss"))
		argp_error(state, "--mss belongs to TCP");
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

static void options_check_rings(struct argp_state *state, const struct parse *p)
{
	bool ring = (p->tx && p->tx->flags & MODE_RING) || (p->rx && p->rx->flags & MODE_RING);
	/* The requests of a batch and one to cancel them: the kernel wants no fewer completions. */
	unsigned int least = p->opt->batch + 1;

	if (p->opt->no_iowait && !ring)
		argp_error(state, "--no-iowait belongs to a mode of io_uring");
	if (p->opt->cq_entries && !ring)
		argp_error(state, "--cq-entries belongs to a mode of io_uring");
	if (p->opt->cq_entries && p->tx && p->tx->flags & MODE_RING && least > p->opt->cq_entries)
		argp_error(state, "--cq-entries %u: --tx %s with --batch %u takes at least %u",
			   p->opt->cq_entries, p->tx->name, p->opt->batch, least);
}

static bool mode_has_option(const struct mode *m, const char *option)
{
	size_t i;

	for (i = 0; m && i < MODE_OPTIONS && m->options[i]; i++)
		if (!strcmp(m->options[i], option))
			return true;
	return false;
}

static const struct mode *const *const tables[] = {rx_modes, tx_modes};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

/* Writes the names of the modes that take the option, such as "zcrx, devmem". Returns their number.
 */
static int modes_with_option(const char *option, char *names, size_t size)
{
	const struct mode *const *m;
	size_t len = 0, i;
	int n = 0;

	for (i = 0; i < TABLES; i++)
		for (m = tables[i]; *m && len < size; m++) {
			if (!mode_has_option(*m, option) ||
			    (i && mode_has_option(mode_find(tables[0], (*m)->name), option)))
				continue;
			len += (size_t)snprintf(names + len, size - len, "%s%s", n++ ? ", " : "",
						(*m)->name);
		}
	return n;
}

/* Aborts when a mode names an option that does not exist. */
static void options_check_mode_names(const struct parse *p)
{
	const struct mode *const *m;
	size_t i, k;

	for (i = 0; i < TABLES; i++)
		for (m = tables[i]; *m; m++)
			for (k = 0; k < MODE_OPTIONS && (*m)->options[k]; k++)
				options_given(p, (*m)->options[k]);
}

/* Checks options that only some modes take. options_check_rings has those of io_uring. */
static void options_check_modes(struct argp_state *state, const struct parse *p)
{
	char names[256];
	size_t i;
	int n;

	options_check_mode_names(p);
	for (i = 0; option_table[i].name; i++) {
		const char *name = option_table[i].name;

		if (!p->given[i] || mode_has_option(p->tx, name) || mode_has_option(p->rx, name))
			continue;
		n = modes_with_option(name, names, sizeof(names));
		if (n)
			argp_error(state, "--%s belongs to the mode%s %s", name, n > 1 ? "s" : "",
				   names);
	}
}

static void options_check_nic(struct argp_state *state, const struct parse *p)
{
	const struct options *o = p->opt;
	bool rx = p->rx && p->rx->flags & MODE_NIC && !o->no_device;
	bool tx = p->tx && p->tx->flags & MODE_NIC;

	if (o->no_device && o->nic)
		argp_error(state, "either --nic or --no-device");
	if ((rx || tx) && !o->nic && !o->print_setup)
		argp_error(state, "--%s %s: which interface? --nic IF", rx ? "rx" : "tx",
			   (rx ? p->rx : p->tx)->name);
}

/* Checks the combination of all options. */
static void options_check(struct argp_state *state, const struct parse *p)
{
	const struct options *o = p->opt;
	size_t i;

	if (o->listen == !!p->peer)
		argp_error(state, "either --listen or --connect HOST");
	if (o->listen && p->tx && !o->rr)
		argp_error(state, "--tx belongs to --connect: the listening side receives");
	if (!o->listen && p->rx && !o->rr)
		argp_error(state, "--rx belongs to --listen: the connecting side sends");
	options_check_rr(state, p);
	options_check_udp(state, p);
	options_check_rings(state, p);
	for (i = 0; option_table[i].name; i++)
		if (p->given[i] && option_table[i].whose == (o->listen ? SENDER : RECEIVER))
			argp_error(state, "--%s belongs to the %s", option_table[i].name,
				   o->listen ? "sender" : "receiver");
	options_check_modes(state, p);
	options_check_nic(state, p);
	if (options_given(p, "corrupt-at") && !o->verify)
		argp_error(state, "--corrupt-at belongs to a sender with --verify");
	if (options_given(p, "corrupt-at") && o->bytes && o->corrupt_at >= o->bytes)
		argp_error(state, "--corrupt-at is not below --bytes: no byte would be changed");
	if (o->threads > o->flows)
		argp_error(state, "--threads %u: there are only %u --flows", o->threads, o->flows);
	if (o->listen && o->verify && p->rx && p->rx->flags & MODE_NO_DATA)
		argp_error(state, "--rx %s never sees the data: there is nothing to --verify",
			   p->rx->name);
}

static void option_put_number(struct options *o, const struct option_row *r, uint64_t v)
{
	char *to = (char *)o + r->at;

	if (r->width == sizeof(uint64_t))
		*(uint64_t *)to = v;
	else
		*(unsigned int *)to = (unsigned int)v;
}

static void option_store(struct argp_state *state, struct parse *p, const struct option_row *r,
			 char *arg)
{
	struct options *o = p->opt;
	char *to = (char *)o + r->at;

	switch (r->kind) {
	case HEADER:
		break;
	case FLAG:
		if (r->width == sizeof(bool))
			*(bool *)to = true;
		else
			option_put_number(o, r, 1);
		break;
	case NUMBER:
	case SIZE:
		option_put_number(
			o, r,
			option_parse_number(state, r->name, arg, r->min, r->max, r->kind == SIZE));
		break;
	case SECONDS:
		*(double *)to = option_parse_seconds(state, r->name, arg);
		break;
	case RATE:
		*(double *)to = option_parse_rate(
			state, r->name, arg, strcmp(r->name, "rate") ? NULL : &o->rate_messages);
		break;
	case CPUS:
		option_parse_cpus(state, r->name, arg, (cpu_set_t *)to);
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

static void help_print_modes(FILE *out, const char *title, const struct mode *const *modes)
{
	enum { COLUMN = 19 };
	char text[256];

	fprintf(out, "%s\n", title);
	for (; *modes; modes++) {
		const struct mode *m = *modes;
		struct str line = {0};

		snprintf(text, sizeof(text), "%s%s%s%s", m->what, m->needs ? " (" : "",
			 m->needs ? m->needs : "", m->needs ? ")" : "");
		args_help_line(&line, COLUMN, m->name, text);
		fputs(line.buf, out);
		str_free(&line);
	}
	fprintf(out, "\n");
}

/* Inserts the modes before the example. */
static char *help_filter(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t n;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC || !(out = open_memstream(&list, &n)))
		return (char *)text;
	help_print_modes(out, "Ways of sending:", tx_modes);
	help_print_modes(out, "Ways of receiving:", rx_modes);
	fprintf(out, "%s", text ? text : "");
	fclose(out);
	return list;
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
	size_t i;

	for (i = 0; option_table[i].name; i++) {
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
	o->corrupt = options_given(p, "corrupt-at");
	if (!o->threads)
		o->threads = o->pinned ? (unsigned int)CPU_COUNT(&o->cpus) : 1;
	if (o->threads > o->flows)
		o->threads = o->flows;
	o->window &= ~(size_t)0xffff;
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
				.window = 2 << 20,
				.queue = 1,
				.area = 64 << 20,
				.dmabuf_fd = -1,
				.dontneed_batch = 512,
				.batch = 8,
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
