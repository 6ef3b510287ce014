// SPDX-License-Identifier: GPL-2.0-only
#include "lib/command.h"

#include "lib/complete.h"
#include "lib/error.h"
#include "lib/manual.h"
#include "lib/alloc.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_WIDTH = 79 }; /* the width that argp uses without ARGP_HELP_FMT */

/* Returns NAN if the text is not a finite number. */
static double arg_parse_number(const char *arg)
{
	char *end;
	double x = strtod(arg, &end);

	return end == arg || *end || !isfinite(x) ? NAN : x;
}

double arg_above_0(const struct argp_state *state, const char *option, const char *arg)
{
	double x = arg_parse_number(arg);

	if (!(x > 0))
		argp_error(state, "%s '%s' is not a number above 0", option, arg);
	return x;
}

double arg_from_0(const struct argp_state *state, const char *option, const char *arg)
{
	double x = arg_parse_number(arg);

	if (!(x >= 0))
		argp_error(state, "%s '%s' is not a number of at least 0", option, arg);
	return x;
}

long arg_whole(const struct argp_state *state, const char *option, const char *arg, long least,
	       long most)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(arg, &end, 10);
	if (end == arg || *end || errno || n < least || n > most)
		argp_error(state, "%s '%s' is not a whole number from %ld to %ld", option, arg,
			   least, most);
	return n;
}

void arg_error(const struct argp_state *state, const char *fmt, ...)
{
	char *prefix = xasprintf("%s: ", state->name);
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = vasprintf(&text, fmt, ap) < 0 ? NULL : text;
	va_end(ap);
	message_print(prefix, text ? text : fmt);
	free(text);
	free(prefix);
	argp_state_help(state, stderr, ARGP_HELP_STD_ERR);
	exit(argp_err_exit_status); /* not reached: no command sets ARGP_NO_EXIT */
}

static error_t help_parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	return 0;
}

/* argp has -? only. */
static const struct argp_option help_options[] = {{.key = 'h', .flags = OPTION_HIDDEN}, {0}};
static const struct argp help_argp = {.options = help_options, .parser = help_parse};

/* --- unknown options --- */

/* Options that argp itself has. The first is there for a program with a version. */
static const struct argp_option argp_own[] = {{.name = "version", .key = 'V'},
					      {.name = "help", .key = '?'},
					      {.name = "usage", .key = UCHAR_MAX + 1},
					      {0}};

/* An option as it is typed: --na, which may be short for --name, or -k. */
struct typed_option {
	const char *name; /* NULL for -k */
	size_t len;
	int key;
};

static const struct argp_option *option_find_in(const struct argp_option *o,
						const struct typed_option *t, bool exact)
{
	for (; o && (o->name || o->key || o->doc); o++)
		if (t->name ? o->name && !strncmp(o->name, t->name, t->len) &&
				      (!exact || !o->name[t->len])
			    : o->key == t->key)
			return o;
	return NULL;
}

static const struct argp_option *option_find(const struct argp *argp, const struct typed_option *t,
					     bool exact)
{
	const struct argp_option *found = option_find_in(argp->options, t, exact);
	const struct argp_child *child;

	for (child = argp->children; !found && child && child->argp; child++)
		found = option_find(child->argp, t, exact);
	return found;
}

static void option_add_names(struct str *names, const struct argp *argp)
{
	const struct argp_option *o;
	const struct argp_child *child;

	for (o = argp->options; o && (o->name || o->key || o->doc); o++)
		if (o->name && !(o->flags & OPTION_HIDDEN))
			str_printf(names, "--%s ", o->name);
	for (child = argp->children; child && child->argp; child++)
		option_add_names(names, child->argp);
}

static void option_refuse(const struct argp *argp, const char *program,
			  const struct typed_option *t)
{
	char *word = t->name ? xasprintf("--%.*s", (int)t->len, t->name) : xasprintf("-%c", t->key);
	char *prefix = xasprintf("%s: ", program), *text;
	struct str names = {0};

	option_add_names(&names, argp);
	text = xasprintf("no option '%s'; %s'%s --help' lists them", word,
			 t->name ? did_you_mean(names.buf, word) : "", program);
	message_print(prefix, text);
	exit(argp_err_exit_status);
}

/* Returns the option, or ends the command with the nearest name. */
static const struct argp_option *option_get(const struct argp *argp, const char *program,
					    const struct typed_option *t)
{
	const struct argp_option *own = argp_own + !argp_program_version;
	const struct argp_option *o = option_find(argp, t, true);

	o = o ?: option_find_in(own, t, true);
	o = o ?: option_find(argp, t, false);
	o = o ?: option_find_in(own, t, false);
	if (!o)
		option_refuse(argp, program, t);
	return o;
}

static bool option_takes_word(const struct argp_option *o)
{
	return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

/* Returns how many words an option and its argument are. */
static int option_check(const struct argp *argp, const char *program, const char *word)
{
	const struct argp_option *o;
	const char *p;

	if (word[1] == '-') {
		struct typed_option t = {.name = word + 2, .len = strcspn(word + 2, "=")};

		o = option_get(argp, program, &t);
		return option_takes_word(o) && !t.name[t.len] ? 2 : 1;
	}
	for (p = word + 1; *p; p++) {
		o = option_get(argp, program, &(struct typed_option){.key = (unsigned char)*p});
		if (o->arg)
			return option_takes_word(o) && !p[1] ? 2 : 1;
	}
	return 1;
}

/* Ends the command at an unknown option with one line. getopt would print two, without a proposal.
 */
static void options_check(const struct argp *argp, int argc, char **argv, unsigned flags)
{
	bool in_order = flags & ARGP_IN_ORDER || getenv("POSIXLY_CORRECT");
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0) {
		bool is_option = *argv[i] == '-' && argv[i][1];

		if (!is_option && in_order)
			return;
		i += is_option ? option_check(argp, argv[0], argv[i]) : 1;
	}
}

void args_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	struct argp with_help = *argp;
	struct argp_child *children;
	size_t n = 0;
	error_t code;

	complete_run(argp, argc, argv, NULL, NULL);
	if (argc == 2 && !strcmp(argv[1], "--man")) {
		manual_print(argp, argv[0], input);
		exit(fflush(stdout) ? EXIT_FAILED : EXIT_OK);
	}
	while (argp->children && argp->children[n].argp)
		n++;
	children = xcalloc(n + 2, sizeof(*children));
	if (n)
		memcpy(children, argp->children, n * sizeof(*children));
	children[n].argp = &help_argp;
	with_help.children = children;
	options_check(&with_help, argc, argv, flags);
	code = argp_parse(&with_help, argc, argv, flags, NULL, input);
	free(children);
	if (!code)
		return;
	warn("%s: cannot read the arguments: %s", argv[0], strerror(code));
	exit(EXIT_FAILED);
}

void args_help_line(struct str *s, size_t column, const char *name, const char *what)
{
	const char *line;
	bool first = true;
	size_t len;

	str_printf(s, "  %-*s", (int)column - 2, name);
	while ((line = str_line(&what, HELP_WIDTH - 1 - (int)column, &len))) {
		if (!first)
			str_printf(s, "\n%*s", (int)column, "");
		str_add(s, line, len);
		first = false;
	}
	str_putc(s, '\n');
}
