// SPDX-License-Identifier: GPL-2.0-only
/* zcost doctor: runs the checks and prints what they found. */
#include "collect/doctor/doctor.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/complete.h"
#include "lib/output.h"
#include "lib/str.h"
#include "lib/table_layout.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cmd_doctor(int argc, char **argv);

enum key { KEY_NEED = 1000, KEY_RATE, KEY_RTT, KEY_NIC, KEY_ZCRX, KEY_DEVMEM };

static const struct argp_option options[] = {
	{"need", KEY_NEED, "GROUP[,...]", 0,
	 "checks that must not be 'no', as group or group/check; default: perf,syscalls", 0},
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
	const char *need; /* NULL: the default */
	const char *only; /* checks named on the command line */
};

static void doctor_queue_of(struct argp_state *state, const char *what, const char *arg)
{
	const char *colon = strrchr(arg, ':');

	if (!colon || colon == arg || !colon[1] ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1))
		argp_error(state, "%s: '%s' is not IF:QUEUE, such as eth0:3", what, arg);
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
		doctor_queue_of(state, "--zcrx", arg);
		a->d.zcrx = arg;
		return 0;
	case KEY_DEVMEM:
		doctor_queue_of(state, "--devmem", arg);
		a->d.devmem = arg;
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

static bool doctor_lists(const char *list, const char *group, const char *check)
{
	char *copy = xstrdup(list), *rest = copy, *one;
	bool found = false;

	while (!found && (one = str_token(&rest, ','))) {
		char *slash = strchr(one, '/');

		if (slash)
			*slash++ = '\0';
		found = !strcmp(str_trim(one), group) &&
			(!slash || !check || !strcmp(slash, check));
	}
	free(copy);
	return found;
}

/* Returns the check of that name, or NULL. */
static const struct check *doctor_find_check(const char *name)
{
	size_t i;

	for (i = 0; checks[i] && strcmp(checks[i]->name, name); i++)
		;
	return checks[i];
}

/* Returns the names of the checks that are needed by default. The caller frees the list. */
static char *doctor_needed_names(void)
{
	struct str names = {0};
	size_t i;

	for (i = 0; checks[i]; i++)
		if (checks[i]->needed)
			str_printf(&names, "%s%s", names.len ? "," : "", checks[i]->name);
	return str_take(&names);
}

/* Refuses unknown names: a typo would pass for health. */
static int doctor_check_list(const char *list, struct error *err)
{
	char *copy = xstrdup(list), *rest = copy, *one;
	int rc = 0;

	while (!rc && (one = str_token(&rest, ','))) {
		one[strcspn(one, "/")] = '\0';
		one = str_trim(one);
		if (!doctor_find_check(one))
			rc = error_set(err, EINVAL,
				       "no check '%s'; 'zcost doctor --help' lists them", one);
	}
	free(copy);
	return rc;
}

static bool doctor_has_finding(const struct table *t, const char *group, const char *check)
{
	size_t i;

	for (i = 0; i < t->rows; i++)
		if (!strcmp(table_cell(t, i, 0)->str, group) &&
		    (!check || !strcmp(table_cell(t, i, 1)->str, check)))
			return true;
	return false;
}

static int doctor_no_finding(const struct table *t, const char *group, const char *check,
			     struct error *err)
{
	struct str names = {0};
	size_t i;

	for (i = 0; i < t->rows; i++)
		if (!strcmp(table_cell(t, i, 0)->str, group))
			str_printf(&names, "%s%s", names.len ? ", " : "", table_cell(t, i, 1)->str);
	error_set(err, EINVAL, "--need %s/%s: no such check on this host; the group %s has: %s",
		  group, check, group, names.len ? names.buf : "none");
	str_free(&names);
	return -EINVAL;
}

/* Refuses a --need that no finding answers: it could never fail. */
static int doctor_check_needs(const struct args *a, struct error *err)
{
	char *copy = xstrdup(a->need), *rest = copy, *one;
	int rc = 0;

	while (!rc && (one = str_token(&rest, ','))) {
		char *slash = strchr(one, '/');

		if (slash)
			*slash++ = '\0';
		one = str_trim(one);
		if ((doctor_find_check(one)->options & DOCTOR_RTT) &&
		    (!a->d.rate_gbps || !a->d.rtt_ms))
			rc = error_set(err, EINVAL, "--need %s: this group needs --rate and --rtt",
				       one);
		else if (slash && !doctor_has_finding(&a->d.table, one, slash))
			rc = doctor_no_finding(&a->d.table, one, slash, err);
	}
	free(copy);
	return rc;
}

/* Adds the checks that use the option. Returns true when the LIST of the command line has one. */
static bool doctor_option_is_used(const struct args *a, unsigned int option, struct str *names)
{
	bool used = false;
	size_t i;

	for (i = 0; checks[i]; i++) {
		if (!(checks[i]->options & option))
			continue;
		used |= doctor_lists(a->only, checks[i]->name, NULL);
		str_printf(names, "%s%s", names->len ? ", " : "", checks[i]->name);
	}
	return used;
}

/* Refuses options that only checks outside the LIST use. */
static int doctor_check_uses(const struct args *a, struct error *err)
{
	const struct {
		const char *name;
		unsigned int option;
		bool given;
	} uses[] = {
		{"--nic", DOCTOR_NIC, a->d.nic},	  {"--rate", DOCTOR_RATE, a->d.rate_gbps},
		{"--rtt", DOCTOR_RTT, a->d.rtt_ms},	  {"--zcrx", DOCTOR_ZCRX, a->d.zcrx},
		{"--devmem", DOCTOR_DEVMEM, a->d.devmem},
	};
	size_t i;
	int rc = 0;

	for (i = 0; a->only && i < array_size(uses) && !rc; i++) {
		struct str names = {0};

		if (!doctor_option_is_used(a, uses[i].option, &names) && uses[i].given)
			rc = error_set(err, EINVAL, "%s does not apply to '%s'; it applies to %s",
				       uses[i].name, a->only, names.buf);
		str_free(&names);
	}
	return rc;
}

/*
 * --- for people: a finding is a line, its reason beside it and the way out below, wrapped; both
 * are below where there is little room ---
 */

enum { NAME = 20, INDENT = 30, INDENT_NARROW = 4, NARROW = 70 };

struct page {
	FILE *out;
	int width; /* 0: as many characters as it takes */
	int indent;
};

static struct page doctor_page_of(const struct sink *out, const struct output *o)
{
	struct page p = {.out = out->f};

	p.width = o->width_given ? o->width : output_terminal_width(out->fd);
	p.indent = p.width && p.width < NARROW ? INDENT_NARROW : INDENT;
	return p;
}

/* Prints `text` behind `lead`, and wraps it with the same indent. */
static void doctor_print_wrapped(const struct page *p, const char *text, const char *lead)
{
	int margin = p->indent + (int)strlen(lead);
	const char *line;
	bool first = true;
	size_t len;

	fputs(lead, p->out);
	while ((line = str_line(&text, p->width ? p->width - margin : INT_MAX, &len))) {
		if (!first)
			fprintf(p->out, "\n%*s", margin, "");
		fprintf(p->out, "%.*s", (int)len, line);
		first = false;
	}
	fputc('\n', p->out);
}

/* Prints name and state. A name that is too long for its column has its own line. */
static void doctor_put_check(const struct page *p, const char *name, const char *state)
{
	bool is_long = strlen(name) > NAME;

	if (p->indent == INDENT_NARROW) {
		fprintf(p->out, "  %s: %s\n%*s", name, state, INDENT_NARROW, "");
		return;
	}
	if (is_long)
		fprintf(p->out, "  %s\n", name);
	fprintf(p->out, "  %-*s %-7s", NAME, is_long ? "" : name, state);
}

static const struct note_kind note_unchecked = {"doctor_unchecked", SEVERITY_RESULT, NULL,
						"%s: nothing was checked; see above"},
			      note_missing = {"doctor_missing", SEVERITY_RESULT, NULL,
					      "needed and missing: %s"},
			      note_complete = {"doctor_complete", SEVERITY_RESULT, NULL,
					       "nothing needed is missing (%s)"};

static void doctor_print_people(const struct table *t, const struct page *p)
{
	const struct page below = {.out = p->out, .width = p->width};
	FILE *out = p->out;
	const char *group = "";
	char **notes = table_note_texts(t);
	size_t i;

	for (i = 0; i < t->rows; i++) {
		const char *g = table_cell(t, i, 0)->str;
		const struct value *todo = table_cell(t, i, 4);

		if (strcmp(g, group))
			fprintf(out, "%s%s\n", i ? "\n" : "", g);
		group = g;
		doctor_put_check(p, table_cell(t, i, 1)->str, table_cell(t, i, 2)->str);
		doctor_print_wrapped(p, table_cell(t, i, 3)->str, "");
		if (todo->type == V_STR) {
			fprintf(out, "%*s", p->indent, "");
			doctor_print_wrapped(p, todo->str, "-> ");
		}
	}
	for (i = 0; notes[i]; i++) {
		fputs(i ? "" : "\n", out);
		doctor_print_wrapped(&below, notes[i], "");
	}
	table_note_texts_free(notes);
}

static int doctor_print(struct args *a, struct error *err)
{
	struct sink out;
	struct page page;
	int rc;

	if (a->out.format != FORMAT_TEXT)
		return output_table(&a->out, &a->d.table, err);
	rc = sink_open(&out, a->out.path, err);
	if (rc)
		return rc;
	page = doctor_page_of(&out, &a->out);
	doctor_print_people(&a->d.table, &page);
	return sink_close(&out, 0, err);
}

/* --- the verdict --- */

/* Says whether the group is needed, or, where `check` is given, that finding of it. */
static bool doctor_is_in_need(const struct args *a, const char *group, const char *check)
{
	if (a->need)
		return doctor_lists(a->need, group, check);
	return a->only || doctor_find_check(group)->needed;
}

/* An interface or a queue that the user named is always needed. */
static bool doctor_is_needed(const struct args *a, const char *group, const char *check)
{
	unsigned int options = doctor_find_check(group)->options;

	if (a->d.nic && (options & DOCTOR_NIC) && !strcmp(check, "interfaces"))
		return true;
	if ((a->d.zcrx && (options & DOCTOR_ZCRX) && !strcmp(check, a->d.zcrx)) ||
	    (a->d.devmem && (options & DOCTOR_DEVMEM) && !strcmp(check, a->d.devmem)))
		return true;
	return doctor_is_in_need(a, group, check);
}

/*
 * Notes the needed groups with facts only, such as "path" without a rate: nothing was checked
 * there.
 */
static void doctor_set_unknown(const struct args *a, struct table *t)
{
	const char *group = "";
	size_t i, k;

	for (i = 0; i < t->rows; i++) {
		const char *g = table_cell(t, i, 0)->str;
		bool facts = true;

		if (!strcmp(g, group))
			continue;
		group = g;
		for (k = i; k < t->rows && !strcmp(table_cell(t, k, 0)->str, g); k++)
			facts &= !strcmp(table_cell(t, k, 2)->str, "note");
		if (facts && doctor_is_in_need(a, g, NULL))
			notes_add(&t->notes, &note_unchecked, g);
	}
}

static int doctor_missing(struct args *a)
{
	struct table *t = &a->d.table;
	char *defaults = doctor_needed_names();
	char *needed = xasprintf("%s; --need changes the list", defaults);
	struct str names = {0};
	size_t i;
	int n = 0;

	for (i = 0; i < t->rows; i++) {
		const char *group = table_cell(t, i, 0)->str, *check = table_cell(t, i, 1)->str;

		if (strcmp(table_cell(t, i, 2)->str, "no") || !doctor_is_needed(a, group, check))
			continue;
		str_printf(&names, "%s%s/%s", n++ ? ", " : "", group, check);
	}
	doctor_set_unknown(a, t);
	if (n)
		notes_add(&t->notes, &note_missing, names.buf);
	else if (!t->notes.n)
		notes_add(&t->notes, &note_complete,
			  a->need   ? a->need
			  : a->only ? a->only
				    : needed);
	free(needed);
	free(defaults);
	str_free(&names);
	return n;
}

static void doctor_examine(struct args *a)
{
	size_t i;

	table_init(&a->d.table, "doctor", doctor_columns, 5);
	for (i = 0; checks[i]; i++) {
		if (a->only && !doctor_lists(a->only, checks[i]->name, NULL) &&
		    !(a->need && doctor_lists(a->need, checks[i]->name, NULL)))
			continue;
		a->d.group = checks[i]->name;
		checks[i]->run(&a->d);
	}
}

/* Lists the groups of checks behind the options. The caller frees the text. */
static char *doctor_help(int key, const char *text, void *input)
{
	struct str s = {0};
	size_t i;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	str_puts(&s, "Groups of checks, all by default:\n");
	for (i = 0; checks[i]; i++)
		args_help_line(&s, 17, checks[i]->name, checks[i]->what);
	str_printf(&s, "\n%s", text);
	return str_take(&s);
}

static void doctor_complete(struct str *lines, const char *option, const char *what, char **words,
			    int n, const void *of)
{
	size_t i;

	(void)option, (void)words, (void)n, (void)of;
	for (i = 0; str_starts(what, "GROUP") && checks[i]; i++)
		complete_add(lines, checks[i]->name, checks[i]->what);
}

/* Returns an exit code. */
static int doctor_run(struct args *a)
{
	struct error err = {0};
	int n;

	if ((a->only && doctor_check_list(a->only, &err)) ||
	    (a->need && doctor_check_list(a->need, &err)) || doctor_check_uses(a, &err)) {
		error_print(&err);
		return EXIT_USAGE;
	}
	doctor_examine(a);
	if (a->need && doctor_check_needs(a, &err)) {
		error_print(&err);
		return EXIT_USAGE;
	}
	n = doctor_missing(a);
	if (!doctor_print(a, &err))
		return n ? EXIT_FAILED : EXIT_OK;
	error_print(&err);
	return EXIT_FAILED;
}

int cmd_doctor(int argc, char **argv)
{
	const struct argp_child children[] = {{&output_argp, 0, "Output:", 2}, {0}};
	const struct argp argp = {
		.options = options,
		.parser = doctor_parse,
		.args_doc = "[GROUP[,...]]",
		.doc = "Shows what this host can measure and run, and how to make the rest work."
		       "\vIf groups are named, doctor checks only these and those of --need, and all of their checks are needed unless --need is given. A named IF or QUEUE is always needed. Only --zcrx and --devmem change anything, for a moment.\n\n"
		       "Exit status: 0 everything needed works, 1 something needed is missing, 2 wrong usage.",
		.children = children,
		.help_filter = doctor_help};
	struct args a = {0};
	int rc;

	complete_run(&argp, argc, argv, doctor_complete, NULL);
	args_parse(&argp, argc, argv, 0, &a);
	rc = doctor_run(&a);
	table_free(&a.d.table);
	return rc;
}
