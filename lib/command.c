// SPDX-License-Identifier: GPL-2.0-only
#include "lib/command.h"

#include "lib/alloc.h"
#include "lib/error.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

const char zcost_version[] = ZCOST_VERSION;

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
	autofree char *prefix = xasprintf("%s: ", state->name);
	autofree char *text = xformat(fmt);

	message_print(prefix, text);
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

void args_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	struct argp with_help = *argp;
	autofree struct argp_child *children = NULL;
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
	code = argp_parse(&with_help, argc, argv, flags, NULL, input);
	if (!code)
		return;
	warn("%s: cannot read the arguments: %s", argv[0], strerror(code));
	exit(EXIT_FAILED);
}

void args_help_line(struct str *s, size_t column, const char *name, const char *what)
{
	autofree char *lines = str_wrap(what, HELP_WIDTH - 1 - (int)column, (int)column);

	str_printf(s, "  %-*s%s\n", (int)column - 2, name, lines);
}

/* --- the manual page --- */

void manual_print_name(const char *name, const char *what)
{
	printf("# %s: %s\n\n", name, what);
}

/* Each line of args_doc is one form of the command. */
static void manual_print_synopsis(const char *forms, const char *name)
{
	char *form;

	printf("## Synopsis\n\n");
	each_part (form, forms ? forms : "", '\n')
		printf("    %s [OPTION...] %s\n", name, form);
}

/* Prints a heading of --help without its colon. */
static void manual_print_heading(const char *level, const char *text)
{
	size_t len = strlen(text);

	printf("\n%s %.*s\n\n", level, (int)(len && text[len - 1] == ':' ? len - 1 : len), text);
}

static void manual_print_option(const struct argp_option *o)
{
	bool optional = o->flags & OPTION_ARG_OPTIONAL;

	printf("- ");
	if (o->key > ' ' && o->key < 0x7f)
		printf("`-%c`, ", o->key);
	printf("`--%s%s%s%s`: %s\n", o->name,
	       !o->arg	  ? ""
	       : optional ? "[="
			  : "=",
	       o->arg ? o->arg : "", o->arg && optional ? "]" : "", o->doc ? o->doc : "");
}

static void manual_print_options(const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->doc); o++) {
		if (!o->name)
			manual_print_heading("###", o->doc);
		else if (!(o->flags & OPTION_HIDDEN))
			manual_print_option(o);
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++) {
		if (child->header)
			manual_print_heading("###", child->header);
		manual_print_options(child->argp);
	}
}

static bool manual_is_item(const char *line)
{
	return line && str_starts(line, "  ") && line[2] != ' ';
}

/* Prints the text behind the options. Lines of args_help_line become lists. */
static void manual_print_end(char *text)
{
	bool notes = false;
	char *line;

	while (text) {
		line = str_token(&text, '\n');
		if (manual_is_item(line)) {
			size_t len = strcspn(line + 2, " ");

			printf("- `%.*s`: %s\n", (int)len, line + 2, str_trim(line + 2 + len));
		} else if (*line && *line != ' ' && manual_is_item(text)) {
			manual_print_heading("##", line);
		} else {
			if (*line && *line != ' ' && !notes)
				manual_print_heading("##", "Notes");
			notes |= *line && *line != ' ';
			printf("%s\n", line);
		}
	}
}

void manual_print(const struct argp *argp, const char *name, void *input)
{
	const char *end = argp->doc ? strchr(argp->doc, '\v') : NULL;
	size_t len = end ? (size_t)(end - argp->doc) : argp->doc ? strlen(argp->doc) : 0;
	char *filtered, *copy;

	manual_print_synopsis(argp->args_doc, name);
	printf("\n## Description\n\n%.*s\n\n## Options\n\n", (int)len, argp->doc ? argp->doc : "");
	manual_print_options(argp);
	end = end ? end + 1 : NULL;
	filtered = argp->help_filter ? argp->help_filter(ARGP_KEY_HELP_POST_DOC, end, input)
				     : (char *)end;
	copy = xstrdup(filtered ? filtered : "");
	manual_print_end(copy);
	free(copy);
	if (filtered != end)
		free(filtered);
}

/* Where pages are: in the build folder, and below PREFIX. */
static const struct {
	const char *folder, *section;
} places[] = {{"man/zcost-", "1"},
	      {"man/", "1"},
	      {"man/", "5"},
	      {"../share/man/man1/zcost-", "1"},
	      {"../share/man/man1/", "1"},
	      {"../share/man/man5/", "5"}};

/* Replaces this process by man if the page is in that place, as it is or compressed. */
static void manual_try(const char *bin, size_t place, const char *name)
{
	autofree char *path =
		xasprintf("%s/%s%s.%s", bin, places[place].folder, name, places[place].section);
	autofree char *packed = xasprintf("%s.gz", path);
	const char *page = access(path, R_OK) ? packed : path;

	if (!access(page, R_OK))
		execlp("man", "man", page, NULL);
}

void manual_show(const char *name)
{
	char exe[PATH_MAX] = "", *bin;

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return;
	bin = dirname(exe);
	for (size_t i = 0; i < array_size(places); i++)
		manual_try(bin, i, name);
}
