// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power, from whatever this host has: energy counters, meters, the log of an external meter. Kept
 * in memory during the window: a reading costs one pread per domain.
 */
#include "collect/power.h"

#include "collect/collect.h"
#include "collect/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct power {
	struct power_domains domains;
	struct str rows;
};

static const char heading[] = "source\tdomain\tt_ns\tmicrojoules\twatts\n";

static int probe(struct collect *c)
{
	const char *root = getenv("ZCOST_SYSFS");
	struct power_domains list = {0};

	power_find(&list, root ? root : "/sys");
	if (!list.n && !c->run->npower_csv) {
		if (list.denied)
			return error_set(&c->err, EACCES,
					 "energy counters are there but not readable: run as root");
		return error_set(&c->err, ENODEV,
				 "no power source: neither powercap nor hwmon meters on this "
				 "host; --power-csv takes an external meter's log");
	}
	c->data = xcalloc(1, sizeof(struct power));
	((struct power *)c->data)->domains = list;
	return 0;
}

/* "powercap", "powercap,hwmon", "csv" ... */
static int prepare(struct collect *c)
{
	struct power *p = c->data;
	const char *last = "";
	struct str sources = {0};
	size_t i;

	for (i = 0; i < p->domains.n; i++) {
		if (!strcmp(last, p->domains.d[i].source))
			continue;
		last = p->domains.d[i].source;
		str_printf(&sources, "%s%s", sources.len ? "," : "", last);
	}
	if (c->run->npower_csv)
		str_printf(&sources, "%scsv", sources.len ? "," : "");
	collect_info_str(c, "source", sources.buf);
	str_free(&sources);
	return 0;
}

static void take_one(struct collect *c, struct power *p, struct power_domain *d)
{
	uint64_t value, now = clock_mono_ns();
	int rc = power_read(d, &value);

	if (rc) {
		d->gone = true;
		collect_degraded(c, "%s: %s", d->name,
				 rc == -ERANGE ? "the energy counter was set back" : strerror(-rc));
		return;
	}
	str_printf(&p->rows, "%s\t%s\t%" PRIu64, d->source, d->name, now);
	if (d->energy)
		str_printf(&p->rows, "\t%" PRIu64 "\t\n", value);
	else
		str_printf(&p->rows, "\t\t%" PRIu64 ".%06u\n", value / 1000000,
			   (unsigned int)(value % 1000000));
}

static int take(struct collect *c)
{
	struct power *p = c->data;
	size_t i;

	for (i = 0; i < p->domains.n; i++)
		if (!p->domains.d[i].gone)
			take_one(c, p, &p->domains.d[i]);
	return 0;
}

static void save(struct collect *c, const struct power *p)
{
	char *path = collect_path(c, "power.tsv"), *text = xasprintf("%s%s", heading, p->rows.buf);
	struct error err = {0};

	if (file_write(path, text, strlen(text), &err))
		collect_degraded(c, "%s", err.text);
	free(text);
	free(path);
}

/* As they came: the meter's clock and columns are the reader's business. */
static void copy_logs(struct collect *c)
{
	size_t i;

	for (i = 0; i < c->run->npower_csv; i++) {
		struct error err = {0};
		char *path = collect_path(c, c->is->files[i + 1]);

		if (file_copy(c->run->power_csv[i], path, &err))
			collect_degraded(c, "%s", err.text);
		free(path);
	}
}

static void finish(struct collect *c)
{
	struct power *p = c->data;

	if (p->rows.len)
		save(c, p);
	copy_logs(c);
	power_free(&p->domains);
	str_free(&p->rows);
	free(p);
}

const struct collector collector_power = {
	.name = "power",
	.what = "energy counters, power meters, an external meter's log",
	.files = {"power.tsv", "power.csv", "power-2.csv", "power-3.csv", "power-4.csv"},
	.probe = probe,
	.prepare = prepare,
	.start = take,
	.snap = take,
	.stop = take,
	.finish = finish,
};
