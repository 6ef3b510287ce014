// SPDX-License-Identifier: GPL-2.0-only
#include "collect/events/events.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

/* --- plain names --- */

/* THE TABLES of plain event names, as perf list has them. */

const char events_default[] =
	"{cycles,instructions},{cache-references,cache-misses},{branches,branch-misses},context-switches,cpu-migrations,page-faults,cpu-clock";

/* The common names, for messages. */
static const char event_names_hint[] =
	"there are cycles instructions cache-misses branch-misses context-switches page-faults and more by name ('perf list hw sw cache'), L1-dcache-load-misses and the like, r01c2, pmu/event=0x3c/ and system:tracepoint";

#define HW(name, id)                                             \
	{                                                        \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, "" \
	}
#define SW(name, id, unit)                                         \
	{                                                          \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, unit \
	}

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	const char *unit;
} names[] = {
	HW("cycles", CPU_CYCLES),
	HW("cpu-cycles", CPU_CYCLES),
	HW("instructions", INSTRUCTIONS),
	HW("cache-references", CACHE_REFERENCES),
	HW("cache-misses", CACHE_MISSES),
	HW("branches", BRANCH_INSTRUCTIONS),
	HW("branch-instructions", BRANCH_INSTRUCTIONS),
	HW("branch-misses", BRANCH_MISSES),
	HW("bus-cycles", BUS_CYCLES),
	HW("ref-cycles", REF_CPU_CYCLES),
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HW("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HW("idle-cycles-backend", STALLED_CYCLES_BACKEND),
	SW("cpu-clock", CPU_CLOCK, "ns"),
	SW("task-clock", TASK_CLOCK, "ns"),
	SW("page-faults", PAGE_FAULTS, ""),
	SW("faults", PAGE_FAULTS, ""),
	SW("minor-faults", PAGE_FAULTS_MIN, ""),
	SW("major-faults", PAGE_FAULTS_MAJ, ""),
	SW("context-switches", CONTEXT_SWITCHES, ""),
	SW("cs", CONTEXT_SWITCHES, ""),
	SW("cpu-migrations", CPU_MIGRATIONS, ""),
	SW("migrations", CPU_MIGRATIONS, ""),
	SW("alignment-faults", ALIGNMENT_FAULTS, ""),
	SW("emulation-faults", EMULATION_FAULTS, ""),
	SW("cgroup-switches", CGROUP_SWITCHES, ""),
	SW("dummy", DUMMY, ""),
};

/* "L1-dcache-loads", "LLC-store-misses": cache, operation, result. */
static const struct {
	const char *name;
	uint64_t id;
} caches[] = {
	{"L1-dcache", PERF_COUNT_HW_CACHE_L1D}, {"L1-icache", PERF_COUNT_HW_CACHE_L1I},
	{"LLC", PERF_COUNT_HW_CACHE_LL},	{"dTLB", PERF_COUNT_HW_CACHE_DTLB},
	{"iTLB", PERF_COUNT_HW_CACHE_ITLB},	{"branch", PERF_COUNT_HW_CACHE_BPU},
	{"node", PERF_COUNT_HW_CACHE_NODE},
};

static const struct {
	const char *name;
	uint64_t op, result;
} accesses[] = {
	{"loads", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"load-misses", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS},
	{"stores", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"store-misses", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS},
	{"prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_MISS},
};

static bool event_set(struct event *e, uint32_t type, uint64_t config, const char *unit)
{
	e->attr.type = type;
	e->attr.config = config;
	snprintf(e->unit, sizeof(e->unit), "%s", unit);
	return true;
}

static bool event_cache_named(struct event *e, const char *name)
{
	size_t n;

	for (size_t c = 0; c < array_size(caches); c++) {
		n = strlen(caches[c].name);
		if (strncmp(name, caches[c].name, n) || name[n] != '-')
			continue;
		for (size_t a = 0; a < array_size(accesses); a++)
			if (!strcmp(name + n + 1, accesses[a].name))
				return event_set(e, PERF_TYPE_HW_CACHE,
						 caches[c].id | accesses[a].op << 8 |
							 accesses[a].result << 16,
						 "");
	}
	return false;
}

/*
 * Fills type, config and unit of a plain name, also of raw codes such as r1a8. Returns false for an
 * unknown name.
 */
static bool event_named(struct event *e, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(names[i].name, name))
			return event_set(e, names[i].type, names[i].config, names[i].unit);
	if (*name == 'r' && n > 1 && n <= 17 && strspn(name + 1, "0123456789abcdefABCDEF") == n - 1)
		return event_set(e, PERF_TYPE_RAW, strtoull(name + 1, NULL, 16), "");
	return event_cache_named(e, name);
}

enum { MAX_EVENTS = 128 };

static const char modifiers[] = "ukhGH";

/* The parser: `at` is its place in the text. */
struct reader {
	struct event_list *list;
	const char *at;
	unsigned int group;
	bool look; /* false: the list is only checked, not looked up on this host */
};

static int events_apply_modifiers(struct event *e, const char *mods, struct error *err)
{
	bool level = strpbrk(mods, "ukh"), guest = strpbrk(mods, "GH");

	for (const char *m = mods; *m; m++)
		if (!strchr(modifiers, *m))
			return error_set(
				err, EINVAL,
				"'%s': no modifier '%c'; there are u (user), k (kernel), h (hypervisor), G (guest), H (host)",
				e->name, *m);
	if (level) {
		e->attr.exclude_user = !strchr(mods, 'u');
		e->attr.exclude_kernel = !strchr(mods, 'k');
		e->attr.exclude_hv = !strchr(mods, 'h');
	}
	if (guest) {
		e->attr.exclude_guest = !strchr(mods, 'G');
		e->attr.exclude_host = !strchr(mods, 'H');
	}
	return 0;
}

/* --- one event --- */

/* "pmu/terms/mods". `terms` is the first '/'. */
static int events_pmu_event(struct reader *r, struct event *e, char *text, char *terms,
			    struct error *err)
{
	char *end;

	*terms++ = '\0';
	end = strchr(terms, '/');
	if (!end)
		return error_set(err, EINVAL, "'%s': the '/' behind its terms is missing", e->name);
	*end++ = '\0';
	if (!*text || !*terms)
		return error_set(err, EINVAL, "'%s' is not PMU/TERMS/", e->name);
	if (r->look && pmu_event_read(e, text, terms, err))
		return -err->code;
	return events_apply_modifiers(e, *end == ':' ? end + 1 : end, err);
}

static int events_tracepoint(struct reader *r, struct event *e, char *colon, const char *system,
			     struct error *err)
{
	char *mods = strchr(colon + 1, ':');
	autofree char *path = NULL;
	int id = 0, rc = 0;

	if (mods)
		*mods++ = '\0';
	path = xasprintf("%s/%s", system, colon + 1);
	if (r->look)
		rc = tracefs_ids((const char *[]){path}, &id, 1, err);
	e->attr.type = PERF_TYPE_TRACEPOINT;
	e->attr.config = (uint64_t)id;
	return rc ? rc : events_apply_modifiers(e, mods ? mods : "", err);
}

/* Fills an event that the processor's own PMU has in sysfs. */
static bool events_cpu_pmu_event(struct event *e, const char *name)
{
	static const char *const pmus[] = {"cpu", "cpu_core", "armv8_pmuv3_0"};

	for (size_t i = 0; i < array_size(pmus); i++)
		if (pmu_has_event(pmus[i], name))
			return !pmu_event_read(e, pmus[i], name, NULL);
	return false;
}

static int events_plain_event(struct reader *r, struct event *e, char *text, struct error *err)
{
	char *colon = strchr(text, ':');

	if (colon)
		*colon = '\0';
	if (event_named(e, text) || events_cpu_pmu_event(e, text))
		return events_apply_modifiers(e, colon ? colon + 1 : "", err);
	if (colon && *text && isalpha((unsigned char)colon[1]))
		return events_tracepoint(r, e, colon, text, err);
	if (!r->look && strpbrk(text, "-_.")) /* perhaps the measured host's PMU has it */
		return 0;
	return error_set(err, EINVAL, "unknown event '%s'; %s", e->name, event_names_hint);
}

static int events_add_event(struct reader *r, const char *from, size_t len, struct error *err)
{
	struct event e = {.name = xstrndup(from, len), .group = r->group, .scale = 1};
	char *text = str_trim(e.name), *terms;
	autofree char *copy = xstrdup(text);
	int rc;

	memmove(e.name, text, strlen(text) + 1);
	terms = strchr(copy, '/');
	if (!*e.name)
		rc = error_set(err, EINVAL, "an event is missing before '%.20s'",
			       *r->at ? r->at : "the end");
	else if (strpbrk(e.name, " \t\n\"'"))
		rc = error_set(err, EINVAL, "'%s': a blank or quote in an event", e.name);
	else if (terms)
		rc = events_pmu_event(r, &e, copy, terms, err);
	else
		rc = events_plain_event(r, &e, copy, err);
	for (size_t i = 0; i < r->list->n && !rc; i++) /* an event may stand in two groups */
		if (r->list->e[i].group == e.group && !strcmp(r->list->e[i].name, e.name))
			rc = error_set(err, EINVAL, "'%s' appears twice", e.name);
	if (!rc && r->list->n == MAX_EVENTS)
		rc = error_set(err, EINVAL, "more than %d events", MAX_EVENTS);
	if (rc) {
		free(e.name);
		return rc;
	}
	array_add(r->list->e, r->list->n, r->list->cap, e);
	return 0;
}

/* --- lists and groups --- */

/* Parses an event: up to a comma or a brace that is not between slashes. */
static int events_parse_event(struct reader *r, struct error *err)
{
	const char *from = r->at;
	bool inside = false;

	for (; *r->at && (inside || !strchr(",{}", *r->at)); r->at++)
		inside ^= *r->at == '/';
	return events_add_event(r, from, (size_t)(r->at - from), err);
}

static int events_check_group(const struct reader *r, size_t first, struct error *err)
{
	const struct event *a = &r->list->e[first];

	for (const struct event *b = a + 1; b < r->list->e + r->list->n; b++)
		if (a->some_cpus != b->some_cpus || memcmp(&a->cpus, &b->cpus, sizeof(a->cpus)))
			return error_set(
				err, EINVAL,
				"'%s' and '%s' are counted by different CPUs: not in one group",
				a->name, b->name);
	return 0;
}

static int events_parse_group(struct reader *r, struct error *err)
{
	size_t first = r->list->n;
	int rc;

	do {
		r->at++;
		rc = events_parse_event(r, err);
	} while (!rc && *r->at == ',');
	if (rc)
		return rc;
	if (*r->at != '}')
		return error_set(err, EINVAL, "the '}' of a group is missing%s%s",
				 *r->at ? " before " : "", r->at);
	r->at++;
	return events_check_group(r, first, err);
}

static int events_read_list(struct event_list *list, const char *text, bool look, struct error *err)
{
	struct reader r = {.list = list, .at = text, .look = look};
	int rc;

	for (;;) {
		r.group++;
		r.at += strspn(r.at, " \t\n");
		rc = *r.at == '{' ? events_parse_group(&r, err) : events_parse_event(&r, err);
		r.at += strspn(r.at, " \t\n");
		if (rc || !*r.at)
			return rc;
		if (*r.at++ != ',')
			return error_set(err, EINVAL, "'%.20s': a comma is missing before it",
					 r.at - 1);
	}
}

int event_list_read(struct event_list *list, const char *text, struct error *err)
{
	int rc;

	*list = (struct event_list){0};
	rc = events_read_list(list, text, true, err);
	if (rc)
		event_list_free(list);
	return rc;
}

int event_list_check(const char *text, struct error *err)
{
	freed(event_list_free) struct event_list list = {0};
	struct error own = {0};

	return events_read_list(&list, text, false, err ? err : &own);
}

void event_list_free(struct event_list *list)
{
	array_free(e, list->e, list->n, free(e->name));
	*list = (struct event_list){0};
}
