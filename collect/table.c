// SPDX-License-Identifier: GPL-2.0-only
/*
 * THE TABLE of collectors. The order matters: of those that are started at the same time, the first
 * is started first and stopped last, so what takes long stands first and is farthest from the
 * window.
 */
#include "collect/collect.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A row per collector. */
// clang-format off
extern const struct collector collector_host, collector_kcore, collector_perf, collector_syscalls,
	collector_counters, collector_power, collector_softnet, collector_throttle, collector_cpu,
	collector_null;
extern const struct collector collector_irq, collector_snmp, collector_sched, collector_tcp,
	collector_threads;
extern const struct collector collector_nic, collector_idle;

const struct collector *const collectors[] = {
	&collector_host,
	&collector_kcore,
	&collector_perf,
	&collector_syscalls,
	&collector_sched,
	&collector_threads,
	&collector_tcp,
	&collector_counters,
	&collector_power,
	&collector_nic,
	&collector_idle,
	&collector_irq,
	&collector_snmp,
	&collector_softnet,
	&collector_throttle,
	&collector_cpu,
	&collector_null,
	NULL,
};
// clang-format on

/* In every pass: what a figure of it may have to be doubted for. */
#define ALWAYS "host,throttle,softnet,cpu"

/* What a pass needs. The last column: what it is for, worth an exit 4 when it cannot be had. */
static const struct {
	const char *pass, *names, *must;
} passes[] = {
	{"measure", ALWAYS ",sched,tcp,threads,counters,power,nic,idle,irq,snmp", "cpu"},
	{"profile", ALWAYS ",kcore,perf", "perf"},
	{"syscalls", ALWAYS ",syscalls", "syscalls"},
	{"all", "all", ""},
};

static bool table_in_list(const char *names, const char *name)
{
	char *copy = xstrdup(names), *rest = copy, *token;
	bool found = false;

	while (!found && (token = str_token(&rest, ',')))
		found = !strcmp(str_trim(token), name);
	free(copy);
	return found;
}

static bool table_wants(const char *names, const char *name)
{
	if (table_in_list(names, name))
		return true;
	return table_in_list(names, "all") && strcmp(name, "null");
}

static int table_set_unknown(const char *name, struct error *err)
{
	struct str s = {0};
	size_t i;

	for (i = 0; collectors[i]; i++)
		str_printf(&s, "%s ", collectors[i]->name);
	error_set(err, EINVAL, "unknown collector '%s'; there are: %sall", name, s.buf);
	str_free(&s);
	return -EINVAL;
}

static int table_check_names(const char *names, struct error *err)
{
	char *copy = xstrdup(names), *rest = copy, *token;
	int rc = 0;
	size_t i;

	while (!rc && (token = str_token(&rest, ','))) {
		token = str_trim(token);
		for (i = 0; collectors[i] && strcmp(collectors[i]->name, token); i++)
			;
		if (!collectors[i] && strcmp(token, "all"))
			rc = table_set_unknown(token, err);
	}
	free(copy);
	return rc;
}

int collect_choose(struct run *run, const char *names, struct collect **list, size_t *n,
		   struct error *err)
{
	const char *must = names;
	size_t i, pass = 0;

	while (pass < array_size(passes) && strcmp(passes[pass].pass, run->pass))
		pass++;
	if (pass == array_size(passes))
		return error_set(err, EINVAL,
				 "unknown pass '%s'; there are: measure profile syscalls all",
				 run->pass);
	if (names && table_check_names(names, err))
		return -EINVAL;
	if (!names) {
		names = passes[pass].names;
		must = passes[pass].must;
	}
	*list = xcalloc(array_size(collectors), sizeof(**list));
	for (*n = 0, i = 0; collectors[i]; i++) {
		if (!table_wants(names, collectors[i]->name))
			continue;
		(*list)[(*n)++] = (struct collect){
			.is = collectors[i],
			.run = run,
			.asked = table_in_list(must, collectors[i]->name),
			.lost = -1,
			.info = json_object(),
		};
	}
	return 0;
}
