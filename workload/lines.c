// SPDX-License-Identifier: GPL-2.0-only
/*
 * n lines divide the time between the command's start and end into n equal parts, each at the rate
 * of its line. One line, which most programs print at their end, is the mean rate of the command.
 * A carriage return ends a line, too: a program can print its progress for minutes without a
 * newline.
 */
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>

/* The first (group) of `re` is a number. Of one program, the first row of a work that matches
 * counts. */
struct line_pattern {
	const char *re; /* NULL ends the table */
	enum work work;
	double scale; /* units of work in one unit of the number */
	/* The number is a total, and the second group its time in units of so many s. 0: a rate */
	double per_s;
	bool time_first; /* the time is the first group and the total the second */
	int base; /* the base of the letter K, M or G in the second group; 0 when there is no letter
		   */
	bool sum; /* lines are connections and add up. false: lines follow each other in time */
};

enum { GROUPS = 3 };

struct rates {
	double *r;
	size_t n, cap;
};

/* "8,165,032" and "8165032.5": commas group thousands. */
static double rates_parse_number(const char *line, const regmatch_t *m)
{
	autofree char *copy = xstrndup(line + m->rm_so, (size_t)(m->rm_eo - m->rm_so));
	char *to;

	for (char *from = to = copy; *from; from++)
		if (*from != ',')
			*to++ = *from;
	*to = '\0';
	return strtod(copy, NULL);
}

static double rates_of_match(const struct line_pattern *p, const char *line, const regmatch_t *m)
{
	static const char letters[] = "KMGT";
	double x = rates_parse_number(line, &m[p->time_first ? 2 : 1]) * p->scale;
	const char *at;

	if (p->base && m[2].rm_eo > m[2].rm_so && (at = strchr(letters, line[m[2].rm_so])))
		x *= pow(p->base, (double)(at - letters) + 1);
	if (p->per_s > 0)
		x /= rates_parse_number(line, &m[p->time_first ? 1 : 2]) * p->per_s;
	return x;
}

static void rates_match_line(const regex_t *re, const struct line_pattern *p, const char *line,
			     struct rates *rates)
{
	regmatch_t m[GROUPS];

	if (regexec(re, line, GROUPS, m, 0) || m[1].rm_so < 0)
		return;
	if (p->sum && rates->n) {
		rates->r[0] += rates_of_match(p, line, m);
		return;
	}
	array_add(rates->r, rates->n, rates->cap, rates_of_match(p, line, m));
}

/*
 * The time of a match grows with the square of the line's length: 4 MB of digits take many
 * minutes.
 */
enum { LINE_MOST = 4096 };

/*
 * An expression may come from anybody, in a capture. regcomp() needs stack for each parenthesis. It
 * copies what is repeated: `{1,30}` 30 times, and `+` behind a group once more. A match with a
 * back-reference can try every way to divide the line.
 */
enum { PATTERN_MOST = 512, COPIES_MOST = 1000 };

/* Returns N of "{N" and "{M,N", at least 1. */
static double regex_interval_most(const char *brace)
{
	char *end;
	double least = (double)strtoul(brace + 1, &end, 10), most = 1;

	if (*end == ',')
		most = (double)strtoul(end + 1, NULL, 10);
	most = most > least ? most : least;
	return most > 1 ? most : 1;
}

/* Takes all repeats for nested ones, and also looks into [brackets]. */
static bool regex_is_cheap(const char *pattern)
{
	double copies = 1;
	const char *p;

	for (p = pattern; *p; p++) {
		if (*p == '\\' && isdigit((unsigned char)p[1]))
			return false;
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '{')
			copies *= regex_interval_most(p);
		else if (*p == '+' && p > pattern && strchr(")}+*?", p[-1]))
			copies *= 2;
	}
	return p - pattern <= PATTERN_MOST && copies <= COPIES_MOST;
}

static int regex_compile(regex_t *re, const char *pattern, struct error *err)
{
	char why[128];
	int rc;

	if (!regex_is_cheap(pattern))
		return error_set(
			err, EINVAL,
			"'%.60s' could take hours: write it without back-references (\\1), with fewer repeats of repeats (up to %d copies), in up to %d bytes",
			pattern, COPIES_MOST, PATTERN_MOST);
	rc = regcomp(re, pattern, REG_EXTENDED);
	if (rc) {
		regerror(rc, re, why, sizeof(why));
		return error_set(err, EINVAL, "'%s' is not an extended regular expression: %s",
				 pattern, why);
	}
	if (re->re_nsub)
		return 0;
	regfree(re);
	return error_set(err, EINVAL, "'%s' has no (group) around the number to take", pattern);
}

/* A million usual lines take 1 to 5 s. */
enum { CPU_SECONDS_MOST = 10 };

static int rates_collect(const char *text, const char *file, const struct line_pattern *p,
			 struct rates *rates, struct error *err)
{
	uint64_t end = clock_thread_ns() + CPU_SECONDS_MOST * 1000000000ULL;
	autofree char *copy = xstrdup(text);
	char *rest = copy, *line;
	regex_t re;
	int rc = regex_compile(&re, p->re, err);

	if (rc)
		return rc;
	str_replace(copy, '\r', '\n');
	while (!rc && (line = str_token(&rest, '\n'))) {
		if (strlen(line) > LINE_MOST)
			rc = error_set(
				err, EBADMSG,
				"%s: a line of %zu bytes; a rate is looked for in lines of up to %d bytes: let the command end its lines",
				file, strlen(line), LINE_MOST);
		else
			rates_match_line(&re, p, line, rates);
		if (!rc && clock_thread_ns() > end)
			rc = error_set(
				err, EBADMSG,
				"%s: its rates were not found in %d s: let the command print fewer lines, or shorten '%s'",
				file, CPU_SECONDS_MOST, p->re);
	}
	regfree(&re);
	return rc;
}

/* Adds the points of all works. Returns -EBADMSG where their lines are not as many. */
static int rates_spread(const struct workload_run *run, const struct rates rates[WORK_N],
			const char *file, struct account *a, struct error *err)
{
	double span = (double)(run->ended_ns - run->started_ns);
	struct point p = {.t_ns = run->started_ns};
	size_t n = 0;

	for (int w = 0; w < WORK_N; w++) {
		if (n && rates[w].n && rates[w].n != n)
			return error_set(err, EBADMSG,
					 "%s: %zu and %zu lines with rates of two kinds", file, n,
					 rates[w].n);
		n = rates[w].n ? rates[w].n : n;
		a->points.has[w] = rates[w].n > 0;
	}
	if (!n)
		return error_set(err, ENODATA, "%s: no line with a rate in it", file);
	if (run->ended_ns <= run->started_ns)
		return error_set(err, EBADMSG, "run.json: no start and end of the command");
	points_add(&a->points, &p);
	for (size_t i = 0; i < n; i++) {
		p.t_ns = run->started_ns + (uint64_t)(span / (double)n * (double)(i + 1));
		for (int w = 0; w < WORK_N; w++)
			p.n[w] += rates[w].n ? rates[w].r[i] * span / (double)n / 1e9 : 0;
		points_add(&a->points, &p);
	}
	a->rates = n;
	return 0;
}

static int lines_parse(const char *text, const char *file, const struct line_pattern *table,
		       const struct workload_run *run, struct account *a, struct error *err)
{
	struct rates rates[WORK_N] = {0};
	int rc = 0;

	for (const struct line_pattern *p = table; !rc && p->re; p++)
		if (!rates[p->work].n)
			rc = rates_collect(text, file, p, &rates[p->work], err);
	rc = rc ?: rates_spread(run, rates, file, a, err);
	for (int w = 0; w < WORK_N; w++)
		free(rates[w].r);
	return rc;
}

#define REGEX_WORK(id, unit, units) {units "=", WORK_##id##S},

/* What the number of RE counts per second; the default is messages. */
static const struct {
	const char *prefix;
	enum work work;
} regex_works[] = {{"bytes=", WORK_BYTES}, WORK_UNITS(REGEX_WORK)};

static struct line_pattern regex_pattern(const char *arg)
{
	struct line_pattern p = {arg, WORK_MESSAGES, .scale = 1};

	for (size_t i = 0; i < array_size(regex_works); i++) {
		if (!str_starts(arg, regex_works[i].prefix))
			continue;
		p.re = arg + strlen(regex_works[i].prefix);
		p.work = regex_works[i].work;
	}
	return p;
}

/* The lines may be in standard output or standard error. `arg` is the expression of regex:RE. */
static int lines_read(const struct adapter *is, const struct workload_run *run, const char *arg,
		      struct account *a, struct error *err)
{
	static const char *const files[] = {"workload.out", "workload.err"};
	const struct line_pattern regex[2] = {is->lines ? *is->lines : regex_pattern(arg)};
	int rc = -ENODATA;

	for (size_t i = 0; rc == -ENODATA && i < array_size(files); i++) {
		autofree char *text = NULL;
		struct error why = {0};

		rc = workload_text(run, files[i], &text, &why);
		if (!rc) {
			if (is->lines_end && strstr(text, is->lines_end))
				*strstr(text, is->lines_end) = '\0';
			rc = lines_parse(text, files[i], is->lines ?: regex, run, a, &why);
		}
		if (rc)
			error_set(err, why.code, "%s", why.text);
	}
	return rc;
}

/* --- the programs --- */

/* Lines about the whole machine from xdp_rxq_info, xdp-bench, xdp1, pktgen and others. */
static const struct line_pattern pps_lines[] = {
	{"^XDP-RX CPU +total +([0-9][0-9.,]*)", WORK_PACKETS, .scale = 1},
	{"^Summary +([0-9][0-9.,]*) *(rx|xdp|pkt)s?/s", WORK_PACKETS, .scale = 1},
	{"([0-9][0-9.,]*) *(pps|pkts?/s|packets?/s|packets?/sec|rx/s)", WORK_PACKETS, .scale = 1},
	{0},
};

const struct adapter adapter_pps = {.name = "pps", .lines = pps_lines, .read = lines_read};

static const struct line_pattern wrk_lines[] = {
	{"^Requests/sec: +([0-9.]+)", WORK_MESSAGES, .scale = 1},
	{"^Transfer/sec: +([0-9.]+)([KMGT]?)B", WORK_BYTES, .scale = 1, .base = 1024},
	{0},
};

const struct adapter adapter_wrk = {
	.name = "wrk", .lines = wrk_lines, .of_sockets = true, .read = lines_read};

static const struct line_pattern ab_lines[] = {
	{"^Requests per second: +([0-9.]+)", WORK_MESSAGES, .scale = 1},
	{"^Transfer rate: +([0-9.]+) \\[Kbytes/sec\\]", WORK_BYTES, .scale = 1024},
	{0},
};

const struct adapter adapter_ab = {
	.name = "ab", .lines = ab_lines, .of_sockets = true, .read = lines_read};

/* A throughput test, or a latency test, whose messages are those that came back. */
static const struct line_pattern sockperf_lines[] = {
	{"Message Rate is ([0-9]+) \\[msg/sec\\]", WORK_MESSAGES, .scale = 1},
	{"BandWidth is ([0-9.]+) MBps", WORK_BYTES, .scale = 1048576},
	{"\\[Valid Duration\\] RunTime=([0-9.]+) sec;.* ReceivedMessages=([0-9]+)", WORK_MESSAGES,
	 .scale = 1, .per_s = 1, .time_first = true},
	{0},
};

const struct adapter adapter_sockperf = {
	.name = "sockperf", .lines = sockperf_lines, .read = lines_read};

/* One line for each connection: first those of the source, then those of the target. */
static const struct line_pattern kperf_lines[] = {
	{"[TR]x +[0-9.]+ Gbps \\(([0-9]+) bytes in ([0-9]+) usec\\)", WORK_BYTES, .scale = 1,
	 .per_s = 1e-6, .sum = true},
	{" ([0-9.]+) RPS", WORK_MESSAGES, .scale = 1, .sum = true},
	{0},
};

const struct adapter adapter_kperf = {
	.name = "kperf", .lines = kperf_lines, .lines_end = "== Target", .read = lines_read};

/* --- regex:RE --- */

/* Refuses a wrong expression before any run is made. */
static int regex_check(const char *arg, struct error *err)
{
	struct error why = {0};
	regex_t re;

	if (regex_compile(&re, regex_pattern(arg).re, &why))
		return error_set(err, EINVAL, "regex:%s: %s", arg, why.text);
	regfree(&re);
	return 0;
}

const struct adapter adapter_regex = {
	.name = "regex", .argument = "RE", .check = regex_check, .read = lines_read};
