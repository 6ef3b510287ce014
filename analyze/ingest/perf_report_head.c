// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/perf_report_head.h"

#include "analyze/ingest/text.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <string.h>

/* Longer names before their beginnings. "0verhead": as text recognition reads screenshots. */
static const struct {
	const char *name;
	enum head_column column;
} names[] = {
	{"Children", HEAD_TOTAL},
	{"Overhead guest sys", HEAD_PERCENT},
	{"Overhead guest usr", HEAD_PERCENT},
	{"Overhead sys", HEAD_PERCENT},
	{"Overhead usr", HEAD_PERCENT},
	{"Overhead", HEAD_SELF},
	{"0verhead", HEAD_SELF},
	{"Self", HEAD_SELF},
	{"guest sys", HEAD_PERCENT},
	{"guest usr", HEAD_PERCENT},
	{"sys", HEAD_PERCENT},
	{"usr", HEAD_PERCENT},
	{"Samples", HEAD_SAMPLES},
	{"Period", HEAD_NUMBER},
	{"Pid:Command", HEAD_PID},
	{"Tid:Command", HEAD_PID},
	{"Command:  Pid", HEAD_PID},
	{"Command", HEAD_COMM},
	{"Shared Object", HEAD_DSO},
	{"Shared Obje", HEAD_DSO},
	{"Symbol", HEAD_SYMBOL},
	{"IPC   [IPC Coverage]", HEAD_TEXT},
};

static const char *match(const char *p, enum head_column *column)
{
	size_t i, n;

	for (i = 0; i < array_size(names); i++) {
		n = strlen(names[i].name);
		if (!strncmp(p, names[i].name, n) && !isalnum((unsigned char)p[n])) {
			*column = names[i].column;
			return p + n;
		}
	}
	return NULL;
}

enum head_column head_name(const char *name)
{
	enum head_column column;
	const char *end = match(name, &column);

	return end && !*end ? column : HEAD_TEXT;
}

static const char *next_column(const char *p, char separator)
{
	p += strspn(p, " \t");
	return separator && *p == separator ? p + 1 + strspn(p + 1, " \t") : p;
}

/* A column we do not know: up to the separator, the next wide gap, or the end of the word. */
static const char *unknown(const char *p, char separator, bool wide)
{
	for (; *p && *p != '\t' && *p != separator; p++)
		if (!separator && *p == ' ' && (!wide || p[1] == ' '))
			break;
	return p;
}

enum head_found head_parse(struct head *h, const char *line)
{
	const char *p = line + strspn(line, "# \t"), *end;
	bool wide = strstr(p, "  ") || strchr(p, '\t'), known = true;
	struct head got = {0};
	enum head_column column;

	end = match(p, &column);
	if (!end || (column != HEAD_TOTAL && column != HEAD_SELF))
		return HEAD_NONE;
	end += strspn(end, " ");
	if (*end && strchr("|;,:", *end))
		got.separator = *end;
	for (; *p && got.n < HEAD_MAX; p = next_column(end, got.separator)) {
		end = match(p, &column);
		if (!end) {
			end = unknown(p, got.separator, wide);
			column = HEAD_TEXT;
			known = false;
		}
		got.column[got.n++] = column;
	}
	if (!head_count(&got, HEAD_SYMBOL)) /* prose may begin with "Overhead", too */
		return known && got.n > 1 ? HEAD_NO_SYMBOL : HEAD_NONE;
	*h = got;
	return HEAD_FOUND;
}

size_t head_count(const struct head *h, enum head_column column)
{
	size_t i, n = 0;

	for (i = 0; i < h->n; i++)
		n += h->column[i] == column;
	return n;
}
