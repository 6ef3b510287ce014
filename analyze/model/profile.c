// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/profile.h"

#include "analyze/model/notes.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

const char *const unresolved_names[UNRESOLVED_N] = {
	[UNRESOLVED_NO_SYMBOLS] = "no symbols",	   [UNRESOLVED_MISMATCH] = "not the recorded file",
	[UNRESOLVED_GAP] = "between symbols",	   [UNRESOLVED_NO_MAPPING] = "no mapping",
	[UNRESOLVED_GENERATED] = "generated code", [UNRESOLVED_GUEST] = "guest",
};

void profile_init(struct profile *p)
{
	*p = (struct profile){.arch = PROFILE_NONE, .host = PROFILE_NONE, .release = PROFILE_NONE};
}

void profile_free(struct profile *p)
{
	intern_free(&p->strings);
	free(p->cost_ids.of);
	free(p->symbol_ids.of);
	free(p->frame_ids.of);
	free(p->events);
	free(p->dsos);
	free(p->symbols);
	free(p->frames);
	free(p->costs);
	free(p->own);
	free(p->spots);
	array_free(e, p->codes, p->ncodes, free(e->bytes));
	free(p->kernel_note);
	free(p->dso_note);
	free(p->unwind_note);
	free(p->unread.why);
	*p = (struct profile){0};
}

uint32_t profile_event(struct profile *p, const char *name, bool is_time)
{
	uint32_t id = intern_str(&p->strings, name);

	for (uint32_t i = 0; i < p->nevents; i++)
		if (p->events[i].name == id)
			return i;
	array_add(p->events, p->nevents, p->events_cap,
		  (struct profile_event){.name = id, .is_time = is_time});
	return (uint32_t)(p->nevents - 1);
}

/* Scans all DSOs: there are few, and each mapping asks once. */
uint32_t profile_dso(struct profile *p, const char *name, const char *build_id, enum dso_kind kind)
{
	uint32_t name_id = intern_str(&p->strings, name);
	uint32_t bid = build_id ? intern_str(&p->strings, build_id) : PROFILE_NONE;

	for (uint32_t i = 0; i < p->ndsos; i++)
		if (p->dsos[i].name == name_id && p->dsos[i].build_id == bid)
			return i;
	array_add(p->dsos, p->ndsos, p->dsos_cap,
		  (struct profile_dso){.name = name_id, .build_id = bid, .kind = kind});
	return (uint32_t)(p->ndsos - 1);
}

static uint64_t profile_hash(uint64_t a, uint64_t b)
{
	unsigned __int128 m =
		(unsigned __int128)(a ^ 0x9e3779b97f4a7c15ULL) * (b ^ 0xd6e8feb86659fd93ULL);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

void profile_take_symbols(struct profile *p, struct profile_symbol *rows, size_t n)
{
	free(p->symbols);
	free(p->symbol_ids.of);
	p->symbol_ids = (struct row_slots){0};
	p->symbols = rows;
	p->nsymbols = p->symbols_cap = n;
}

uint32_t profile_symbol(struct profile *p, uint32_t dso, const char *name,
			enum unresolved unresolved)
{
	uint32_t name_id = intern_str(&p->strings, name), id;
	uint64_t hash = profile_hash(dso, name_id), *slot = NULL;

	slots_make_room(&p->symbol_ids, p->nsymbols);
	while (slots_next(&p->symbol_ids, hash, &slot, &id))
		if (p->symbols[id].name == name_id && p->symbols[id].dso == dso)
			return id;
	*slot = hash << 32 | (p->nsymbols + 1);
	array_add(p->symbols, p->nsymbols, p->symbols_cap,
		  (struct profile_symbol){name_id, dso, unresolved});
	return (uint32_t)(p->nsymbols - 1);
}

uint32_t profile_frame(struct profile *p, uint32_t parent, uint32_t symbol)
{
	uint64_t hash = profile_hash(parent, symbol), *slot = NULL;
	uint32_t id;

	slots_make_room(&p->frame_ids, p->nframes);
	while (slots_next(&p->frame_ids, hash, &slot, &id))
		if (p->frames[id].parent == parent && p->frames[id].symbol == symbol)
			return id;
	*slot = hash << 32 | (p->nframes + 1);
	array_add(p->frames, p->nframes, p->frames_cap, (struct profile_frame){parent, symbol});
	return (uint32_t)(p->nframes - 1);
}

static bool profile_cost_same_key(const struct profile_cost *a, const struct profile_cost *b)
{
	return a->frame == b->frame && a->tid == b->tid && a->cpu == b->cpu &&
	       a->event == b->event && a->comm == b->comm && a->pid == b->pid &&
	       a->context == b->context;
}

static uint64_t profile_cost_hash(const struct profile_cost *c)
{
	uint64_t hash =
		profile_hash((uint64_t)c->frame << 32 | c->tid, (uint64_t)c->cpu << 32 | c->comm);

	return profile_hash(hash ^ c->pid, (uint64_t)c->event << 32 | c->context);
}

void profile_take_costs(struct profile *p, struct profile_cost *rows, size_t n)
{
	free(p->costs);
	free(p->cost_ids.of);
	p->cost_ids = (struct row_slots){0};
	p->costs = rows;
	p->ncosts = p->costs_cap = n;
}

void profile_add(struct profile *p, const struct profile_cost *c)
{
	uint64_t hash = profile_cost_hash(c), *slot = NULL;
	uint32_t id;

	slots_make_room(&p->cost_ids, p->ncosts);
	while (slots_next(&p->cost_ids, hash, &slot, &id))
		if (profile_cost_same_key(&p->costs[id], c)) {
			p->costs[id].samples += c->samples;
			p->costs[id].weight += c->weight;
			return;
		}
	*slot = hash << 32 | (p->ncosts + 1);
	array_add(p->costs, p->ncosts, p->costs_cap, *c);
}

int profile_pick_event(const struct profile *p, const char *name, uint32_t *event,
		       struct error *err)
{
	uint32_t i;

	for (i = 0; i < p->nevents; i++) {
		const char *n = intern_get(&p->strings, p->events[i].name);

		if (name ? !strcmp(n, name) : p->events[i].samples > 0)
			break;
	}
	*event = i;
	if (i < p->nevents || !name)
		return 0;
	return error_set(err, ENOENT, "the profile has no event '%s'%s%s", name,
			 p->nevents ? "; its first is " : "",
			 p->nevents ? intern_get(&p->strings, p->events[0].name) : "");
}

static bool profile_find_clock(const struct profile *p, uint32_t *event)
{
	for (*event = 0; *event < p->nevents; ++*event)
		if (p->events[*event].is_time && p->events[*event].samples &&
		    strcmp(intern_get(&p->strings, p->events[*event].name), WALL_EVENT))
			return true;
	return false;
}

bool profile_time_of(const struct profile *p, const struct cpuset *cpus, struct profile_time *t)
{
	*t = (struct profile_time){0};
	if (!profile_find_clock(p, &t->event))
		return false;
	t->exact = p->events[t->event].exact;
	for (size_t i = 0; i < p->ncosts; i++) {
		const struct profile_cost *c = &p->costs[i];

		if (c->event != t->event || (cpus && !cpuset_has(cpus, c->cpu)))
			continue;
		*(c->context == CTX_IDLE ? &t->idle : &t->busy) += (double)c->weight;
	}
	return true;
}

const char *profile_symbol_name(const struct profile *p, uint32_t symbol)
{
	return intern_get(&p->strings, p->symbols[symbol].name);
}

const char *profile_symbol_label(const struct profile *p, uint32_t symbol, char *buf, size_t size)
{
	const struct profile_symbol *y = &p->symbols[symbol];
	const char *name = profile_symbol_name(p, symbol), *dso = profile_symbol_dso(p, symbol);
	const char *slash = *dso == '/' ? strrchr(dso, '/') : NULL;

	if (!y->unresolved || p->dsos[y->dso].kind == DSO_UNKNOWN)
		return name;
	snprintf(buf, size, "%s+%s", slash ? slash + 1 : dso, name);
	return buf;
}

const char *profile_symbol_dso(const struct profile *p, uint32_t symbol)
{
	return intern_get(&p->strings, p->dsos[p->symbols[symbol].dso].name);
}

const char *profile_module(const struct profile *p, uint32_t symbol)
{
	static char name[256];
	const struct profile_dso *dso = &p->dsos[p->symbols[symbol].dso];
	const char *text = intern_get(&p->strings, dso->name), *base = strrchr(text, '/');

	if (dso->kind == DSO_KERNEL)
		return "kernel";
	/* The precision stops snprintf, which otherwise formats all of a path of 4 KiB. */
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1,
		 base ? base + 1 : text + (*text == '['));
	if (*text == '[' && strchr(name, ']'))
		*strchr(name, ']') = '\0';
	return name;
}

/* --- the workload's processes --- */

void profile_add_own(struct profile *p, uint32_t pid)
{
	array_add(p->own, p->nown, p->own_cap, pid);
}

static int own_compare(const void *a, const void *b)
{
	uint32_t l = *(const uint32_t *)a, r = *(const uint32_t *)b;

	return ascending(l, r);
}

void profile_sort_own(struct profile *p)
{
	size_t n = 0;

	array_sort(p->own, p->nown, own_compare);
	for (size_t i = 0; i < p->nown; i++)
		if (!n || p->own[n - 1] != p->own[i])
			p->own[n++] = p->own[i];
	p->nown = n;
}

bool profile_is_own(const struct profile *p, uint32_t pid)
{
	return p->nown && bsearch(&pid, p->own, p->nown, sizeof(pid), own_compare);
}

int profile_check_own(const struct profile *p, const char *variant, const char *side,
		      struct error *err)
{
	if (p->nown)
		return 0;
	return error_set(
		err, ENODATA,
		"--workload-only: the profile of %s %s does not say which processes are the workload's: an older zcost made it; capture again",
		variant, side);
}

/* --- what is doubtful about a profile --- */

#define N(x) ((unsigned long long)(x))

void health_add_losses(struct notes *notes, const struct profile_health *h)
{
	if (h->lost_records && h->lost_samples)
		note_add(notes, perf_lost, N(h->lost_records), N(h->lost_samples));
	else if (h->lost_records)
		note_add(notes, perf_lost_records, N(h->lost_records));
	else if (h->lost_samples)
		note_add(notes, perf_lost_samples, N(h->lost_samples));
	if (h->truncated)
		note_add(notes, perf_truncated, h->why);
	if (h->throttled)
		note_add(notes, perf_throttled, N(h->throttled));
}

static void health_add_oddities(struct notes *notes, const struct profile_health *h,
				uint64_t samples)
{
	if (h->unknown_ids || h->bad_chains)
		note_add(notes, perf_odd_samples, N(h->unknown_ids), N(h->bad_chains))->severity =
			h->bad_chains + h->unknown_ids > samples / 100 ? SEVERITY_WARNING
								       : SEVERITY_INFO;
	if (h->backwards)
		note_add(notes, perf_counter_backwards, N(h->backwards));
	if (h->outside_window)
		note_add(notes, perf_outside_window, N(h->outside_window));
}

/* Unequal periods; see struct profile_event. */
static void health_add_periods(struct notes *notes, const struct profile *p,
			       const struct profile_event *e)
{
	const char *name = intern_get(&p->strings, e->name);
	double all = (double)e->weight, n_eff = e->weight2 > 0 ? all * all / e->weight2 : NAN;

	if (!e->exact && 4 * n_eff < 3 * (double)e->samples)
		note_add(notes, perf_long_periods, name, N(e->samples), n_eff)->severity =
			2 * n_eff < (double)e->samples ? SEVERITY_WARNING : SEVERITY_INFO;
}

void unread_add(struct unread *u, const struct error *err)
{
	char *none = NULL, *why;

	if (!u || (!error_of_machine(err->code) && err->code != EFBIG))
		return;
	why = xstrdup(err->text);
	if (!__atomic_compare_exchange_n(&u->why, &none, why, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		free(why);
}

void unread_add_errno(struct unread *u, const char *path)
{
	struct error err = {0};

	if (error_of_machine(errno))
		error_sys(&err, errno, "%s: cannot read", path);
	unread_add(u, &err);
}

void profile_add_notes(const struct profile *p, struct notes *notes)
{
	const struct profile_unwinds *u = &p->health.unwinds;
	uint64_t samples = 0;

	for (size_t i = 0; i < p->nevents; i++)
		samples += p->events[i].samples;
	health_add_losses(notes, &p->health);
	health_add_oddities(notes, &p->health, samples);
	for (size_t i = 0; i < p->nevents; i++)
		health_add_periods(notes, p, &p->events[i]);
	if (p->unread.why)
		note_add(notes, perf_unread, p->unread.why);
	if (p->kernel_note)
		note_add(notes, perf_symbols, p->kernel_note);
	if (p->dso_note)
		note_add(notes, perf_symbols, p->dso_note);
	if (p->unwind_note)
		note_add(notes, perf_symbols, p->unwind_note)->severity =
			u->cut + u->lost + u->deep > u->stacks / 100 ? SEVERITY_WARNING
								     : SEVERITY_INFO;
}

/* --- a part of a recording --- */

enum { NS_DIGITS = 9 };

int time_point_parse(struct time_point *p, const char *text)
{
	bool relative = *text == '+';
	const char *at = text + relative;
	uint64_t seconds, ns = 0;
	int digits = 0;
	char *end;

	if (!isdigit((unsigned char)*at))
		return -EINVAL;
	errno = 0;
	seconds = strtoull(at, &end, 10);
	if (errno || seconds > UINT64_MAX / 2000000000)
		return -EINVAL;
	if (*end == '.')
		for (end++; isdigit((unsigned char)*end); end++)
			if (digits++ < NS_DIGITS)
				ns = ns * 10 + (uint64_t)(*end - '0');
	if (*end)
		return -EINVAL;
	for (; digits < NS_DIGITS; digits++)
		ns *= 10;
	*p = (struct time_point){seconds * 1000000000 + ns, true, relative};
	return 0;
}

bool slice_given(const struct time_slice *s)
{
	return s->from.given || s->to.given;
}

int slice_check(const struct time_slice *s, struct error *err)
{
	if (s->from.given && s->to.given && s->from.ns >= s->to.ns)
		return error_set(err, EINVAL, "--to is not after --from");
	if (s->to.given && !s->to.ns)
		return error_set(err, EINVAL, "--to 0 selects nothing");
	return 0;
}
