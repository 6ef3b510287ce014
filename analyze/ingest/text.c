// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/text.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *text_name(const struct text *t)
{
	return strcmp(t->name, "-") ? t->name : "standard input";
}

int text_open(struct text *t, const char *name, char *data, size_t len, struct error *err)
{
	*t = (struct text){.name = name, .at = data};
	if (memchr(data, 0, len))
		return error_set(err, EBADMSG, "%s is not text; a perf.data goes to --perf",
				 text_name(t));
	if (strspn(data, " \t\r\n") == len)
		return error_set(err, ENODATA, "%s is empty", text_name(t));
	return 0;
}

/* The length of something that is not shown: a colour, a tag, a carriage return; 0: it is shown. */
static size_t hidden(const char *p)
{
	static const char *const tags[] = {"<pre>", "</pre>", "<u>", "</u>", "\r"};
	size_t i, n;

	if (p[0] == '\033' && p[1] == '[') {
		n = 2 + strspn(p + 2, "0123456789;");
		return p[n] ? n + 1 : n;
	}
	for (i = 0; i < array_size(tags); i++)
		if (str_starts(p, tags[i]))
			return strlen(tags[i]);
	return 0;
}

/* The length of a space that is not ASCII's: no-break, figure, thin, narrow no-break; or 0. */
static size_t other_space(const char *p)
{
	if (str_starts(p, "\xc2\xa0"))
		return 2;
	if (str_starts(p, "\xe2\x80\x87") || str_starts(p, "\xe2\x80\x89") ||
	    str_starts(p, "\xe2\x80\xaf"))
		return 3;
	return 0;
}

static void clean(char *line)
{
	char *out = line;
	size_t n;

	while (*line) {
		n = hidden(line);
		if (n) {
			line += n;
		} else if ((n = other_space(line))) {
			*out++ = ' ';
			line += n;
		} else {
			*out++ = *line++;
		}
	}
	*out = 0;
}

int text_read_file(const char *path,
		   int (*parse)(const char *name, char *data, size_t len, void *to,
				struct error *err),
		   void *to, struct error *err)
{
	char *data;
	size_t len;
	int ret = file_read_named(path, &data, &len, err);

	if (ret)
		return ret;
	ret = parse(path, data, len, to, err);
	free(data);
	return ret;
}

char *text_next(struct text *t)
{
	char *line = str_token(&t->at, '\n');

	if (!line)
		return NULL;
	t->line++;
	clean(line);
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

bool text_percent(const char **p, double *value)
{
	const char *at = *p;

	if (!text_number(&at, value))
		return false;
	at = text_skip(at);
	if (*at != '%')
		return false;
	*p = at + 1;
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

static char *field_end(char *s, bool wide)
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
		s = field_end(s, wide);
		if (*s)
			*s++ = 0;
	}
	return n;
}
