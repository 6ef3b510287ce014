// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/text.h"

#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>

const char *text_name(const struct text *t)
{
	return strcmp(t->name, "-") ? t->name : "standard input";
}

int text_open(struct text *t, const char *name, char *data, size_t len, struct error *err)
{
	int rc;

	*t = (struct text){.name = name, .at = data, .err = err};
	if (!data) {
		rc = file_read_named(name, &t->file, &len, err);
		if (rc)
			return rc;
		data = t->at = t->file;
	}
	if (memchr(data, 0, len))
		return error_set(err, EBADMSG, "%s is not text; give a perf.data with --perf",
				 text_name(t));
	if (strspn(data, " \t\r\n") == len)
		return error_set(err, ENODATA, "%s is empty", text_name(t));
	return 0;
}

/* Returns the length of an invisible sequence at `p` (a color, a tag, a carriage return), or 0. */
static size_t text_hidden_length(const char *p)
{
	static const char *const tags[] = {"<pre>", "</pre>", "<u>", "</u>", "\r"};
	size_t n;

	if (p[0] == '\033' && p[1] == '[') {
		n = 2 + strspn(p + 2, "0123456789;");
		return p[n] ? n + 1 : n;
	}
	for (size_t i = 0; i < array_size(tags); i++)
		if (str_starts(p, tags[i]))
			return strlen(tags[i]);
	return 0;
}

/*
 * Returns the length of a non-ASCII space at `p` (no-break, figure, thin, narrow no-break), or 0.
 */
static size_t text_space_length(const char *p)
{
	if (str_starts(p, "\xc2\xa0"))
		return 2;
	if (str_starts(p, "\xe2\x80\x87") || str_starts(p, "\xe2\x80\x89") ||
	    str_starts(p, "\xe2\x80\xaf"))
		return 3;
	return 0;
}

static void text_clean_line(char *line)
{
	char *out = line;
	size_t n;

	while (*line) {
		n = text_hidden_length(line);
		if (n) {
			line += n;
		} else if ((n = text_space_length(line))) {
			*out++ = ' ';
			line += n;
		} else {
			*out++ = *line++;
		}
	}
	*out = 0;
}

void text_close(struct text *t)
{
	free(t->file);
}

int text_bad(const struct text *t, const char *what)
{
	return error_set(t->err, EBADMSG, "%s, line %u: %s", text_name(t), t->line, what);
}

char *text_next(struct text *t)
{
	char *line = str_token(&t->at, '\n');

	if (!line)
		return NULL;
	t->line++;
	text_clean_line(line);
	return line;
}

char *text_skip(const char *p)
{
	return (char *)p + strspn(p, " \t");
}

bool text_number(const char **p, double *value)
{
	char digits[64];
	size_t n = strspn(*p, "0123456789"), more = 0;

	if (!n || n > 30)
		return false;
	if ((*p)[n] == '.' || (*p)[n] == ',')
		more = 1 + strspn(*p + n + 1, "0123456789");
	if (more > 30)
		return false;
	memcpy(digits, *p, n + more);
	digits[n + more] = 0;
	if (more)
		digits[n] = '.';
	*value = strtod(digits, NULL);
	*p += n + more;
	return true;
}

bool text_count(const char **p, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	errno = 0;
	*value = strtoull(*p, &end, 10);
	if (errno || (*end && !strchr(" \t)", *end)))
		return false;
	*p = end;
	return true;
}

bool text_is_number(const char *s, double *value)
{
	return text_number(&s, value) && !*s;
}

bool text_is_count(const char *s, uint64_t *value)
{
	return text_count(&s, value) && !*s;
}

static char *text_field_end(char *s, bool wide)
{
	for (; *s; s++)
		if (*s == '\t' || (*s == ' ' && (!wide || s[1] == ' ' || s[1] == '\t' || !s[1])))
			break;
	return s;
}

size_t text_fields(char *s, bool wide, char **fields, size_t max)
{
	size_t n = 0;

	for (s = text_skip(s); *s && n < max; s = text_skip(s)) {
		fields[n++] = s;
		if (n == max) {
			str_trim(s);
			break;
		}
		s = text_field_end(s, wide);
		if (*s)
			*s++ = 0;
	}
	return n;
}

/* --- numbers of any locale --- */

/* A number, cut at its marks: "1.234,5" has the groups 1, 234 and 5. */
struct cut {
	char digits[64];
	size_t ndigits;
	char mark[16];	 /* the mark before each group except the first */
	size_t size[16]; /* number of digits in each group */
	size_t groups;
	const char *end;
};

static bool char_is_digit(char c)
{
	return isdigit((unsigned char)c);
}

void marks_keep_groups(char *data)
{
	char *out = data, *p = data;
	size_t n;

	while (*p) {
		n = out > data && char_is_digit(out[-1]) ? text_space_length(p) : 0;
		if (n && char_is_digit(p[n]) && char_is_digit(p[n + 1]) &&
		    char_is_digit(p[n + 2]) && !char_is_digit(p[n + 3])) {
			*out++ = '\'';
			p += n;
		} else {
			*out++ = *p++;
		}
	}
	*out = 0;
}

/*
 * Returns the mark at `p` and its length. Swiss locales group by an apostrophe, straight or
 * curved.
 */
static char marks_at(const char *p, size_t *len)
{
	*len = 1;
	if (*p == '.' || *p == ',' || *p == '\'')
		return *p;
	*len = 3;
	return str_starts(p, "\xe2\x80\x99") ? '\'' : 0;
}

/* Cuts a number at its marks. Returns false if the text is not a number or is implausibly long. */
static bool marks_cut_number(const char *p, struct cut *c)
{
	size_t n, len;
	char mark;

	*c = (struct cut){0};
	for (;;) {
		n = strspn(p, "0123456789");
		if (!n || c->ndigits + n >= sizeof(c->digits) || c->groups == array_size(c->size))
			return false;
		memcpy(c->digits + c->ndigits, p, n);
		c->ndigits += n;
		c->size[c->groups++] = n;
		p += n;
		mark = marks_at(p, &len);
		if (!mark || !char_is_digit(p[len]) || c->groups == array_size(c->mark))
			break;
		c->mark[c->groups] = mark;
		p += len;
	}
	c->end = p;
	return true;
}

/* Returns the decimal mark if this number has only one reading, or 0. */
static char marks_decimal_by(const struct cut *c)
{
	size_t last = c->groups - 1, same = 0;
	char mark = c->mark[last];

	if (!last || mark == '\'')
		return 0;
	for (size_t i = 1; i <= last; i++)
		same += c->mark[i] == mark;
	if (same > 1) /* this mark groups digits, so the other is the decimal mark */
		return same == last && c->size[last] == 3 ? (mark == '.' ? ',' : '.') : 0;
	if (last > 1 || c->size[1] != 3 || c->size[0] > 3 || c->digits[0] == '0')
		return mark;
	return 0;
}

void marks_learn(struct marks *m, const char *s, unsigned line)
{
	bool inside = false; /* inside a word, where digits are not a number */
	struct cut c;
	char told;

	while (*s) {
		if (!inside && char_is_digit(*s) && marks_cut_number(s, &c)) {
			told = marks_decimal_by(&c);
			if (told && !m->decimal) {
				m->decimal = told;
				m->line = line;
			}
			if (told && told != m->decimal && !m->other)
				m->other = line;
			s = c.end;
			inside = true;
			continue;
		}
		inside = isalnum((unsigned char)*s) || strchr("._,:/=-", *s) || (*s & 0x80);
		s++;
	}
}

static bool marks_is_grouped(const struct cut *c, size_t groups)
{
	if (groups < 2)
		return true;
	for (size_t i = 1; i < groups;
	     i++) /* groups of thousands; India groups by hundreds above them */
		if (c->mark[i] != c->mark[1] || c->size[i] < 2 || c->size[i] > 3)
			return false;
	return c->size[0] <= 3 && c->size[groups - 1] == 3;
}

static char marks_find_decimal(const struct marks *m, const struct cut *c, bool count)
{
	char mark = c->mark[c->groups - 1];

	if (m->decimal)
		return m->decimal;
	if (marks_decimal_by(c))
		return marks_decimal_by(c);
	return count && mark == ',' ? '.' : count && mark == '.' ? ',' : 0;
}

bool marks_number(const struct marks *m, const char **p, bool count, double *value)
{
	struct cut c;
	size_t whole, n = 0;
	char text[80];

	if (!marks_cut_number(*p, &c))
		return false;
	whole = c.groups;
	if (whole > 1 && c.mark[whole - 1] != '\'') {
		char decimal = marks_find_decimal(m, &c, count);

		if (!decimal)
			return false;
		whole -= c.mark[whole - 1] == decimal;
	}
	if (!marks_is_grouped(&c, whole))
		return false;
	for (size_t i = 0; i < whole; i++)
		n += c.size[i];
	memcpy(text, c.digits, n);
	text[n] = '.';
	memcpy(text + n + 1, c.digits + n, c.ndigits - n);
	text[c.ndigits + 1] = 0;
	*value = strtod(text, NULL);
	*p = c.end;
	return true;
}
