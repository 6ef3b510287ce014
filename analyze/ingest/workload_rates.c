// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workloads that print rates without times. `pps` knows the lines of common packet tools;
 * `regex:RE` takes the first group of every line that RE matches. n lines divide the time between
 * the command's start and end into n equal parts, each at the rate of its line.
 *
 * A regex that begins with "bytes=", "messages=" or "packets=" names what its number counts per
 * second; the default is messages.
 */
#include "analyze/ingest/workload.h"

#include "lib/alloc.h"
#include "lib/program_text.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Lines about the whole machine from xdp_rxq_info, xdp-bench, xdp1, pktgen and others; the first
 * pattern that matches counts.
 */
static const char *const pps_patterns[] = {
	"^XDP-RX CPU +total +([0-9][0-9.,]*)",
	"^Summary +([0-9][0-9.,]*) *(rx|xdp|pkt)s?/s",
	"([0-9][0-9.,]*) *(pps|pkts?/s|packets?/s|packets?/sec|rx/s)",
};

/* "8,165,032" and "8165032.5": commas group thousands. */
static double rates_parse_number(const char *text, size_t len)
{
	char *copy = xstrndup(text, len), *from, *to;
	double x;

	for (from = to = copy; *from; from++)
		if (*from != ',')
			*to++ = *from;
	*to = '\0';
	x = strtod(copy, NULL);
	free(copy);
	return x;
}

struct rates {
	double *r;
	size_t n, cap;
};

static bool rates_match_line(const regex_t *re, const char *line, struct rates *rates)
{
	regmatch_t m[2];

	if (regexec(re, line, 2, m, 0) || m[1].rm_so < 0)
		return false;
	array_grow(rates->r, rates->n, rates->cap);
	rates->r[rates->n++] =
		rates_parse_number(line + m[1].rm_so, (size_t)(m[1].rm_eo - m[1].rm_so));
	return true;
}

/*
 * The time of a match grows with the square of the line's length: 4 MB of digits take many
 * minutes.
 */
enum { LINE_MOST = 4096 };

static int rates_check_lines(const char *text, struct error *err)
{
	size_t line, len;

	for (line = 1; *text; line++, text += text[len] ? len + 1 : len) {
		len = strcspn(text, "\n");
		if (len > LINE_MOST)
			return error_set(
				err, EBADMSG,
				"workload.out, line %zu: %zu bytes; a rate is looked for in lines of up to %d bytes: let the command end its lines",
				line, len, LINE_MOST);
	}
	return 0;
}

/* Collects the rates of all lines that match the first pattern that matches any line. */
static int rates_collect(char *text, const char *const *patterns, size_t n, struct rates *rates,
			 struct error *err)
{
	char *copy, *rest, *line;
	regex_t re;
	size_t i;
	int rc = rates_check_lines(text, err);

	if (rc)
		return rc;
	for (i = 0; i < n && !rates->n; i++) {
		rc = rate_regex_compile(&re, patterns[i], err);
		if (rc)
			return rc;
		rest = copy = xstrdup(text);
		while ((line = str_token(&rest, '\n')))
			rates_match_line(&re, line, rates);
		free(copy);
		regfree(&re);
	}
	return rates->n ? 0 : error_set(err, ENODATA, "workload.out: no line with a rate in it");
}

static int rates_spread(struct ingest *in, const struct rates *rates, enum work w,
			struct points *ps, struct error *err)
{
	double span = (double)(in->ended_ns - in->started_ns), part = span / (double)rates->n;
	struct point p = {.t_ns = in->started_ns};
	size_t i;

	if (in->ended_ns <= in->started_ns)
		return error_set(err, EBADMSG, "run.json: no start and end of the command");
	ps->has[w] = true;
	points_add(ps, &p);
	for (i = 0; i < rates->n; i++) {
		p.t_ns = in->started_ns + (uint64_t)(part * (double)(i + 1));
		p.n[w] += rates->r[i] * part / 1e9;
		points_add(ps, &p);
	}
	note_add(&in->notes, rates_spread, rates->n, span / 1e9);
	return 0;
}

static int rates_read(struct ingest *in, char *text, const char *const *patterns, size_t n,
		      enum work w, struct points *ps, struct error *err)
{
	struct rates rates = {0};
	int rc = rates_collect(text, patterns, n, &rates, err);

	if (!rc)
		rc = rates_spread(in, &rates, w, ps, err);
	free(rates.r);
	return rc;
}

static int pps_parse(struct ingest *in, char *text, const char *arg, struct points *ps,
		     struct error *err)
{
	(void)arg;
	return rates_read(in, text, pps_patterns, array_size(pps_patterns), WORK_PACKETS, ps, err);
}

const struct adapter adapter_pps = {.name = "pps", .parse = pps_parse};

static int regex_parse(struct ingest *in, char *text, const char *arg, struct points *ps,
		       struct error *err)
{
	static const enum work works[] = {[RATE_MESSAGES] = WORK_MESSAGES,
					  [RATE_BYTES] = WORK_BYTES,
					  [RATE_PACKETS] = WORK_PACKETS};
	enum rate_of of;

	if (!arg || !*arg)
		return error_set(err, EINVAL, "units 'regex' needs an expression: regex:RE");
	arg = rate_regex_skip(arg, &of);
	return rates_read(in, text, &arg, 1, works[of], ps, err);
}

const struct adapter adapter_regex = {.name = "regex", .argument = "RE", .parse = regex_parse};
