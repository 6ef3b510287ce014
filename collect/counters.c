// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event counts of the side's CPUs over the window, as the kernel gives them: with the time that
 * each event was enabled and the time that it had a hardware counter, and not scaled. The events of
 * a group are counted at the same times. The first one leads and the others run when it does, so
 * switching the leader switches all of them. An event that this host does not have gets a row that
 * says so.
 */
#include "collect/collect.h"
#include "collect/events/events.h"
#include "collect/run/run.h"
#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

struct counters {
	struct event_list events;
	struct counting *of; /* one of each */
	struct str rows;
};

static const char heading[] =
	"event\tcpu\tvalue\tenabled_ns\trunning_ns\tgroup\tscope\tscale\tunit\tstate\n";

/* Opens an event in its group, or by itself where the hardware cannot count it with the group. */
static void counters_open_event(struct collect *c, struct counters *k, size_t i,
				struct str *ungrouped)
{
	const struct event *e = k->events.e;
	struct counting *leader = NULL, *of = &k->of[i];

	for (size_t first = 0; first < i && !leader; first++)
		if (e[first].group == e[i].group && !k->of[first].rc && k->of[first].leads)
			leader = &k->of[first];
	if (!counting_open(of, &e[i], &c->run->cpus, leader) && leader)
		of->group = leader->group = e[i].group;
	else if (of->rc == -EINVAL && leader && !counting_open(of, &e[i], &c->run->cpus, NULL))
		str_item(ungrouped, !ungrouped->len, false, e[i].name);
}

/*
 * Events that are not counted are a loss where the user chose them or the machine failed, else a
 * remark.
 */
static int counters_open_all(struct collect *c, struct counters *k)
{
	freed(str_free) struct str missing = {0}, ungrouped = {0};
	bool failed = false;
	size_t open = 0;
	int rc = -ENOENT;

	for (size_t i = 0; i < k->events.n; i++) {
		counters_open_event(c, k, i, &ungrouped);
		open += !k->of[i].rc;
		if (!k->of[i].rc)
			continue;
		rc = k->of[i].rc;
		failed |= error_of_machine(-rc);
		str_item(&missing, !missing.len, false, k->events.e[i].name);
		if (rc != -ENOENT && rc != -EOPNOTSUPP && rc != -ENODEV && rc != -EINVAL)
			str_printf(&missing, " (%s)", strerror(-rc));
	}
	if (ungrouped.len)
		collect_info_str(c, "ungrouped", ungrouped.buf);
	if (open && missing.len && failed)
		collect_degraded(c, "not counted: %s", missing.buf);
	else if (open && missing.len && c->run->events)
		collect_degraded(c, "not supported on this host: %s", missing.buf);
	else if (open && missing.len)
		collect_why(c, "not on this host: %s", missing.buf);
	else if (!open && (rc == -ENOENT || rc == -EOPNOTSUPP))
		error_set(&c->err, ENOENT,
			  "this host has none of %s (a virtual machine may have no PMU)",
			  missing.buf);
	else if (!open)
		perf_event_denied(-rc, &c->err);
	return -c->err.code;
}

static int counters_prepare(struct collect *c)
{
	struct counters *k = c->data = xcalloc(1, sizeof(*k));
	int rc;

	c->asked |= c->run->events != NULL;
	rc = event_list_read(&k->events, c->run->events ? c->run->events : events_default, &c->err);
	if (rc)
		return rc;
	k->of = xcalloc(k->events.n, sizeof(*k->of));
	return counters_open_all(c, k);
}

static int counters_start(struct collect *c)
{
	struct counters *k = c->data;

	for (size_t i = 0; i < k->events.n; i++) {
		int rc = k->of[i].leads ? counting_switch(&k->of[i], true) : 0;

		if (rc)
			return error_sys(&c->err, -rc, "%s: cannot be switched on",
					 k->events.e[i].name);
	}
	return 0;
}

static void counters_add_about(struct str *rows, const struct event *e, unsigned int group,
			       const char *state)
{
	str_printf(rows, "\t%u\t%s\t", group, e->per_socket ? "socket" : "cpu");
	if (e->scale != 1)
		str_printf(rows, "%.20g", e->scale);
	str_printf(rows, "\t%s\t%s\n", e->unit, state);
}

/* A CPU that went offline may give no value any more. */
static void counters_read_cpu(struct collect *c, struct counters *k, size_t i,
			      const struct counted *on)
{
	const struct event *e = &k->events.e[i];
	uint64_t v[3]; /* the count, and the times enabled and running */

	errno = ENODEV; /* a read without data leaves it unchanged */
	if (read(on->fd, v, sizeof(v)) != sizeof(v)) {
		collect_degraded(c, "%s: CPU %u cannot be read: %s%s", e->name, on->cpu,
				 strerror(errno), errno == ENODEV ? " (offline?)" : "");
		return;
	}
	str_printf(&k->rows, "%s\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, e->name, on->cpu, v[0],
		   v[1], v[2]);
	counters_add_about(&k->rows, e, k->of[i].group, "");
}

/*
 * Switches all events off, the last one first. They are read in `after`, because that takes longer.
 */
static int counters_stop(struct collect *c)
{
	struct counters *k = c->data;
	int rc;

	for (size_t i = k->events.n; i--;)
		if (k->of[i].leads && (rc = counting_switch(&k->of[i], false)))
			error_sys(&c->err, -rc, "%s: cannot be switched off, so it counted longer",
				  k->events.e[i].name);
	return -c->err.code;
}

static int counters_after(struct collect *c)
{
	struct counters *k = c->data;

	str_puts(&k->rows, heading);
	for (size_t i = 0; i < k->events.n; i++) {
		if (k->of[i].rc) {
			str_printf(&k->rows, "%s\t\t\t\t", k->events.e[i].name);
			counters_add_about(&k->rows, &k->events.e[i], k->of[i].group,
					   "not-supported");
		}
		for (size_t at = 0; at < k->of[i].n; at++)
			counters_read_cpu(c, k, i, &k->of[i].on[at]);
	}
	return 0;
}

static void counters_finish(struct collect *c)
{
	autofree struct counters *k = c->data;

	collect_write(c, c->is->files[0], &k->rows);
	for (size_t i = 0; k->of && i < k->events.n; i++)
		counting_close(&k->of[i]);
	free(k->of);
	event_list_free(&k->events);
	str_free(&k->rows);
}

const struct collector collector_counters = {
	.name = "counters",
	.what = "cycles, instructions, cache, context switches per CPU, or any --events",
	.files = {"counters.tsv"},
	.passes = PASS_MEASURE,
	.prepare = counters_prepare,
	.start = counters_start,
	.stop = counters_stop,
	.after = counters_after,
	.finish = counters_finish,
};
