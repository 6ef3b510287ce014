// SPDX-License-Identifier: GPL-2.0-only
#include "collect/power.h"

#include "collect/events/counting.h"
#include "collect/events/events.h"
#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <perf/cpumap.h>
#include <perf/evsel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Saves why a source cannot be opened. A source that is gone by now is no error. */
static void power_refuse(struct power_domains *list, int code, const char *what)
{
	if (code == EACCES || code == EPERM)
		list->denied = code;
	else if (error_of_machine(code))
		error_sys(&list->failed, code, "%s: cannot open", what);
}

/* --- energy counters through perf --- */

/*
 * RAPL's counters through perf: power/energy-pkg/ and the like, read on one CPU of each socket, in
 * units from sysfs. They are the same counters as powercap's and have the same domain names here.
 */

static const char pmu[] = "power";

/* THE TABLE of the events; %d is the socket. */
static const struct {
	const char *event, *domain;
} events[] = {
	{"energy-pkg", "package-%d"},
	{"energy-cores", "package-%d/core"},
	{"energy-gpu", "package-%d/uncore"},
	{"energy-ram", "package-%d/dram"},
	{"energy-psys", "psys"},
};

static int power_perf_socket(unsigned int cpu, struct error *err)
{
	char *text = host_label(err, "%s/devices/system/cpu/cpu%u/topology/physical_package_id",
				sysfs_root(), cpu);
	int socket = text ? atoi(text) : 0;

	free(text);
	return socket < 0 ? 0 : socket;
}

static int power_perf_open_on(const struct pmu_event *e, unsigned int cpu,
			      struct perf_evsel **evsel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = e->type,
		.config = e->config[0],
		.config1 = e->config[1],
		.config2 = e->config[2],
	};
	char number[16];
	struct perf_cpu_map *map;
	int rc;

	snprintf(number, sizeof(number), "%u", cpu);
	map = perf_cpu_map__new(number);
	*evsel = perf_evsel__new(&attr);
	rc = map && *evsel ? perf_evsel__open(*evsel, map, NULL) : -ENOMEM;
	perf_cpu_map__put(map);
	if (rc && *evsel)
		perf_evsel__delete(*evsel);
	return rc;
}

static char *power_perf_domain_name(const char *pattern, unsigned int cpu, struct error *err)
{
	const char *mark = strstr(pattern, "%d");

	if (!mark)
		return xstrdup(pattern);
	return xasprintf("%.*s%d%s", (int)(mark - pattern), pattern, power_perf_socket(cpu, err),
			 mark + 2);
}

/* Returns the microjoules of one count, or 0 when the event does not count joules. */
static double power_perf_unit(const struct pmu_event *e)
{
	if (!(e->scale > 0) || !isfinite(e->scale) || strcasecmp(e->unit, "Joules"))
		return 0;
	return e->scale * 1e6;
}

static void power_perf_add(struct power_domains *list, const char *pattern,
			   const struct pmu_event *e, unsigned int cpu)
{
	struct perf_evsel *evsel;
	int rc = power_perf_open_on(e, cpu, &evsel);

	if (rc) {
		power_refuse(list, -rc, pattern);
		return;
	}
	array_grow(list->d, list->n, list->cap);
	list->d[list->n++] =
		(struct power_domain){.source = "perf",
				      .name = power_perf_domain_name(pattern, cpu, &list->failed),
				      .fd = -1,
				      .energy = true,
				      .evsel = evsel,
				      .scale = power_perf_unit(e)};
}

static void power_find_perf(struct power_domains *list)
{
	struct pmu_event e;
	unsigned int cpu;
	size_t i;

	libperf_quiet();
	for (i = 0; i < array_size(events); i++) {
		if (!pmu_has_event(pmu, events[i].event) ||
		    pmu_event_read(&e, pmu, events[i].event, NULL) || !(power_perf_unit(&e) > 0))
			continue;
		if (!e.some_cpus)
			cpuset_add(&e.cpus, 0);
		for (cpu = 0; cpu < CPUSET_MAX; cpu++)
			if (cpuset_has(&e.cpus, cpu))
				power_perf_add(list, events[i].domain, &e, cpu);
	}
}

/* A CPU that goes offline takes its event along, and then there is no value. */
static int power_read_perf(const struct power_domain *d, uint64_t *microjoules)
{
	struct perf_counts_values v;

	errno = ENODEV; /* a read without data leaves it unchanged */
	if (perf_evsel__read(d->evsel, 0, 0, &v))
		return -errno;
	*microjoules = (uint64_t)((double)v.val * d->scale);
	return 0;
}

static void power_close_perf(struct power_domain *d)
{
	if (!d->evsel)
		return;
	perf_evsel__close(d->evsel);
	perf_evsel__delete(d->evsel);
}

/* --- what there is --- */

enum { METERS = 16 }; /* of one hwmon device */

enum { MOST_WATTS = 20000 }; /* no single energy counter grows faster */

static uint64_t power_attribute_number(const char *dir, const char *name)
{
	char *text = host_fact("%s/%s", dir, name);
	uint64_t n = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return n;
}

/* Adds a domain and owns `name`. */
static void power_add(struct power_domains *list, const char *source, char *name, const char *path,
		      bool energy, uint64_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		power_refuse(list, errno, path);
		free(name);
		return;
	}
	array_grow(list->d, list->n, list->cap);
	list->d[list->n++] = (struct power_domain){
		.source = source, .name = name, .fd = fd, .energy = energy, .max = max};
}

/* --- powercap: intel-rapl:0 is package-0, intel-rapl:0:1 a domain inside it --- */

static char *power_zone_name(const char *class, const char *zone, struct error *err)
{
	char *own = host_label(err, "%s/%s/name", class, zone), *name;
	const char *colon = strrchr(zone, ':');

	if (!own)
		own = xstrdup(zone);
	if (colon && strchr(zone, ':') != colon) {
		char *parent = xstrndup(zone, (size_t)(colon - zone));
		char *above = power_zone_name(class, parent, err);

		name = xasprintf("%s/%s", above, own);
		free(above);
		free(parent);
		free(own);
		return name;
	}
	return own;
}

/* The same package shows a second time through memory-mapped registers, and is skipped there. */
static bool power_is_zone(const char *name)
{
	return strchr(name, ':') && !str_starts(name, "intel-rapl-mmio");
}

static void power_add_zone(struct power_domains *list, const char *class, const char *zone)
{
	char *dir = xasprintf("%s/%s", class, zone), *path = xasprintf("%s/energy_uj", dir);

	if (power_is_zone(zone) && path_exists(path))
		power_add(list, "powercap", power_zone_name(class, zone, &list->failed), path, true,
			  power_attribute_number(dir, "max_energy_range_uj"));
	free(path);
	free(dir);
}

/* --- hwmon: what a board's or a supply's meter shows now, else its mean --- */

static const char *const meters[] = {"power%d_input", "power%d_average"};

static void power_add_meter(struct power_domains *list, const char *dir, const char *hwmon,
			    int number)
{
	char *chip = host_label(&list->failed, "%s/name", dir), *own = xasprintf("power%d", number);
	char *label = host_label(&list->failed, "%s/%s_label", dir, own);
	char *path = NULL, file[32];
	size_t i;

	for (i = 0; i < array_size(meters) && !path; i++) {
		snprintf(file, sizeof(file), meters[i], number);
		path = xasprintf("%s/%s", dir, file);
		if (path_exists(path))
			break;
		free(path);
		path = NULL;
	}
	if (path)
		power_add(list, "hwmon",
			  xasprintf("%s@%s/%s", chip ? chip : "meter", hwmon, label ? label : own),
			  path, false, 0);
	free(path);
	free(label);
	free(own);
	free(chip);
}

static void power_add_hwmon(struct power_domains *list, const char *class, const char *hwmon)
{
	char *dir = xasprintf("%s/%s", class, hwmon);
	int i;

	for (i = 1; i <= METERS; i++)
		power_add_meter(list, dir, hwmon, i);
	free(dir);
}

static void power_each_entry(struct power_domains *list, const char *class,
			     void (*one)(struct power_domains *, const char *, const char *))
{
	struct dirent **entries;
	int i, n = scandir(class, &entries, NULL, versionsort);

	if (n < 0 && error_of_machine(errno))
		error_sys(&list->failed, errno, "%s: cannot read", class);
	for (i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.')
			one(list, class, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static bool power_has_energy(const struct power_domains *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->d[i].energy)
			return true;
	return false;
}

void power_find(struct power_domains *list)
{
	char *powercap = xasprintf("%s/class/powercap", sysfs_root());
	char *hwmon = xasprintf("%s/class/hwmon", sysfs_root());

	power_each_entry(list, powercap, power_add_zone);
	if (!power_has_energy(list))
		power_find_perf(list);
	power_each_entry(list, hwmon, power_add_hwmon);
	free(powercap);
	free(hwmon);
}

void power_free(struct power_domains *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (list->d[i].fd >= 0)
			close(list->d[i].fd);
		power_close_perf(&list->d[i]);
		free(list->d[i].name);
	}
	free(list->d);
	*list = (struct power_domains){0};
}

static int power_read_number(int fd, uint64_t *value)
{
	char text[32], *end;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	errno = 0;
	*value = strtoull(text, &end, 10);
	return end == text || errno ? -EINVAL : 0;
}

/*
 * Says whether the counter wrapped. After a reset it would seem to have grown faster than
 * MOST_WATTS.
 */
static bool power_went_round(const struct power_domain *d, uint64_t value, uint64_t now_ns)
{
	double microjoules = (double)(d->max - d->last) + (double)value;

	return d->max >= d->last &&
	       microjoules <= (double)MOST_WATTS * (double)(now_ns - d->last_ns) / 1e3;
}

int power_read(struct power_domain *d, uint64_t now_ns, uint64_t *value)
{
	uint64_t now = 0;
	int rc = d->evsel ? power_read_perf(d, &now) : power_read_number(d->fd, &now);

	if (rc)
		return rc;
	if (d->energy && d->read && now < d->last) {
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
