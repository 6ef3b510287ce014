// SPDX-License-Identifier: GPL-2.0-only
#include "lib/complete.h"

#include "lib/alloc.h"
#include "lib/error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void complete_add(struct str *lines, const char *word, const char *what)
{
	str_printf(lines, what ? "%s\t%s\n" : "%s\n", word, what);
}

void complete_print(const struct str *lines, const char *before, const char *start)
{
	char *copy = xstrdup(lines->len ? lines->buf : ""), *rest = copy, *line;

	while (rest) {
		line = str_token(&rest, '\n');
		if (*line && str_starts(line, start))
			printf("%s%s\n", before, line);
	}
	free(copy);
}

/* Finds an option as it is typed: "--format", "-f" or "--format=". */
static const struct argp_option *complete_find(const struct argp *argp, const char *word)
{
	const struct argp_option *o, *found = NULL;
	const struct argp_child *child;
	size_t len = strcspn(word, "=");

	for (o = argp->options; o && (o->name || o->doc); o++)
		if (o->name && ((len > 2 && str_starts(word, "--") &&
				 !strncmp(word + 2, o->name, len - 2) && !o->name[len - 2]) ||
				(len == 2 && word[1] == o->key)))
			return o;
	for (child = argp->children; !found && child && child->argp; child++)
		found = complete_find(child->argp, word);
	return found;
}

static void complete_add_options(struct str *lines, const struct argp *argp)
{
	const struct argp_option *o;
	const struct argp_child *child;

	for (o = argp->options; o && (o->name || o->doc); o++) {
		bool needs = o->arg && !(o->flags & OPTION_ARG_OPTIONAL);

		if (o->name && !(o->flags & OPTION_HIDDEN))
			str_printf(lines, "--%s%s\t%s\n", o->name, needs ? "=" : "",
				   o->doc ? o->doc : "");
	}
	for (child = argp->children; child && child->argp; child++)
		complete_add_options(lines, child->argp);
}

/* Returns whether a part of the text that help has for an argument is a value, not a name as SIZE.
 */
static bool complete_is_value(const char *part)
{
	size_t i;

	for (i = 0; part[i]; i++)
		if (isupper((unsigned char)part[i]) && isupper((unsigned char)part[i + 1]))
			return false;
	return *part;
}

/* Adds the values of "wall|busy" or "svg|png[,...]". */
static void complete_add_values(struct str *lines, const char *what)
{
	char *copy = xstrdup(what), *rest = copy, *part;

	rest[strcspn(rest, "[")] = '\0';
	while (rest) {
		part = str_token(&rest, '|');
		if (complete_is_value(part))
			complete_add(lines, part, NULL);
	}
	free(copy);
}

static void complete_argument(struct str *lines, const char *option, const char *what, char **words,
			      int n, complete_names *names, const void *of)
{
	if (strchr(what, '|'))
		complete_add_values(lines, what);
	else if (names)
		names(lines, option, what, words, n, of);
}

/* Returns the name of the argument at that position in "TABLE [CAPTURE...]"; the last may repeat.
 * Or NULL. */
static const char *complete_position(char *form, int position)
{
	char *rest = form, *word, *last = NULL;

	form[strcspn(form, "\n")] = '\0';
	while (rest) {
		word = str_token(&rest, ' ');
		if (!strcmp(word, "[-C]"))
			continue;
		word += *word == '[';
		if (*word == '-')
			break;
		last = word;
		if (!position--)
			break;
	}
	if (!last || (position >= 0 && !strstr(last, "...")))
		return NULL;
	last[strcspn(last, ".]")] = '\0';
	return last;
}

/* Returns the number of arguments without option among the words, or -1 behind "--". */
static int complete_count(const struct argp *argp, char **words, int n)
{
	const struct argp_option *o;
	int i, count = 0;

	for (i = 0; i < n; i++) {
		if (!strcmp(words[i], "--"))
			return -1;
		o = *words[i] == '-' ? complete_find(argp, words[i]) : NULL;
		if (*words[i] != '-')
			count++;
		else if (o && o->arg && !(o->flags & OPTION_ARG_OPTIONAL) && !strchr(words[i], '='))
			i++;
	}
	return count;
}

/* Completes an argument of an option. Of a list, it completes what is behind the last comma. */
static void complete_value(const struct argp_option *o, const char *before, const char *start,
			   char **words, int n, complete_names *names, const void *of)
{
	struct str lines = {0};
	const char *comma = strstr(o->arg, "...") ? strrchr(start, ',') : NULL;
	char *all = xasprintf("%s%.*s", before, comma ? (int)(comma + 1 - start) : 0, start);

	complete_argument(&lines, o->name, o->arg, words, n, names, of);
	complete_print(&lines, all, comma ? comma + 1 : start);
	free(all);
	str_free(&lines);
}

static void complete_other(const struct argp *argp, const char *start, char **words, int n,
			   complete_names *names, const void *of)
{
	int position = complete_count(argp, words, n);
	char *form = xstrdup(argp->args_doc ? argp->args_doc : "");
	const char *what = position < 0 ? NULL : complete_position(form, position);
	struct str lines = {0};

	if (*start == '-' && position >= 0)
		complete_add_options(&lines, argp);
	else if (what)
		complete_argument(&lines, NULL, what, words, n, names, of);
	complete_print(&lines, "", start);
	str_free(&lines);
	free(form);
}

/* bash makes three words of --format=json: the option, "=" and the value. */
static int complete_join_equals(char **words, int n)
{
	int i, k = 0;

	for (i = 0; i < n; i++)
		if (strcmp(words[i], "=") || !k)
			words[k++] = words[i];
	return k;
}

void complete_run(const struct argp *argp, int argc, char **argv, complete_names *names,
		  const void *of)
{
	const struct argp_option *o = NULL;
	char *last = argc > 2 && strcmp(argv[argc - 1], "=") ? argv[argc - 1] : "", *equals,
	     *before = NULL;
	char **words = argv + 2;
	int n;

	if (argc < 2 || strcmp(argv[1], "--complete"))
		return;
	n = complete_join_equals(words, last == argv[argc - 1] ? argc - 3 : argc - 2);
	equals = str_starts(last, "--") ? strchr(last, '=') : NULL;
	if (equals) {
		before = xstrndup(last, (size_t)(equals + 1 - last));
		o = complete_find(argp, before);
		last = equals + 1;
	} else if (n > 0 && *words[n - 1] == '-' && !strchr(words[n - 1], '=')) {
		o = complete_find(argp, words[n - 1]);
	}
	if (o && o->arg && (before || !(o->flags & OPTION_ARG_OPTIONAL)))
		complete_value(o, before ? before : "", last, words, n, names, of);
	else if (!before)
		complete_other(argp, last, words, n, names, of);
	free(before);
	exit(fflush(stdout) ? EXIT_FAILED : EXIT_OK);
}
