// SPDX-License-Identifier: GPL-2.0-only
#include "lib/command.h"

#include "lib/alloc.h"
#include "lib/error.h"

#include <ctype.h>
#include <stdio.h>

void complete_add(struct str *lines, const char *word, const char *what)
{
	str_printf(lines, what ? "%s\t%s\n" : "%s\n", word, what);
}

void complete_print(const struct str *lines, const char *before, const char *start)
{
	char *line;

	each_part (line, lines->len ? lines->buf : "", '\n')
		if (*line && str_starts(line, start))
			printf("%s%s\n", before, line);
}

/* Finds an option as it is typed: "--format", "-f" or "--format=". */
static const struct argp_option *complete_find(const struct argp *argp, const char *word)
{
	const struct argp_option *found = NULL;
	size_t len = strcspn(word, "=");

	for (const struct argp_option *o = argp->options; o && (o->name || o->doc); o++)
		if (o->name && ((len > 2 && str_starts(word, "--") &&
				 !strncmp(word + 2, o->name, len - 2) && !o->name[len - 2]) ||
				(len == 2 && word[1] == o->key)))
			return o;
	for (const struct argp_child *child = argp->children; !found && child && child->argp;
	     child++)
		found = complete_find(child->argp, word);
	return found;
}

static void complete_add_options(struct str *lines, const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->doc); o++) {
		bool needs = o->arg && !(o->flags & OPTION_ARG_OPTIONAL);

		if (o->name && !(o->flags & OPTION_HIDDEN))
			str_printf(lines, "--%s%s\t%s\n", o->name, needs ? "=" : "",
				   o->doc ? o->doc : "");
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		complete_add_options(lines, child->argp);
}

/* Returns whether a part of the text that help has for an argument is a value, not a name as SIZE.
 */
static bool complete_is_value(const char *part)
{
	for (size_t i = 0; part[i]; i++)
		if (isupper((unsigned char)part[i]) && isupper((unsigned char)part[i + 1]))
			return false;
	return *part;
}

/* Adds the values of "wall|busy" or "svg|png[,...]". */
static void complete_add_values(struct str *lines, const char *what)
{
	autofree char *values = xstrndup(what, strcspn(what, "["));
	char *value;

	each_part (value, values, '|')
		if (complete_is_value(value))
			complete_add(lines, value, NULL);
}

/* The command line before the word to complete. */
struct typed {
	const struct argp *argp;
	char **words;
	int n;
	int count;	   /* number of arguments without option, or -1 behind "--" */
	const char *first; /* the first of these arguments, or "" */
	complete_names *names;
	const void *of;
};

static void complete_count(struct typed *t)
{
	t->first = "";
	for (int i = 0; i < t->n; i++) {
		const char *word = t->words[i];
		const struct argp_option *o = *word == '-' ? complete_find(t->argp, word) : NULL;

		if (!strcmp(word, "--")) {
			t->count = -1;
			return;
		}
		if (*word != '-' && !t->count++)
			t->first = word;
		else if (o && o->arg && !(o->flags & OPTION_ARG_OPTIONAL) && !strchr(word, '='))
			i++;
	}
}

/* Returns the option, such as "-C", if it is among the words, else NULL. */
static const struct argp_option *complete_find_typed(const struct typed *t, const char *option)
{
	const struct argp_option *o = complete_find(t->argp, option);

	for (int i = 0; o && i < t->n; i++)
		if (*t->words[i] == '-' && complete_find(t->argp, t->words[i]) == o)
			return o;
	return NULL;
}

/* Prints what can replace `start`. Of a list, as KEY[,...], it replaces what is behind the last
 * comma. */
static void complete_argument(const struct typed *t, const char *option, const char *what,
			      const char *before, const char *start)
{
	freed(str_free) struct str lines = {0};
	const char *comma = strstr(what, "[,") ? strrchr(start, ',') : NULL;
	autofree char *all =
		xasprintf("%s%.*s", before, comma ? (int)(comma + 1 - start) : 0, start);

	if (strchr(what, '|'))
		complete_add_values(&lines, what);
	else if (t->names)
		t->names(&lines, option, what, t->words, t->n, t->of);
	complete_print(&lines, all, comma ? comma + 1 : start);
}

/* --- arguments without option --- */

/* A line of args_doc, such as "-C CAPTURE [CHART...]": its words, without brackets around them. */
enum { FORM_WORDS = 12 };
struct form {
	char *word[FORM_WORDS];
	int n;
	int start; /* the first word that is not typed with the option at the beginning of the line
		    */
};

static void form_read(struct form *f, char *line)
{
	f->n = f->start = 0;
	while (line && f->n < FORM_WORDS) {
		char *word = str_token(&line, ' ');

		if (*word == '[' && word[strlen(word) - 1] == ']') {
			word[strlen(word) - 1] = '\0';
			word++;
		}
		f->word[f->n++] = word;
	}
}

/* Returns whether the word is one of "callers|callees". */
static bool form_has_value(const char *values, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = values; len && at; at = strchr(at, '|'), at = at ? at + 1 : NULL)
		if (!strncmp(at, word, len) && (!at[len] || at[len] == '|'))
			return true;
	return false;
}

/* Returns whether the form is the typed one: its option, or its first word, is there. */
static bool form_fits(struct form *f, const struct typed *t)
{
	const struct argp_option *o;

	if (*f->word[0] != '-')
		return form_has_value(f->word[0], t->first);
	o = complete_find_typed(t, f->word[0]);
	f->start = o ? 1 + !!o->arg : 1;
	return o;
}

/* Returns what the form calls the next argument. The last one may repeat. NULL if nothing follows.
 */
static const char *form_next(const struct form *f, int position)
{
	int i;

	for (i = f->start; i < f->n && *f->word[i] != '-'; i++)
		if (i == f->start + position)
			return f->word[i];
	return i > f->start && str_ends(f->word[i - 1], "...") ? f->word[i - 1] : NULL;
}

/* Completes by the first form that fits, else by the first form. */
static void complete_position(const struct typed *t, const char *start)
{
	autofree char *copy = xstrdup(t->argp->args_doc ? t->argp->args_doc : "");
	char *lines = copy, *line;
	struct form first = {0}, f;
	const char *what;
	bool fits = false;

	while (!fits && (line = str_token(&lines, '\n'))) {
		form_read(&f, line);
		fits = form_fits(&f, t);
		if (!first.n)
			first = f;
	}
	what = form_next(fits ? &f : &first, t->count);
	if (what)
		complete_argument(t, NULL, what, "", start);
}

static void complete_other(struct typed *t, const char *start)
{
	freed(str_free) struct str lines = {0};

	complete_count(t);
	if (t->count < 0)
		return;
	if (*start == '-')
		complete_add_options(&lines, t->argp);
	else
		complete_position(t, start);
	complete_print(&lines, "", start);
}

/* bash makes three words of --format=json: the option, "=" and the value. */
static int complete_join_equals(char **words, int n)
{
	int k = 0;

	for (int i = 0; i < n; i++)
		if (strcmp(words[i], "=") || !k)
			words[k++] = words[i];
	return k;
}

void complete_run(const struct argp *argp, int argc, char **argv, complete_names *names,
		  const void *of)
{
	struct typed t = {.argp = argp, .words = argv + 2, .names = names, .of = of};
	const struct argp_option *o = NULL;
	char *last = argc > 2 && strcmp(argv[argc - 1], "=") ? argv[argc - 1] : "", *equals,
	     *before = NULL;

	if (argc < 2 || strcmp(argv[1], "--complete"))
		return;
	t.n = complete_join_equals(t.words, last == argv[argc - 1] ? argc - 3 : argc - 2);
	equals = str_starts(last, "--") ? strchr(last, '=') : NULL;
	if (equals) {
		before = xstrndup(last, (size_t)(equals + 1 - last));
		o = complete_find(argp, before);
		last = equals + 1;
	} else if (t.n > 0 && *t.words[t.n - 1] == '-' && !strchr(t.words[t.n - 1], '=')) {
		o = complete_find(argp, t.words[t.n - 1]);
	}
	t.words[t.n] = last;
	if (o && o->arg && (before || !(o->flags & OPTION_ARG_OPTIONAL)))
		complete_argument(&t, o->name, o->arg, before ? before : "", last);
	else if (!before)
		complete_other(&t, last);
	free(before);
	exit(fflush(stdout) ? EXIT_FAILED : EXIT_OK);
}
