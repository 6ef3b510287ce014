// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power, from all sources of this host: the energy counters of powercap (RAPL), commands that print
 * watts, the logs of external meters. The name of a counter says where it lies, such as
 * "package-0/core". A reading of a counter costs one pread and stays in memory during the window.
 */
#include "collect/power_poll.h"

#include "collect/collect.h"
#include "collect/host.h"
#include "collect/options.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An energy counter, in microjoules. */
struct domain {
	char *name;
	int fd;
	uint64_t max; /* it wraps behind this value; 0: unknown */
	uint64_t last, base, last_ns;
	bool read, gone;
};

struct power {
	struct domain *d;
	size_t n, cap;
	bool denied;	     /* a counter may not be read */
	struct error failed; /* a counter, or its name, that the machine could not read */
	struct power_poll *command;
	struct str rows;
};

enum { MOST_WATTS = 20000 }; /* no single energy counter grows faster */

static const char heading[] = "source\tdomain\tt_ns\tmicrojoules\twatts\n";

/* --- what there is --- */

/* Returns the name of a zone: intel-rapl:0 is package-0, intel-rapl:0:1 a domain inside it. */
static char *power_zone_name(const char *class, const char *zone, struct error *err)
{
	char *own = host_label(err, "%s/%s/name", class, zone), *name, *parent, *above;
	const char *colon = strrchr(zone, ':');

	if (!own)
		own = xstrdup(zone);
	if (strchr(zone, ':') == colon)
		return own;
	parent = xstrndup(zone, (size_t)(colon - zone));
	above = power_zone_name(class, parent, err);
	name = xasprintf("%s/%s", above, own);
	free(above);
	free(parent);
	free(own);
	return name;
}

/*
 * Adds a counter. One that is gone by now is no error. The same package shows a second time through
 * memory-mapped registers, and is skipped there.
 */
static void power_add_zone(void *power, const char *class, const char *zone, struct error *err)
{
	autofree char *path = xasprintf("%s/%s/energy_uj", class, zone);
	autofree char *max = host_fact("%s/%s/max_energy_range_uj", class, zone);
	bool is_zone = strchr(zone, ':') && !str_starts(zone, "intel-rapl-mmio");
	int fd = is_zone ? open(path, O_RDONLY | O_CLOEXEC) : -ENOENT;
	struct power *p = power;

	if (fd >= 0)
		array_add(p->d, p->n, p->cap,
			  (struct domain){.name = power_zone_name(class, zone, err),
					  .fd = fd,
					  .max = max ? strtoull(max, NULL, 10) : 0});
	else if (is_zone && (errno == EACCES || errno == EPERM))
		p->denied = true;
	else if (is_zone && error_of_machine(errno))
		error_sys(err, errno, "%s: cannot open", path);
}

static void power_release(struct power *p)
{
	size_t i;

	for (i = 0; i < p->n; i++) {
		close(p->d[i].fd);
		free(p->d[i].name);
	}
	free(p->d);
	str_free(&p->rows);
	free(p);
}

/* Lists the sources in `info`, such as "powercap,command". */
static void power_list_sources(struct collect *c, const struct power *p)
{
	autofree char *list =
		xasprintf("%s%s%s", p->n ? ",powercap" : "",
			  c->run->power_command ? ",command" : "", c->run->power_csv ? ",csv" : "");

	if (*list)
		collect_info_str(c, "source", list + 1);
}

static int power_probe(struct collect *c)
{
	static const char denied[] = "energy counters are there but not readable: run as root";
	autofree char *class = xasprintf("%s/class/powercap", sysfs_root());
	bool other = c->run->power_command || c->run->power_csv;
	struct power *p = xcalloc(1, sizeof(*p));

	host_each(class, power_add_zone, p, &p->failed);
	if (p->failed.code)
		collect_degraded(c, "%s", p->failed.text);
	else if (p->denied && !p->n && !other)
		error_set(&c->err, EACCES, "%s", denied);
	else if (!p->n && !other)
		error_set(
			&c->err, ENODEV,
			"no power source: no energy counters (powercap) on this host; --power-command runs a program that prints watts, --power-csv takes an external meter's log");
	else if (p->denied)
		collect_why(c, "%s", denied); /* the other sources are read without them */
	if (c->err.code) {
		power_release(p);
		return -c->err.code;
	}
	power_list_sources(c, p);
	c->data = p;
	return 0;
}

/* A command that does not start is a loss: the user named it. */
static int power_prepare(struct collect *c)
{
	const char *kind, *command;
	struct power *p = c->data;
	struct error err = {0};
	char *path, *about;

	if (!c->run->power_command)
		return 0;
	power_command_split(c->run->power_command, &kind, &command, NULL);
	path = collect_path(c, c->is->files[1]);
	about = xasprintf("# kind: %s\n# command: %s\n", kind, command);
	if (power_poll_start(&p->command, c->run, command, path, about, &err)) {
		collect_degraded(c, "%s", err.text);
		unlink(path);
	}
	free(about);
	free(path);
	return 0;
}

/* --- readings --- */

/*
 * Says whether the counter wrapped. After a reset it would seem to have grown faster than
 * MOST_WATTS.
 */
static bool power_went_round(const struct domain *d, uint64_t value, uint64_t now_ns)
{
	double microjoules = (double)(d->max - d->last) + (double)value;

	return d->max >= d->last &&
	       microjoules <= (double)MOST_WATTS * (double)(now_ns - d->last_ns) / 1e3;
}

/*
 * Reads the microjoules since an arbitrary start, unwrapped from the first reading on. Returns 0 or
 * -errno; -ERANGE: the counter was set back.
 */
static int power_read_counter(struct domain *d, uint64_t now_ns, uint64_t *value)
{
	char text[32], *end;
	ssize_t n = pread(d->fd, text, sizeof(text) - 1, 0);
	uint64_t now;

	if (n < 0)
		return -errno;
	text[n] = '\0';
	errno = 0;
	now = strtoull(text, &end, 10);
	if (end == text || errno)
		return -EINVAL;
	if (d->read && now < d->last) {
		if (!power_went_round(d, now, now_ns))
			return -ERANGE; /* the energy in between is unknown */
		d->base += d->max;
	}
	d->read = true;
	d->last = now;
	d->last_ns = now_ns;
	*value = d->base + now;
	return 0;
}

static int power_read_all(struct collect *c)
{
	struct power *p = c->data;
	struct domain *d;

	if (p->n && !p->rows.len)
		str_puts(&p->rows, heading);
	for (d = p->d; d < p->d + p->n; d++) {
		uint64_t value = 0, now = clock_mono_ns();
		int rc;

		if (d->gone)
			continue;
		rc = power_read_counter(d, now, &value);
		d->gone = rc;
		if (rc)
			collect_degraded(c, "%s: %s", d->name,
					 rc == -ERANGE ? "the energy counter was set back"
						       : strerror(-rc));
		else
			str_printf(&p->rows, "powercap\t%s\t%" PRIu64 "\t%" PRIu64 "\t\n", d->name,
				   now, value);
	}
	return 0;
}

/* Waits until the last reading of the command lies behind the window's end. */
static int power_after(struct collect *c)
{
	struct power *p = c->data;

	if (p->command && c->run->end_ns)
		return power_poll_until(p->command, c->run->end_ns, &c->err);
	return 0;
}

/* Copies the log unchanged: zcost analyze understands the meter's clock and columns. */
static void power_copy_log(struct collect *c)
{
	autofree char *path = collect_path(c, c->is->files[2]);
	struct error err = {0};
	autofree char *log = NULL;
	size_t len;

	if (c->run->power_csv &&
	    (file_read(c->run->power_csv, &log, &len, &err) || file_write(path, log, len, &err)))
		collect_degraded(c, "%s", err.text);
}

static void power_finish(struct collect *c)
{
	struct power *p = c->data;
	struct error err = {0};

	if (p->command && power_poll_stop(p->command, &err))
		collect_degraded(c, "%s", err.text);
	collect_write(c, c->is->files[0], &p->rows);
	power_copy_log(c);
	power_release(p);
}

const struct collector collector_power = {
	.name = "power",
	.what = "energy counters, commands that print watts, a meter's log",
	.files = {"power.tsv", "power-command.snap", "power.csv"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.probe = power_probe,
	.prepare = power_prepare,
	.start = power_read_all,
	.snap = power_read_all,
	.stop = power_read_all,
	.after = power_after,
	.finish = power_finish,
};
