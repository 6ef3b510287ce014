// SPDX-License-Identifier: GPL-2.0-only
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>

static const struct adapter adapter_none = {.name = "none"};

/* The list of adapters, in the order of messages. */
// clang-format off
#define ADAPTERS(row) \
	row(tcpzc) row(iperf3) row(neper) row(netperf) row(kperf) row(sockperf) row(wrk) row(ab) \
	row(pps) row(regex) row(nic) row(tcp) row(none)
// clang-format on

#define DECLARATION(name) extern const struct adapter adapter_##name;
#define ADDRESS(name)	  &adapter_##name,

ADAPTERS(DECLARATION)
static const struct adapter *const adapters[] = {ADAPTERS(ADDRESS)};

const struct adapter *adapter_find(const char *units)
{
	size_t len = strcspn(units, ":");

	for (size_t i = 0; i < array_size(adapters); i++)
		if (strlen(adapters[i]->name) == len && !strncmp(adapters[i]->name, units, len))
			return adapters[i];
	return NULL;
}

/* Returns what stands behind the colon, or NULL. */
static const char *units_argument(const char *units)
{
	const char *colon = strchr(units, ':');

	return colon && colon[1] ? colon + 1 : NULL;
}

static int units_refuse(const char *units, struct error *err)
{
	freed(str_free) struct str names = {0};

	for (size_t i = 0; i < array_size(adapters); i++) {
		const char *arg = adapters[i]->argument;
		autofree char *name =
			xasprintf("%s%s%s", adapters[i]->name, arg ? ":" : "", arg ? arg : "");

		str_item(&names, !i, i + 1 == array_size(adapters), name);
	}
	return error_set(err, EINVAL, "no adapter '%s'; there are %s", units, names.buf);
}

int units_check(const char *units, struct error *err)
{
	const struct adapter *is = adapter_find(units);
	const char *arg = units_argument(units);

	if (!is || (is->argument ? !arg : strchr(units, ':') != NULL))
		return units_refuse(units, err);
	return is->check ? is->check(arg, err) : 0;
}

/* --- accounts --- */

void points_add(struct points *ps, const struct point *p)
{
	const struct point *last = ps->n ? &ps->p[ps->n - 1] : NULL;

	for (int w = 0; w < WORK_N; w++) {
		if (!isfinite(p->n[w]) ||
		    (last && (p->t_ns < last->t_ns || p->n[w] < last->n[w]))) {
			ps->backwards++;
			return;
		}
	}
	array_add(ps->p, ps->n, ps->cap, *p);
}

void account_free(struct account *a)
{
	free(a->points.p);
	free(a->error);
	*a = (struct account){0};
}

bool account_has_work(const struct account *a)
{
	const struct points *ps = &a->points;

	for (int w = 0; ps->n && w < WORK_N; w++)
		if (ps->has[w] && ps->p[ps->n - 1].n[w] > 0)
			return true;
	return false;
}

int account_read(const struct workload_run *run, const char *units, struct account *a,
		 struct error *err)
{
	const struct adapter *is = adapter_find(units);
	int rc = units_check(units, err);

	*a = (struct account){.late_s = NAN, .retransmits = NAN};
	return rc || !is || !is->read ? rc : is->read(is, run, units_argument(units), a, err);
}

int workload_text(const struct workload_run *run, const char *file, char **text, struct error *err)
{
	autofree char *path = xasprintf("%s/%s", run->dir, file);

	return file_read_most(path, WORKLOAD_TEXT_MOST, text, NULL, err);
}

int workload_read_text(const struct adapter *is, const struct workload_run *run, const char *arg,
		       struct account *a, struct error *err)
{
	autofree char *text = NULL;

	(void)arg;
	return workload_text(run, "workload.out", &text, err) ?: is->parse(run, text, a, err);
}

int workload_snaps(const struct workload_run *run, const char *file, struct snaps *snaps,
		   struct error *err)
{
	autofree char *path = xasprintf("%s/%s", run->dir, file);
	struct error why = {0};
	int rc = snaps_read(snaps, path, &why);

	if (!rc || (rc == -EBADMSG && snaps->n))
		return 0;
	snaps_free(snaps);
	return error_set(err, why.code, "%s", why.text);
}

const char *workload_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (strncmp(text, key, len) || text[len] != '=') {
		text += strcspn(text, "\n");
		if (!*text++)
			return NULL;
	}
	return text + len + 1;
}

void account_add_rate(struct account *a, const struct workload_run *run, enum work w, double rate,
		      uint64_t from, uint64_t to)
{
	struct point p = {.t_ns = from};

	a->points.has[w] = true;
	points_add(&a->points, &p);
	p.t_ns = to;
	p.n[w] = rate * (double)(to - from) / 1e9;
	points_add(&a->points, &p);
	a->rates = from == run->started_ns && to == run->ended_ns;
}

uint64_t workload_ns(double ns)
{
	return !(ns > 0) ? 0 : ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

uint64_t workload_mono_ns(const struct workload_run *run, double seconds)
{
	return workload_ns((double)run->started_ns + (seconds - run->wall_clock) * 1e9);
}

/* What a workload says of itself when it fails. */

/* --- a line of a file --- */

enum { LINE_MAX_SHOWN = 200, WORDS_MOST = 64 << 20 };

char *text_clean(const char *s, size_t most)
{
	char *out = xstrndup(s, most);

	for (char *p = out; *p; p++)
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
	autofree char *data = NULL;
	char *line;

	if (file_read_most(path, WORDS_MOST, &data, NULL, NULL))
		return NULL;
	line = str_trim(data);
	if (first)
		line[strcspn(line, "\n")] = '\0';
	else
		line = find_telling_line(line);
	return line && *line ? text_clean(str_trim(line), LINE_MAX_SHOWN) : NULL;
}

/* --- the workload --- */

/* Returns the error that the adapter finds, or the last line of the output, or NULL. */
static char *account_words(const struct workload_run *run, const struct account *a)
{
	static const char *const files[] = {"workload.err", "workload.out"};
	char *words = a->error ? text_clean(a->error, LINE_MAX_SHOWN) : NULL;

	for (size_t i = 0; !words && i < array_size(files); i++) {
		autofree char *path = xasprintf("%s/%s", run->dir, files[i]);

		words = line_of_file(path, false);
	}
	return words;
}

char *workload_words(const struct workload_run *run, const char *units)
{
	freed(account_free) struct account a;

	account_read(run, units, &a, NULL);
	return account_words(run, &a);
}

char *workload_undone(const struct workload_run *run, const char *units)
{
	const struct adapter *is = adapter_find(units);
	freed(account_free) struct account a = {0};
	autofree char *words = NULL;
	struct error err = {0};
	struct str s = {0};

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
	freed(account_free) struct account a = {0};
	const struct points *ps = &a.points;
	double missing_s;

	if (!is || !is->read || is->collector)
		return NULL;
	account_read(run, units, &a, NULL);
	missing_s = ps->n ? ((double)end_ns - (double)ps->p[ps->n - 1].t_ns) / 1e9 : 0;
	if (isfinite(a.late_s)) /* the points are not that exact */
		missing_s -= a.late_s;
	if (ps->n && missing_s > cut_off_limit_s(ps, (double)(end_ns - start_ns) / 1e9))
		return xasprintf("the workload's account ends %.2f s before the window's end",
				 missing_s);
	if (is->summary && !a.summary)
		return xasprintf("the workload printed no summary (units = %s)", units);
	return NULL;
}
