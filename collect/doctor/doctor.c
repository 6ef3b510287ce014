// SPDX-License-Identifier: GPL-2.0-only
#include "collect/doctor/doctor.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct column doctor_columns[5] = {
	{"group", .type = V_STR, .what = "what it is about"},
	{"check", .type = V_STR},
	{"state", .type = V_STR, .what = "yes, no, partly, or note: a fact"},
	{"why", .type = V_STR, .what = "what was found, or why not"},
	{"todo", .type = V_STR, .what = "what to do about it"},
};

static const char *const states[] = {"yes", "no", "partly", "note"};

/* THE TABLE of checks, in the order in which they run and are printed. */
// clang-format off
#define CHECKS(ROW) \
	ROW(perf) \
	ROW(syscalls) \
	ROW(events) \
	ROW(power) \
	ROW(io_uring) \
	ROW(msg_zerocopy) \
	ROW(zcrx) \
	ROW(devmem) \
	ROW(nic) \
	ROW(sysctls) \
	ROW(cpus) \
	ROW(path)
// clang-format on

#define DECLARE(name) extern const struct check check_##name;
#define ADDRESS(name) &check_##name,

CHECKS(DECLARE)

const struct check *const checks[] = {CHECKS(ADDRESS) NULL};

void doctor_put(struct doctor *d, const char *what, enum finding f, const char *todo,
		const char *fmt, ...)
{
	struct value *row = table_row(&d->table);
	char *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		why = NULL;
	va_end(ap);
	table_set(&d->table, row, "group", value_str(&d->table, d->group));
	table_set(&d->table, row, "check", value_str(&d->table, what));
	table_set(&d->table, row, "state", value_str(&d->table, states[f]));
	table_set(&d->table, row, "why", value_str(&d->table, why));
	table_set(&d->table, row, "todo", value_str(&d->table, todo));
	free(why);
}

/* Returns the value of a sysctl, such as "net.core.rmem_max", or NULL. The caller frees it. */
static char *doctor_sysctl(const char *name)
{
	char *path = xstrdup(name), *line;

	str_replace(path, '.', '/');
	line = host_fact("%s/sys/%s", proc_root(), path);
	free(path);
	return line;
}

double doctor_sysctl_number(const char *name, int n)
{
	char *line = doctor_sysctl(name), *p = line, *end;
	double value = -1;

	for (; p && n >= 0; n--, p = end) {
		value = strtod(p, &end);
		if (end == p) {
			value = -1;
			break;
		}
	}
	free(line);
	return value;
}
