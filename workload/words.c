// SPDX-License-Identifier: GPL-2.0-only
/* What a workload says of itself when it fails. */
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a line of a file --- */

enum { LINE_MAX_SHOWN = 200, WORDS_MOST = 64 << 20 };

char *text_clean(const char *s, size_t most)
{
	char *out = xstrndup(s, most), *p;

	for (p = out; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
			*p = '?';
	return out;
}

/*
 * Returns the last line that may be a reason, or else the first line. No reason are lines of JSON,
 * whose error an adapter finds, a usage and the options below it, and "Try `x --help' for more
 * information.", which argp prints last.
 */
static char *find_telling_line(char *text)
{
	char *rest = text, *line, *first = NULL, *last = NULL;
	bool usage;

	while ((line = str_token(&rest, '\n'))) {
		line = str_trim(line);
		usage = !strncasecmp(line, "usage:", strlen("usage:"));
		if (!*line || strchr("{}[]\"", *line))
			continue;
		if (!first)
			first = line;
		if (usage && last)
			break;
		if (!usage && !(strcasestr(line, "--help") &&
				(strcasestr(line, "try ") || strcasestr(line, "for more"))))
			last = line;
	}
	return last ? last : first;
}

char *line_of_file(const char *path, bool first)
{
	char *data, *line, *out;

	if (file_read_most(path, WORDS_MOST, &data, NULL, NULL))
		return NULL;
	line = str_trim(data);
	if (first)
		line[strcspn(line, "\n")] = '\0';
	else
		line = find_telling_line(line);
	out = line && *line ? text_clean(str_trim(line), LINE_MAX_SHOWN) : NULL;
	free(data);
	return out;
}

/* --- the workload --- */

/* Returns the error that the adapter finds, or the last line of the output, or NULL. */
static char *account_words(const struct workload_run *run, const struct account *a)
{
	static const char *const files[] = {"workload.err", "workload.out"};
	char *words = a->error ? text_clean(a->error, LINE_MAX_SHOWN) : NULL;
	size_t i;

	for (i = 0; !words && i < array_size(files); i++) {
		char *path = xasprintf("%s/%s", run->dir, files[i]);

		words = line_of_file(path, false);
		free(path);
	}
	return words;
}

char *workload_words(const struct workload_run *run, const char *units)
{
	struct account a;
	char *words;

	account_read(run, units, &a, NULL);
	words = account_words(run, &a);
	account_free(&a);
	return words;
}

char *workload_undone(const struct workload_run *run, const char *units)
{
	const struct adapter *is = adapter_find(units);
	struct error err = {0};
	struct account a;
	struct str s = {0};
	char *words;

	if (!is || !is->read)
		return NULL;
	if (account_read(run, units, &a, &err))
		str_printf(&s, "no work was counted (units = %s): %s", units, err.text);
	else if (!a.error && !account_has_work(&a))
		str_printf(&s,
			   "the workload did nothing: there is no work in its output (units = %s)",
			   units);
	if (a.error) {
		str_reset(&s);
		str_puts(&s, "the workload reports an error");
	}
	words = s.len ? account_words(run, &a) : NULL;
	if (words)
		str_printf(&s, ": \"%s\"", words);
	free(words);
	account_free(&a);
	return s.buf ? str_take(&s) : NULL;
}

/*
 * How long before the window's end an account may end: what the analysis does not call lossy
 * (ingest_cover), and two of its own intervals, because a workload is stopped between two points.
 */
static double cut_off_limit_s(const struct points *ps, double window_s)
{
	double span_s = (double)(ps->p[ps->n - 1].t_ns - ps->p[0].t_ns) / 1e9;

	return fmax(0.05 * window_s, ps->n > 1 ? 2 * span_s / (double)(ps->n - 1) : 0);
}

char *workload_cut_off(const struct workload_run *run, const char *units, uint64_t start_ns,
		       uint64_t end_ns)
{
	const struct adapter *is = adapter_find(units);
	const struct points *ps;
	char *why = NULL;
	double missing_s;
	struct account a;

	if (!is || !is->read || is->collector)
		return NULL;
	account_read(run, units, &a, NULL);
	ps = &a.points;
	missing_s = ps->n ? ((double)end_ns - (double)ps->p[ps->n - 1].t_ns) / 1e9 : 0;
	if (isfinite(a.late_s)) /* the points are not that exact */
		missing_s -= a.late_s;
	if (ps->n && missing_s > cut_off_limit_s(ps, (double)(end_ns - start_ns) / 1e9))
		why = xasprintf("the workload's account ends %.2f s before the window's end",
				missing_s);
	else if (is->summary && !a.summary)
		why = xasprintf("the workload printed no summary (units = %s)", units);
	account_free(&a);
	return why;
}
