// SPDX-License-Identifier: GPL-2.0-only
#include "collect/collect.h"

#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/snap.h"
#include "collect/options.h"
#include "lib/command.h"

#include <errno.h>
#include <unistd.h>

void collect_why(struct collect *c, const char *fmt, ...)
{
	c->why = c->why ?: xformat(fmt);
}

void collect_degraded(struct collect *c, const char *fmt, ...)
{
	if (c->state == COLLECT_UNSUPPORTED)
		return;
	if (c->state == COLLECT_OK) {
		free(c->why); /* a reason replaces a remark */
		c->why = NULL;
	}
	c->state = COLLECT_DEGRADED;
	c->why = c->why ?: xformat(fmt);
}

void collect_info_str(struct collect *c, const char *key, const char *value)
{
	json_object_set_new(c->info, key, json_string(value));
}

void collect_info_int(struct collect *c, const char *key, int64_t value)
{
	json_object_set_new(c->info, key, json_integer(value));
}

char *collect_path(const struct collect *c, const char *name)
{
	return xasprintf("%s/%s", c->run->dir, name);
}

void collect_write(struct collect *c, const char *name, const struct str *text)
{
	autofree char *path = collect_path(c, name);
	struct error err = {0};

	if (text->len && file_write(path, text->buf, text->len, &err))
		collect_degraded(c, "%s", err.text);
}

/* --- readings --- */

enum { SHARE = 1000 };

static int reading_write(struct collect *c)
{
	struct reading *r = &c->reading;
	int rc = snap_append(r->fd, r->began_ns, r->text.buf ? r->text.buf : "", r->text.len);
	uint64_t took = clock_thread_ns() - r->cpu_ns;

	r->n++;
	r->spent_ns += took;
	r->longest_ns = took > r->longest_ns ? took : r->longest_ns;
	r->next_ns = r->began_ns + took * SHARE;
	return rc ? error_sys(&c->err, -rc, "%s: cannot write", c->is->files[0]) : 0;
}

/* Takes a reading by the collector's hook `read` and writes it. Returns 0 or -errno. */
static int reading_take(struct collect *c)
{
	struct reading *r = &c->reading;
	int rc;

	r->began_ns = clock_mono_ns();
	str_reset(&r->text);
	r->cpu_ns = clock_thread_ns();
	rc = c->is->read(c);
	return rc ? rc : reading_write(c);
}

static int reading_take_when_due(struct collect *c)
{
	if (c->is->always_due || clock_mono_ns() >= c->reading.next_ns)
		return reading_take(c);
	c->reading.skipped++;
	return 0;
}

static void reading_close(struct collect *c)
{
	const struct reading *r = &c->reading;

	if (!c->is->always_due && r->n) {
		collect_info_int(c, "readings", r->n);
		collect_info_int(c, "reading_us", (int64_t)(r->spent_ns / r->n / 1000));
		collect_info_int(c, "longest_us", (int64_t)(r->longest_ns / 1000));
	}
	if (!c->is->always_due && r->skipped)
		collect_info_int(c, "skipped", r->skipped);
	if (c->reading.fd > 0)
		close(c->reading.fd);
	str_free(&c->reading.text);
	c->reading = (struct reading){0};
}

/* --- the hooks --- */

static void collector_set_unsupported(struct collect *c)
{
	c->state = COLLECT_UNSUPPORTED;
	collect_why(c, "%s", c->err.text[0] ? c->err.text : "not possible here");
	c->err = (struct error){0};
}

void collect_prepare(struct collect *list, size_t n)
{
	for (struct collect *c = list; c < list + n; c++) {
		sync_print(c->run, "step preparing %s", c->is->name);
		if (c->is->probe && c->is->probe(c)) {
			collector_set_unsupported(c);
			continue;
		}
		c->prepared = true;
		if (c->is->prepare && c->is->prepare(c)) {
			collector_set_unsupported(c);
			continue;
		}
		if (!c->is->read)
			continue;
		str_free(&c->reading.text);
		c->reading.fd = run_create_file(c->run, c->is->files[0], &c->err);
		if (c->err.code)
			collector_set_unsupported(c);
	}
}

/* Calls a hook of one collector in the window. A failure degrades this collector and no other. */
static void collector_step(struct collect *c, collect_hook *hook)
{
	if (c->state == COLLECT_UNSUPPORTED || !hook || !hook(c))
		return;
	collect_degraded(c, "%s", c->err.text[0] ? c->err.text : "failed while measuring");
	c->err = (struct error){0};
}

/*
 * Calls a hook and saves the times before and after it: how far collectors are apart is a figure of
 * the run.
 */
static void collector_step_timed(struct collect *c, collect_hook *hook, struct cut *when)
{
	if (c->state == COLLECT_UNSUPPORTED || !hook)
		return;
	when->from = clock_mono_ns();
	collector_step(c, hook);
	when->to = clock_mono_ns();
}

void collect_before(struct collect *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		collector_step(&list[i], list[i].is->before);
}

/* A collector with `read` takes a reading where it has no hook of its own. */
static collect_hook *collector_hook(const struct collector *is, collect_hook *own)
{
	return is->read && !own ? reading_take : own;
}

void collect_start(struct collect *list, size_t n, enum collect_when when)
{
	for (struct collect *c = list; c < list + n; c++)
		if (c->is->when == when)
			collector_step_timed(c, collector_hook(c->is, c->is->start), &c->on);
}

/* Calls a hook inside the window, and counts what it costs. */
static void collector_look(struct collect *c, collect_hook *hook)
{
	uint64_t from = clock_thread_ns();

	collector_step(c, hook);
	c->looks++;
	c->looks_ns += clock_thread_ns() - from;
}

void collect_snap(struct collect *list, size_t n, bool dated_only)
{
	for (struct collect *c = list; c < list + n; c++) {
		collect_hook *hook =
			c->is->read && c->is->when == DATED ? reading_take_when_due : c->is->snap;

		if (!hook || (dated_only && c->is->when != DATED))
			continue;
		if (dated_only)
			collector_step(c, hook);
		else
			collector_look(c, hook);
	}
}

uint64_t collect_turn(struct collect *list, size_t n)
{
	uint64_t next = UINT64_MAX;

	for (struct collect *c = list; c < list + n; c++) {
		if (!c->is->turn || c->state == COLLECT_UNSUPPORTED)
			continue;
		if (clock_mono_ns() >= c->turn_ns)
			collector_look(c, c->is->turn);
		next = c->turn_ns < next ? c->turn_ns : next;
	}
	return next;
}

bool collect_part_is_due(struct collect *c, struct collect_parts *p)
{
	uint64_t now = clock_mono_ns(), end = c->run->until_ns;
	uint64_t most = end > now ? (end - now) / 4 : 0;

	if (!p->begun) {
		p->begun = true;
		prng_seed(&p->random, now);
		most = most < p->pause_ns ? most : p->pause_ns;
		c->turn_ns = now + (most < p->part_ns ? 0 : prng_below(&p->random, most));
		if (c->turn_ns > now)
			return false;
	}
	p->on = !p->on;
	return true;
}

void collect_part_next(struct collect *c, struct collect_parts *p)
{
	c->turn_ns = clock_mono_ns() +
		     (p->on ? p->part_ns : p->pause_ns + prng_below(&p->random, 2 * p->pause_ns));
}

/* Saves what the collector cost inside the window. */
static void collector_save_cost(struct collect *c)
{
	if (c->looks && c->state != COLLECT_UNSUPPORTED) {
		collect_info_int(c, "looks", (int64_t)c->looks);
		collect_info_int(c, "looks_ns", (int64_t)c->looks_ns);
	}
	if (c->cost.timed_ns) {
		collect_info_int(c, "timed_ns", (int64_t)c->cost.timed_ns);
		collect_info_int(c, "runs", (int64_t)c->cost.runs);
		collect_info_int(c, "runs_ns", (int64_t)c->cost.runs_ns);
	}
}

void collect_stop(struct collect *list, size_t n, enum collect_when when)
{
	while (n--)
		if (list[n].is->when == when)
			collector_step_timed(&list[n], collector_hook(list[n].is, list[n].is->stop),
					     &list[n].off);
}

void collect_after(struct collect *list, size_t n)
{
	while (n--) {
		if (list[n].is->after)
			sync_print(list[n].run, "step ending %s", list[n].is->name);
		collector_step(&list[n], list[n].is->after);
	}
}

void collect_finish(struct collect *list, size_t n)
{
	while (n--) {
		sync_print(list[n].run, "step finishing %s", list[n].is->name);
		if (list[n].prepared && list[n].is->finish)
			list[n].is->finish(&list[n]);
		if (list[n].prepared && list[n].is->read)
			reading_close(&list[n]);
		netns_close(&list[n].netns);
		collector_save_cost(&list[n]);
	}
}

void collect_free(struct collect *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].why);
		json_decref(list[i].info);
	}
	free(list);
}

/*
 * THE TABLE of collectors: one row each. The order matters. Of the collectors that start at the
 * same time, the first row starts first and stops last. So a collector that takes long stands high
 * in the table, far from the window.
 */

/* --- null: nothing, for tests of everything around a collector --- */

static int null_add(struct collect *c, const char *key)
{
	collect_info_int(c, key, json_integer_value(json_object_get(c->info, key)) + 1);
	return 0;
}

static int null_start(struct collect *c)
{
	return null_add(c, "started");
}

static int null_snap(struct collect *c)
{
	return null_add(c, "snaps");
}

static int null_stop(struct collect *c)
{
	return null_add(c, "stopped");
}

const struct collector collector_null = {
	.name = "null",
	.what = "nothing, for tests",
	.start = null_start,
	.snap = null_snap,
	.stop = null_stop,
};

/* --- the table --- */

// clang-format off
#define COLLECTORS(ROW) \
	ROW(host) ROW(kcore) ROW(perf) ROW(power) ROW(frame) ROW(drops) ROW(batches) ROW(waits) \
	ROW(path) ROW(pools) ROW(syscalls) ROW(sched) ROW(threads) ROW(tcp) ROW(counters) ROW(nic) \
	ROW(queues) ROW(idle) ROW(irq) ROW(snmp) ROW(sockstat) ROW(softnet) ROW(throttle) ROW(cpu) \
	ROW(null)
// clang-format on

#define DECLARE(name) extern const struct collector collector_##name;
#define ADDRESS(name) &collector_##name,

COLLECTORS(DECLARE)

const struct collector *const collectors[] = {COLLECTORS(ADDRESS) NULL};

static const struct {
	const char *name;
	unsigned int bits;
} passes[] = {
	{"measure", PASS_MEASURE},
	{"profile", PASS_PROFILE},
	{"syscalls", PASS_SYSCALLS},
	{"trace", PASS_TRACE},
	{"all", PASS_EVERY & ~(unsigned int)PASS_TRACE},
};

static int table_set_unknown(const char *name, struct error *err)
{
	freed(str_free) struct str s = {0};

	for (size_t i = 0; collectors[i]; i++)
		str_printf(&s, "%s ", collectors[i]->name);
	return error_set(err, EINVAL, "unknown collector '%s'; %sthere are: %sall", name,
			 did_you_mean(s.buf, name), s.buf);
}

/* Fills which collectors the user named. `all` is every collector that some pass uses. */
static int table_read_names(bool named[], bool *all, const char *names, struct error *err)
{
	char *token;
	size_t i;

	each_part (token, names, ',') {
		token = str_trim(token);
		for (i = 0; collectors[i] && strcmp(collectors[i]->name, token); i++)
			;
		if (collectors[i])
			named[i] = true;
		else if (!strcmp(token, "all"))
			*all = true;
		else
			return table_set_unknown(token, err);
	}
	return 0;
}

int collect_choose(struct run *run, const char *names, struct collect **list, size_t *n,
		   struct error *err)
{
	bool named[array_size(collectors)] = {false}, all = false, none;
	bool without[array_size(collectors)] = {false};
	unsigned int pass = 0;
	size_t i;

	for (i = 0; i < array_size(passes); i++)
		if (!strcmp(passes[i].name, run->pass))
			pass = passes[i].bits;
	if (!pass)
		return error_set(err, EINVAL,
				 "unknown pass '%s'; there are: measure profile syscalls trace all",
				 run->pass);
	if ((names && table_read_names(named, &all, names, err)) ||
	    (run->without && table_read_names(without, &none, run->without, err)))
		return -EINVAL;
	*list = xcalloc(array_size(collectors), sizeof(**list));
	for (*n = 0, i = 0; collectors[i]; i++) {
		const struct collector *is = collectors[i];

		if (without[i])
			continue;
		if (names ? !named[i] && !(all && is->passes) : !(is->passes & pass))
			continue;
		(*list)[(*n)++] = (struct collect){
			.is = is,
			.run = run,
			.asked = names ? named[i] : (is->required & pass) == pass,
			.lost = -1,
			.info = json_object(),
		};
	}
	return 0;
}

void collect_complete(struct str *lines, const char *option, const char *what, char **words, int n,
		      const void *of)
{
	(void)option, (void)words, (void)n, (void)of;
	if (!str_starts(what, "COLLECTOR"))
		return;
	for (size_t i = 0; collectors[i]; i++)
		complete_add(lines, collectors[i]->name, collectors[i]->what);
	complete_add(lines, "all", "every collector that some pass uses");
}
