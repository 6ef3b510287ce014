// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/marks.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A number cut at its marks: "1.234,5" has the groups 1, 234 and 5. */
struct cut {
	char digits[64];
	size_t ndigits;
	char mark[16];	 /* before each group but the first */
	size_t size[16]; /* digits of each group */
	size_t groups;
	const char *end;
};

static bool is_digit(char c)
{
	return isdigit((unsigned char)c);
}

static size_t wide_space(const char *p)
{
	static const char *const spaces[] = {"\xc2\xa0", "\xe2\x80\x89", "\xe2\x80\xaf"};
	size_t i;

	for (i = 0; i < array_size(spaces); i++)
		if (str_starts(p, spaces[i]))
			return strlen(spaces[i]);
	return 0;
}

void marks_keep_groups(char *data)
{
	char *out = data, *p = data;
	size_t n;

	while (*p) {
		n = out > data && is_digit(out[-1]) ? wide_space(p) : 0;
		if (n && is_digit(p[n]) && is_digit(p[n + 1]) && is_digit(p[n + 2]) &&
		    !is_digit(p[n + 3])) {
			*out++ = '\'';
			p += n;
		} else {
			*out++ = *p++;
		}
	}
	*out = 0;
}

/* The mark at `p` and its length; Swiss locales group by an apostrophe, straight or not. */
static char mark_at(const char *p, size_t *len)
{
	*len = 1;
	if (*p == '.' || *p == ',' || *p == '\'')
		return *p;
	*len = 3;
	return str_starts(p, "\xe2\x80\x99") ? '\'' : 0;
}

/* False: no number, or one that is too long to be true. */
static bool cut_number(const char *p, struct cut *c)
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
		mark = mark_at(p, &len);
		if (!mark || !is_digit(p[len]) || c->groups == array_size(c->mark))
			break;
		c->mark[c->groups] = mark;
		p += len;
	}
	c->end = p;
	return true;
}

/* The decimal mark that this number has beyond doubt, or 0. */
static char told_by(const struct cut *c)
{
	size_t last = c->groups - 1, i, same = 0;
	char mark = c->mark[last];

	if (!last || mark == '\'')
		return 0;
	for (i = 1; i <= last; i++)
		same += c->mark[i] == mark;
	if (same > 1) /* it groups: the other one is the decimal mark */
		return same == last && c->size[last] == 3 ? (mark == '.' ? ',' : '.') : 0;
	if (last > 1 || c->size[1] != 3 || c->size[0] > 3 || c->digits[0] == '0')
		return mark;
	return 0;
}

void marks_learn(struct marks *m, const char *s, unsigned line)
{
	bool inside = false; /* a word: its digits are no number */
	struct cut c;
	char told;

	while (*s) {
		if (!inside && is_digit(*s) && cut_number(s, &c)) {
			told = told_by(&c);
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

static bool grouped(const struct cut *c, size_t groups)
{
	size_t i;

	if (groups < 2)
		return true;
	for (i = 1; i < groups; i++) /* thousands; India groups by hundreds above them */
		if (c->mark[i] != c->mark[1] || c->size[i] < 2 || c->size[i] > 3)
			return false;
	return c->size[0] <= 3 && c->size[groups - 1] == 3;
}

static char decimal_of(const struct marks *m, const struct cut *c, bool count)
{
	char mark = c->mark[c->groups - 1];

	if (m->decimal)
		return m->decimal;
	if (told_by(c))
		return told_by(c);
	return count && mark == ',' ? '.' : count && mark == '.' ? ',' : 0;
}

bool marks_number(const struct marks *m, const char **p, bool count, double *value)
{
	struct cut c;
	size_t whole, n = 0, i;
	char text[80];

	if (!cut_number(*p, &c))
		return false;
	whole = c.groups;
	if (whole > 1 && c.mark[whole - 1] != '\'') {
		char decimal = decimal_of(m, &c, count);

		if (!decimal)
			return false;
		whole -= c.mark[whole - 1] == decimal;
	}
	if (!grouped(&c, whole))
		return false;
	for (i = 0; i < whole; i++)
		n += c.size[i];
	memcpy(text, c.digits, n);
	text[n] = '.';
	memcpy(text + n + 1, c.digits + n, c.ndigits - n);
	text[c.ndigits + 1] = 0;
	*value = strtod(text, NULL);
	*p = c.end;
	return true;
}
