// SPDX-License-Identifier: GPL-2.0-only
/* zcost doctor: runs the checks, prints what they found, and says whether all is there. */
#include "collect/doctor/doctor.h"

#include "lib/command.h"
#include "lib/output.h"

#include <errno.h>
#include <limits.h>

int cmd_doctor(int argc, char **argv);

/* THE TABLE of checks, in the order in which they run and are printed. */
static const struct check checks[] = {
	{"perf", "perf record, its event, the symbols and code of the kernel", true, 0,
	 doctor_check_perf},
	{"syscalls", "the ways of accounting system calls: BPF, tracepoints", true, 0,
	 doctor_check_syscalls},
	{"events", "hardware and software events that perf can count", false, 0,
	 doctor_check_events},
	{"power", "sources of power readings", false, 0, doctor_check_power},
	{"io_uring", "io_uring and its zero-copy sends", false, 0, doctor_check_io_uring},
	{"msg_zerocopy", "MSG_ZEROCOPY and TCP_ZEROCOPY_RECEIVE, with the limits of pinned memory",
	 false, 0, doctor_check_msg_zerocopy},
	{"zcrx", "zero-copy receive of io_uring", false, DOCTOR_ZCRX, doctor_check_zcrx},
	{"devmem", "devmem TCP: payload that stays in a dmabuf", false, DOCTOR_DEVMEM,
	 doctor_check_devmem},
	{"nic", "network interfaces: offloads, header split, flow steering, queues, rings", false,
	 DOCTOR_NIC, doctor_check_nic},
	{"sysctls", "limits of the kernel: buffers, backlog, mappings, pinned memory", false, 0,
	 doctor_check_sysctls},
	{"cpus", "clock rate, SMT", false, 0, doctor_check_cpus},
	{"path", "buffers and rings for the path that --rate and --rtt describe", false,
	 DOCTOR_NIC | DOCTOR_PATH, doctor_check_path},
};

static const char *const states[] = {"yes", "no", "partly", "note"};

void doctor_put(struct doctor *d, const char *what, enum state state, const char *todo,
		const char *fmt, ...)
{
	array_add(d->found, d->n, d->cap,
		  (struct finding){.of = d->running,
				   .what = xstrdup(what),
				   .why = xformat(fmt),
				   .todo = todo ? xstrdup(todo) : NULL,
				   .state = state});
}

/* --- options --- */

enum key { KEY_NEED = 1000, KEY_RATE, KEY_RTT, KEY_NIC, KEY_ZCRX, KEY_DEVMEM };

static const struct argp_option options[] = {
	{"need", KEY_NEED, "GROUP[,...]", 0,
	 "groups without which doctor fails; default: perf,syscalls", 0},
	{"nic", KEY_NIC, "IF", 0, "this interface; default: all that are up", 0},
	{"rate", KEY_RATE, "GBPS", 0, "the rate that buffers and rings should be fit for", 0},
	{"rtt", KEY_RTT, "MS", 0, "with --rate: the round-trip time", 0},
	{"zcrx", KEY_ZCRX, "IF:QUEUE", 0,
	 "register this receive queue with io_uring for a moment; the kernel cannot use the queue meanwhile",
	 0},
	{"devmem", KEY_DEVMEM, "IF:QUEUE", 0,
	 "bind a udmabuf to this receive queue for a moment; the kernel cannot use the queue meanwhile",
	 0},
	{0},
};

struct args {
	struct doctor d;
	struct output out;
	const char *need;	   /* if NULL, what `only` names, or the default */
	const char *only;	   /* checks named on the command line; NULL: all */
	unsigned int needs, shows; /* bit i: checks[i] */
};

static const char *doctor_queue_of(struct argp_state *state, const char *what, const char *arg)
{
	const char *colon = strrchr(arg, ':');

	if (!colon || colon == arg || !colon[1] ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1))
		argp_error(state, "%s: '%s' is not IF:QUEUE, such as eth0:3", what, arg);
	return arg;
}

static error_t doctor_parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->out;
		return 0;
	case KEY_NEED:
		a->need = arg;
		return 0;
	case KEY_RATE:
		a->d.rate_gbps = arg_above_0(state, "--rate", arg);
		return 0;
	case KEY_RTT:
		a->d.rtt_ms = arg_above_0(state, "--rtt", arg);
		return 0;
	case KEY_NIC:
		a->d.nic = arg;
		return 0;
	case KEY_ZCRX:
		a->d.zcrx = doctor_queue_of(state, "--zcrx", arg);
		return 0;
	case KEY_DEVMEM:
		a->d.devmem = doctor_queue_of(state, "--devmem", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			return ARGP_ERR_UNKNOWN;
		a->only = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Refuses unknown names: a typo would pass for health. */
static int doctor_read_groups(const char *text, unsigned int *bits, struct error *err)
{
	char *one;
	size_t i;

	each_part (one, text, ',') {
		one = str_trim(one);
		for (i = 0; i < array_size(checks) && strcmp(checks[i].name, one); i++)
			;
		if (i == array_size(checks))
			return error_set(err, EINVAL,
					 "no check '%s'; 'zcost doctor --help' lists them", one);
		*bits |= 1U << i;
	}
	return 0;
}

/* Refuses options that only checks outside the groups on the command line use. */
static int doctor_check_uses(const struct args *a, struct error *err)
{
	const struct {
		const char *name, *groups;
		unsigned int option;
		bool given;
	} uses[] = {
		{"--nic", "nic, path", DOCTOR_NIC, a->d.nic},
		{"--rate", "path", DOCTOR_PATH, a->d.rate_gbps},
		{"--rtt", "path", DOCTOR_PATH, a->d.rtt_ms},
		{"--zcrx", "zcrx", DOCTOR_ZCRX, a->d.zcrx},
		{"--devmem", "devmem", DOCTOR_DEVMEM, a->d.devmem},
	};
	unsigned int used = 0;

	for (size_t i = 0; i < array_size(checks); i++)
		used |= a->shows >> i & 1 ? checks[i].options : 0;
	for (size_t i = 0; a->only && i < array_size(uses); i++)
		if (uses[i].given && !(used & uses[i].option))
			return error_set(err, EINVAL, "%s does not apply to '%s'; it applies to %s",
					 uses[i].name, a->only, uses[i].groups);
	for (size_t i = 0; i < array_size(checks); i++)
		if (a->needs >> i & 1 && checks[i].options & DOCTOR_PATH &&
		    (!a->d.rate_gbps || !a->d.rtt_ms))
			return error_set(err, EINVAL, "%s: this group needs --rate and --rtt",
					 checks[i].name);
	return 0;
}

/* --- for people --- */

/* A finding is a line with its reason. The way out is below. Both are wrapped. */

enum { NAME = 20, INDENT = 30 };

struct page {
	FILE *out;
	int width; /* 0 is as many characters as it takes */
};

/* Prints `text` behind `lead`, and wraps it at an indent of `margin`. */
static void page_print_wrapped(const struct page *p, const char *text, int margin)
{
	int room = p->width > margin ? p->width - margin : 1;
	autofree char *lines = str_wrap(text, p->width ? room : INT_MAX, margin);

	fprintf(p->out, "%s\n", lines);
}

static void page_print_finding(const struct page *p, const struct finding *f)
{
	bool is_long = strlen(f->what) > NAME;

	if (is_long) /* such a name has its own line */
		fprintf(p->out, "  %s\n", f->what);
	fprintf(p->out, "  %-*s %-7s", NAME, is_long ? "" : f->what, states[f->state]);
	page_print_wrapped(p, f->why, INDENT);
	if (f->todo) {
		fprintf(p->out, "%*s-> ", INDENT, "");
		page_print_wrapped(p, f->todo, INDENT + 3);
	}
}

static int doctor_print_people(const struct args *a, const struct table *t, struct error *err)
{
	struct sink out;
	freed(table_note_texts_free) char **notes = table_note_texts(t);
	int rc = sink_open(&out, a->out.path, err);

	if (!rc) {
		struct page p = {.out = out.f, .width = a->out.width};

		if (!a->out.width_given)
			p.width = output_terminal_width(out.fd);
		for (size_t i = 0; i < a->d.n; i++) {
			if (!i || a->d.found[i].of != a->d.found[i - 1].of)
				fprintf(p.out, "%s%s\n", i ? "\n" : "", a->d.found[i].of->name);
			page_print_finding(&p, &a->d.found[i]);
		}
		fputs(notes[0] ? "\n" : "", p.out);
		for (size_t i = 0; notes[i]; i++)
			page_print_wrapped(&p, notes[i], 0);
		rc = sink_close(&out, 0, err);
	}
	return rc;
}

static const struct column columns[] = {
	{"group", .type = V_STR, .what = "what it is about"},
	{"check", .type = V_STR},
	{"state", .type = V_STR, .what = "yes, no, partly, or note: a fact"},
	{"why", .type = V_STR, .what = "what was found, or why not"},
	{"todo", .type = V_STR, .what = "what to do about it"},
};

static void doctor_fill_table(struct table *t, const struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct finding *f = &d->found[i];
		struct value *row = table_row(t);

		row[0] = value_str(t, f->of->name);
		row[1] = value_str(t, f->what);
		row[2] = value_str(t, states[f->state]);
		row[3] = value_str(t, f->why);
		row[4] = value_str(t, f->todo);
	}
}

/* --- the verdict --- */

static const struct note_kind note_missing = {"doctor_missing", SEVERITY_RESULT, NULL,
					      "needed and missing: %s"},
			      note_complete = {"doctor_complete", SEVERITY_RESULT, NULL,
					       "nothing needed is missing (%s%-s)"};

/* An interface or a queue that the user named is always needed. */
static bool doctor_is_needed(const struct args *a, const struct finding *f)
{
	const struct doctor *d = &a->d;
	const char *zcrx = f->of->options & DOCTOR_ZCRX ? d->zcrx : NULL;
	const char *devmem = f->of->options & DOCTOR_DEVMEM ? d->devmem : NULL;
	size_t i = 0;

	while (&checks[i] != f->of)
		i++;
	return a->needs >> i & 1 || (zcrx && !strcmp(f->what, zcrx)) ||
	       (devmem && !strcmp(f->what, devmem)) ||
	       (d->nic && f->of->options & DOCTOR_NIC && !strcmp(f->what, "interfaces"));
}

/* Adds what is needed and missing, or that nothing is. Returns whether something is missing. */
static bool doctor_judge(const struct args *a, const char *needed, struct notes *notes)
{
	freed(str_free) struct str missing = {0};
	bool any;

	for (size_t i = 0; i < a->d.n; i++) {
		const struct finding *f = &a->d.found[i];

		if (f->state == STATE_NO && doctor_is_needed(a, f))
			str_printf(&missing, "%s%s/%s", missing.len ? ", " : "", f->of->name,
				   f->what);
	}
	any = missing.len;
	if (any)
		notes_add(notes, &note_missing, missing.buf);
	else
		notes_add(notes, &note_complete, needed,
			  a->need || a->only ? "" : "; --need changes the list");
	return any;
}

/* --- the command --- */

/* Returns what is needed: --need, or the groups on the command line, or the default. */
static char *doctor_needed(const struct args *a)
{
	struct str names = {0};

	if (a->need || a->only)
		return xstrdup(a->need ? a->need : a->only);
	for (size_t i = 0; i < array_size(checks); i++)
		if (checks[i].needed)
			str_printf(&names, "%s%s", names.len ? "," : "", checks[i].name);
	return str_take(&names);
}

/* Returns an exit code. */
static int doctor_run(struct args *a, const char *needed, struct table *t)
{
	struct error err = {0};
	bool missing;

	if ((a->only && doctor_read_groups(a->only, &a->shows, &err)) ||
	    doctor_read_groups(needed, &a->needs, &err) || doctor_check_uses(a, &err)) {
		error_print(&err);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < array_size(checks); i++) {
		a->d.running = &checks[i];
		if (!a->only || (a->shows | (a->need ? a->needs : 0)) >> i & 1)
			checks[i].run(&a->d);
	}
	doctor_fill_table(t, &a->d);
	missing = doctor_judge(a, needed, &t->notes);
	if (a->out.format == FORMAT_TEXT)
		doctor_print_people(a, t, &err);
	else
		output_table(&a->out, t, &err);
	if (err.code)
		error_print(&err);
	return err.code || missing ? EXIT_FAILED : EXIT_OK;
}

/* Lists the groups of checks behind the options. The caller frees the text. */
static char *doctor_help(int key, const char *text, void *input)
{
	struct str s = {0};

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	str_puts(&s, "Groups of checks, all by default:\n");
	for (size_t i = 0; i < array_size(checks); i++)
		args_help_line(&s, 17, checks[i].name, checks[i].what);
	str_printf(&s, "\n%s", text);
	return str_take(&s);
}

static void doctor_complete(struct str *lines, const char *option, const char *what, char **words,
			    int n, const void *of)
{
	(void)option, (void)words, (void)n, (void)of;
	for (size_t i = 0; str_starts(what, "GROUP") && i < array_size(checks); i++)
		complete_add(lines, checks[i].name, checks[i].what);
}

int cmd_doctor(int argc, char **argv)
{
	const struct argp_child children[] = {{&output_argp, 0, "Output:", 2}, {0}};
	const struct argp argp = {
		.options = options,
		.parser = doctor_parse,
		.args_doc = "[GROUP[,...]]",
		.doc = "Shows what this host can measure and run, and how to make the rest work."
		       "\vIf groups are named, doctor checks only these and those of --need, and all of them are needed unless --need is given. A named IF or QUEUE is always needed. Only --zcrx and --devmem change anything, for a moment.\n\n"
		       "Exit status: 0 everything needed works, 1 something needed is missing, 2 wrong usage.",
		.children = children,
		.help_filter = doctor_help};
	struct args a = {0};
	autofree char *needed = NULL;
	freed(table_free) struct table t;
	int rc;

	complete_run(&argp, argc, argv, doctor_complete, NULL);
	args_parse(&argp, argc, argv, 0, &a);
	table_init(&t, "doctor", columns, array_size(columns));
	needed = doctor_needed(&a);
	rc = doctor_run(&a, needed, &t);
	array_free(e, a.d.found, a.d.n, free(e->what), free(e->why), free(e->todo));
	return rc;
}
