// SPDX-License-Identifier: GPL-2.0-only
/* The percentiles of the latency of requests that programs print. */
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>

static const struct {
	double percent;
	const char *name;
} latencies[LATENCIES] = {
	{50, "p50"},	 {75, "p75"},	    {90, "p90"},	 {95, "p95"},  {99, "p99"},
	{99.9, "p99.9"}, {99.99, "p99.99"}, {99.999, "p99.999"}, {100, "max"},
};

const char *latency_name(size_t i)
{
	return latencies[i].name;
}

/*
 * The lines of each program: a percentage, the latency, and its unit where that varies. Of one
 * program, the first format that matches a line counts. ab prints whole ms, and more digits with
 * -e. The fields of netperf's omni test are us, those of neper are s.
 */
static const struct latency_format {
	const char *units, *format;
	double us; /* in the number's unit; 0: the text behind the number is the unit */
} formats[] = {
	{"wrk", " %lf%% %lf%2[a-z]", 0},    {"ab", "%lf,%lf", 1e3},
	{"ab", " %lf%% %lf", 1e3},	    {"sockperf", "sockperf: ---> percentile %lf = %lf", 1},
	{"netperf", "P%lf_LATENCY=%lf", 1}, {"neper", "latency_p%lf=%lf", 1e6},
};

static double latency_unit(const char *text)
{
	static const struct {
		const char *unit;
		double us;
	} units[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}, {"h", 3600e6}};

	for (size_t i = 0; i < array_size(units); i++)
		if (!strcmp(units[i].unit, text))
			return units[i].us;
	return NAN;
}

static bool latency_parse_line(const struct latency_format *f, const char *line,
			       double us[LATENCIES])
{
	double percent, latency;
	char unit[3] = "";
	int n = f->us > 0 ? sscanf(line, f->format, &percent, &latency) + 1
			  : sscanf(line, f->format, &percent, &latency, unit);

	latency *= f->us > 0 ? f->us : latency_unit(unit);
	if (n < 3 || !(latency >= 0) || !isfinite(latency))
		return false;
	for (size_t i = 0; i < LATENCIES; i++)
		if (fabs(percent - latencies[i].percent) < 1e-6)
			us[i] = latency;
	return true;
}

static bool latency_parse(const struct latency_format *f, const char *text, double us[LATENCIES])
{
	bool found = false;
	char *line;

	each_part (line, text, '\n')
		found |= latency_parse_line(f, line, us);
	return found;
}

bool latency_read(const struct workload_run *run, const char *units, double us[LATENCIES])
{
	static const char *const files[] = {"workload.out", "workload.err"};
	bool found = false;

	for (size_t i = 0; i < LATENCIES; i++)
		us[i] = NAN;
	for (size_t i = 0; i < array_size(formats) && !found; i++)
		for (size_t k = 0; k < array_size(files) && !strcmp(formats[i].units, units); k++) {
			autofree char *text = NULL;

			if (!workload_text(run, files[k], &text, NULL))
				found |= latency_parse(&formats[i], text, us);
		}
	return found;
}
