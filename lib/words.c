// SPDX-License-Identifier: GPL-2.0-only
#include "lib/words.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

static void words_add_owned(struct words *w, char *word)
{
	w->word = xrealloc(w->word, (w->n + 2) * sizeof(*w->word));
	w->word[w->n++] = word;
	w->word[w->n] = NULL;
}

void words_add(struct words *w, const char *word)
{
	words_add_owned(w, xstrdup(word));
}

void words_addf(struct words *w, const char *fmt, ...)
{
	words_add_owned(w, xformat(fmt));
}

/* Copies one quoted part. Returns the text after the closing quote, or NULL without one. */
static const char *word_read_quoted(struct str *word, const char *p, char quote)
{
	for (; *p && *p != quote; p++) {
		if (quote == '"' && *p == '\\' && p[1] && strchr("\"\\$`", p[1]))
			p++;
		str_putc(word, *p);
	}
	return *p ? p + 1 : NULL;
}

/* Reads one word from `p`, which is no blank. Returns the text after it, or NULL for an open quote.
 */
static const char *word_read(struct str *word, const char *p)
{
	str_puts(word, "");
	while (p && *p && !isspace((unsigned char)*p)) {
		if (*p == '\\' && p[1] == '\n') { /* the next line goes on with the word */
			p += 2;
			continue;
		}
		if (*p == '\'' || *p == '"') {
			p = word_read_quoted(word, p + 1, *p);
			continue;
		}
		if (*p == '\\' && p[1])
			p++;
		str_putc(word, *p++);
	}
	return p;
}

int words_split(struct words *w, const char *text, struct error *err)
{
	const char *p = text;
	freed(str_free) struct str word = {0};

	for (;;) {
		while (isspace((unsigned char)*p))
			p++;
		if (!*p)
			return 0;
		p = word_read(&word, p);
		if (!p)
			return error_set(err, EINVAL, "a quote is not closed in: %s", text);
		words_add_owned(w, str_take(&word));
	}
}

void words_free(struct words *w)
{
	array_free(e, w->word, w->n, free(*e));
	*w = (struct words){0};
}

static void words_join_quoted(struct str *s, const char *word)
{
	str_putc(s, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			str_puts(s, "'\\''");
		else
			str_putc(s, *word);
	}
	str_putc(s, '\'');
}

char *words_join(char *const word[])
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%^";
	struct str s = {0};

	for (size_t i = 0; word[i]; i++) {
		if (i)
			str_putc(&s, ' ');
		if (*word[i] && !word[i][strspn(word[i], plain)])
			str_puts(&s, word[i]);
		else
			words_join_quoted(&s, word[i]);
	}
	return str_take(&s);
}

char *shell_word(const char *word)
{
	char *one[] = {(char *)word, NULL};

	return words_join(one);
}

/* --- the program of a command line --- */

/* THE TABLE of programs that run another one, and what stands between the two. */
static const struct prefix {
	const char *name;
	const char *valued; /* options with a value in the next word */
	size_t words;	    /* words behind the options */
	const char *verb;   /* the words begin with it, else the program runs no other */
} prefixes[] = {
	{"chrt", "-T -P -D", 1, NULL},
	{"do", "", 0, NULL},
	{"else", "", 0, NULL},
	{"env", "-u -C -S --unset --chdir --split-string", 0, NULL},
	{"exec", "-a", 0, NULL},
	{"if", "", 0, NULL},
	{"ionice", "-c -n --class --classdata", 0, NULL},
	{"ip", "", 3, "netns"},
	{"nice", "-n --adjustment", 0, NULL},
	{"nohup", "", 0, NULL},
	{"numactl",
	 "-C -N -m -i -p -P -w --physcpubind --cpunodebind --membind --interleave --preferred --preferred-many --weighted-interleave",
	 0, NULL},
	{"setsid", "", 0, NULL},
	{"stdbuf", "-i -o -e --input --output --error", 0, NULL},
	{"sudo", "-u -g -C -D -h -p -R -r -T -t -U --user --group", 0, NULL},
	{"taskset", "", 1, NULL},
	{"then", "", 0, NULL},
	{"time", "-o -f", 0, NULL},
	{"timeout", "-s -k --signal --kill-after", 1, NULL},
	{"while", "", 0, NULL},
};

/* Returns how many words there are before the one at `i` or later that is no NAME=VALUE. */
static size_t words_skip_assignments(char *const word[], size_t i)
{
	const char *equals;

	while (word[i] && (equals = strchr(word[i], '=')) && equals > word[i] &&
	       !memchr(word[i], '/', (size_t)(equals - word[i])))
		i++;
	return i;
}

size_t program_next(char *const word[], size_t i)
{
	const char *name = path_base_name(word[i]);
	const struct prefix *p = prefixes, *end = p + array_size(prefixes);
	size_t at = i + 1;

	while (p < end && strcmp(p->name, name) != 0)
		p++;
	if (p == end)
		return i;
	for (; word[at] && word[at][0] == '-' && word[at][1]; at++) {
		if (str_starts(word[at], "-S")) /* env: its value is a whole command line */
			return i;
		if (str_matches_any(p->valued, word[at]) && word[at + 1])
			at++;
	}
	if (p->verb && (!word[at] || strcmp(word[at], p->verb) != 0))
		return i;
	for (size_t k = 0; k < p->words && word[at]; k++)
		at++;
	at = words_skip_assignments(word, at);
	return word[at] ? at : i;
}

char *program_name(const char *command)
{
	freed(words_free) struct words w = {0};
	size_t i, next;

	words_split(&w, command, NULL); /* an open quote ends the words */
	if (!w.n)
		return NULL;
	i = words_skip_assignments(w.word, 0);
	i = w.word[i] ? i : 0;
	while ((next = program_next(w.word, i)) != i)
		i = next;
	return xstrdup(path_base_name(w.word[i]));
}

/* --- power readings --- */

static const struct {
	const char *name;
	double watts;
} watts_units[] = {{"", 1}, {"W", 1}, {"watt", 1}, {"watts", 1}, {"mW", 1e-3}, {"kW", 1e3}};

static bool watts_scale_unit(const char *unit, double *watts)
{
	for (size_t i = 0; i < array_size(watts_units); i++) {
		if (strcasecmp(unit, watts_units[i].name))
			continue;
		*watts *= watts_units[i].watts;
		return true;
	}
	return false;
}

/* Returns "231.5" of "watts: 231.5". */
static char *watts_skip_word(char *line)
{
	static const char word[] = "watts";
	size_t n = sizeof(word) - 1;

	if (strncasecmp(line, word, n) ||
	    (!isspace((unsigned char)line[n]) && !strchr(":=", line[n])))
		return line;
	line += n;
	return line + strspn(line, " \t:=");
}

int watts_of_line(const char *line, double *watts, struct error *err)
{
	autofree char *copy = xstrdup(line);
	char *text = watts_skip_word(str_trim(copy)), *end;

	*watts = strtod(text, &end);
	if (end == text || !isfinite(*watts) || !watts_scale_unit(str_trim(end), watts))
		return error_set(
			err, ENODATA,
			"'%.80s' is not a reading; a line is to hold a number, or 'watts NUMBER'",
			str_trim(copy));
	if (*watts < 0)
		return error_set(err, ERANGE, "'%.80s': power cannot be negative", str_trim(copy));
	return 0;
}
