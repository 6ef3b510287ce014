// SPDX-License-Identifier: GPL-2.0-only
/*
 * THE TABLE of collectors: one row each. The order matters. Of the collectors that start at the
 * same time, the first row starts first and stops last. So a collector that takes long stands high
 * in the table, far from the window.
 */
#include "collect/collect.h"
#include "collect/options.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	ROW(host) \
	ROW(kcore) \
	ROW(perf) \
	ROW(syscalls) \
	ROW(sched) \
	ROW(threads) \
	ROW(tcp) \
	ROW(counters) \
	ROW(power) \
	ROW(nic) \
	ROW(idle) \
	ROW(irq) \
	ROW(snmp) \
	ROW(sockstat) \
	ROW(softnet) \
	ROW(throttle) \
	ROW(cpu) \
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
	{"all", PASS_EVERY},
};

static int table_set_unknown(const char *name, struct error *err)
{
	freed(str_free) struct str s = {0};
	size_t i;

	for (i = 0; collectors[i]; i++)
		str_printf(&s, "%s ", collectors[i]->name);
	error_set(err, EINVAL, "unknown collector '%s'; %sthere are: %sall", name,
		  did_you_mean(s.buf, name), s.buf);
	return -EINVAL;
}

/* Fills which collectors the user named. `all` is every collector that some pass uses. */
static int table_read_names(bool named[], bool *all, const char *names, struct error *err)
{
	char *copy = xstrdup(names), *rest = copy, *token;
	int rc = 0;
	size_t i;

	while (!rc && (token = str_token(&rest, ','))) {
		token = str_trim(token);
		for (i = 0; collectors[i] && strcmp(collectors[i]->name, token); i++)
			;
		if (collectors[i])
			named[i] = true;
		else if (!strcmp(token, "all"))
			*all = true;
		else
			rc = table_set_unknown(token, err);
	}
	free(copy);
	return rc;
}

int collect_choose(struct run *run, const char *names, struct collect **list, size_t *n,
		   struct error *err)
{
	bool named[array_size(collectors)] = {false}, all = false;
	unsigned int pass = 0;
	size_t i;

	for (i = 0; i < array_size(passes); i++)
		if (!strcmp(passes[i].name, run->pass))
			pass = passes[i].bits;
	if (!pass)
		return error_set(err, EINVAL,
				 "unknown pass '%s'; there are: measure profile syscalls all",
				 run->pass);
	if (names && table_read_names(named, &all, names, err))
		return -EINVAL;
	*list = xcalloc(array_size(collectors), sizeof(**list));
	for (*n = 0, i = 0; collectors[i]; i++) {
		const struct collector *is = collectors[i];

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
	size_t i;

	(void)option, (void)words, (void)n, (void)of;
	if (!str_starts(what, "COLLECTOR"))
		return;
	for (i = 0; collectors[i]; i++)
		complete_add(lines, collectors[i]->name, collectors[i]->what);
	complete_add(lines, "all", "every collector that some pass uses");
}
