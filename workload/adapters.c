// SPDX-License-Identifier: GPL-2.0-only
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct adapter adapter_none = {.name = "none"};

/* The list of adapters, in the order of messages. */
// clang-format off
#define ADAPTERS(row) \
	row(tcpzc) \
	row(iperf3) \
	row(neper) \
	row(netperf) \
	row(kperf) \
	row(sockperf) \
	row(wrk) \
	row(ab) \
	row(redis_benchmark) \
	row(pps) \
	row(regex) \
	row(nic) \
	row(tcp) \
	row(none)
// clang-format on

#define DECLARATION(name) extern const struct adapter adapter_##name;
#define ADDRESS(name)	  &adapter_##name,

ADAPTERS(DECLARATION)
static const struct adapter *const adapters[] = {ADAPTERS(ADDRESS)};

const struct adapter *adapter_find(const char *units)
{
	size_t len = strcspn(units, ":"), i;

	for (i = 0; i < array_size(adapters); i++)
		if (strlen(adapters[i]->name) == len && !strncmp(adapters[i]->name, units, len))
			return adapters[i];
	return NULL;
}

/* Returns what stands behind the colon, or NULL. */
static const char *units_argument(const char *units)
{
	const char *colon = strchr(units, ':');

	return colon && colon[1] ? colon + 1 : NULL;
}

static int units_refuse(const char *units, struct error *err)
{
	freed(str_free) struct str names = {0};
	size_t i;

	for (i = 0; i < array_size(adapters); i++) {
		const char *arg = adapters[i]->argument;
		char *name = xasprintf("%s%s%s", adapters[i]->name, arg ? ":" : "", arg ? arg : "");

		str_item(&names, !i, i + 1 == array_size(adapters), name);
		free(name);
	}
	return error_set(err, EINVAL, "no adapter '%s'; there are %s", units, names.buf);
}

int units_check(const char *units, struct error *err)
{
	const struct adapter *is = adapter_find(units);
	const char *arg = units_argument(units);

	if (!is || (is->argument ? !arg : strchr(units, ':') != NULL))
		return units_refuse(units, err);
	return is->check ? is->check(arg, err) : 0;
}

/* --- accounts --- */

void points_add(struct points *ps, const struct point *p)
{
	const struct point *last = ps->n ? &ps->p[ps->n - 1] : NULL;
	int w;

	for (w = 0; w < WORK_N; w++) {
		if (!isfinite(p->n[w]) ||
		    (last && (p->t_ns < last->t_ns || p->n[w] < last->n[w]))) {
			ps->backwards++;
			return;
		}
	}
	array_add(ps->p, ps->n, ps->cap, *p);
}

void account_free(struct account *a)
{
	free(a->points.p);
	free(a->error);
	*a = (struct account){0};
}

bool account_has_work(const struct account *a)
{
	const struct points *ps = &a->points;
	int w;

	for (w = 0; ps->n && w < WORK_N; w++)
		if (ps->has[w] && ps->p[ps->n - 1].n[w] > 0)
			return true;
	return false;
}

int account_read(const struct workload_run *run, const char *units, struct account *a,
		 struct error *err)
{
	const struct adapter *is = adapter_find(units);
	int rc = units_check(units, err);

	*a = (struct account){.late_s = NAN, .retransmits = NAN};
	return rc || !is || !is->read ? rc : is->read(is, run, units_argument(units), a, err);
}

int workload_text(const struct workload_run *run, const char *file, char **text, struct error *err)
{
	autofree char *path = xasprintf("%s/%s", run->dir, file);

	return file_read_most(path, WORKLOAD_TEXT_MOST, text, NULL, err);
}

int workload_read_text(const struct adapter *is, const struct workload_run *run, const char *arg,
		       struct account *a, struct error *err)
{
	char *text;
	int rc = workload_text(run, "workload.out", &text, err);

	(void)arg;
	if (rc)
		return rc;
	rc = is->parse(run, text, a, err);
	free(text);
	return rc;
}

int workload_snaps(const struct workload_run *run, const char *file, struct snaps *snaps,
		   struct error *err)
{
	autofree char *path = xasprintf("%s/%s", run->dir, file);
	struct error why = {0};
	int rc = snaps_read(snaps, path, &why);

	if (!rc || (rc == -EBADMSG && snaps->n))
		return 0;
	snaps_free(snaps);
	return error_set(err, why.code, "%s", why.text);
}

const char *workload_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (strncmp(text, key, len) || text[len] != '=') {
		text += strcspn(text, "\n");
		if (!*text++)
			return NULL;
	}
	return text + len + 1;
}

void account_add_rate(struct account *a, const struct workload_run *run, enum work w, double rate,
		      uint64_t from, uint64_t to)
{
	struct point p = {.t_ns = from};

	a->points.has[w] = true;
	points_add(&a->points, &p);
	p.t_ns = to;
	p.n[w] = rate * (double)(to - from) / 1e9;
	points_add(&a->points, &p);
	a->rates = from == run->started_ns && to == run->ended_ns;
}

uint64_t workload_ns(double ns)
{
	return !(ns > 0) ? 0 : ns < (double)INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

uint64_t workload_mono_ns(const struct workload_run *run, double seconds)
{
	return workload_ns((double)run->started_ns + (seconds - run->wall_clock) * 1e9);
}
