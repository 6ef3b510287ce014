// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/export/export.h"

#include "analyze/costs/costs.h"

#include <errno.h>
#include <math.h>

/* --- costs --- */

static int samples_find_cost(struct samples *s, struct sample_block *b, struct error *err)
{
	const struct tally_spec spec = {
		.keys = {BY_CONTEXT}, .nkeys = 1, .event = s->q->event, .cpus = s->q->cpus};
	freed(cost_part_free) struct cost_part part;
	int rc = cost_part_read(s->store, s->q, &b->of, &spec, &part, err);

	if (!rc) {
		if (!s->store && s->q->cpus)
			cost_note_silent_cpus(s->q, &part, s->notes);
		b->ns = part.basis.ns / part.tally.weight;
		b->unit = isfinite(b->ns) ? xstrdup(part.basis.unit) : NULL;
		if (isnan(part.basis.ns))
			note_add_block(
				&s->notes->notes, &b->of, export_about,
				arena_printf(
					&s->notes->arena,
					"samples and times have no cost per unit of work: the basis is %s",
					part.basis.text));
		b->exclude_idle = part.basis.exclude_idle;
		b->exclude_irq = part.basis.exclude_irq;
		basis_note_event(s->notes, part.basis.ns, IN_NS, part.tally.event);
		s->notes->lossy |= part.basis.uncounted;
	}
	return rc;
}

int samples_open(struct samples *s, struct error *err)
{
	autofree struct block *blocks = NULL;
	int i, rc;

	s->nblocks = cost_blocks(s->store, s->q, &blocks, err);
	if (s->nblocks < 0)
		return s->nblocks;
	s->blocks = xcalloc((size_t)s->nblocks + 1, sizeof(*s->blocks));
	rc = s->store && s->costs && s->q->unit ? basis_require_unit(s->store, s->q, err) : 0;
	for (i = 0; i < s->nblocks && !rc; i++) {
		struct sample_block *b = &s->blocks[i];

		*b = (struct sample_block){.of = blocks[i], .ns = NAN};
		b->name = s->store ? xasprintf("%s/%s", b->of.variant, b->of.side)
				   : xstrdup("samples");
		rc = s->costs ? samples_find_cost(s, b, err) : 0;
	}
	return rc;
}

void samples_close(struct samples *s)
{
	array_free(e, s->blocks, s->nblocks, free(e->name), free(e->unit));
	free(s->event);
	map_free(&s->comms);
}

int samples_unit(const struct samples *s, const char **unit, struct error *err)
{
	const struct sample_block *first = NULL;

	*unit = NULL;
	for (const struct sample_block *b = s->blocks; b < s->blocks + s->nblocks; b++) {
		if (!b->unit)
			continue;
		first = first ?: b;
		if (strcmp(first->unit, b->unit) != 0)
			return error_set(
				err, EINVAL,
				"%s costs ns per %s, %s ns per %s: give --unit, or choose with --variant and --side",
				first->name, first->unit, b->name, b->unit);
	}
	*unit = first ? first->unit : NULL;
	return 0;
}

double sample_ns(const struct sample_run *r, const struct profile_cost *c)
{
	return r->block->exclude_idle && c->context == CTX_IDLE ? 0
								: r->block->ns * (double)c->weight;
}

int64_t picoseconds_round(struct picoseconds *sum, double ns)
{
	int64_t before = sum->given;

	sum->exact += 1000 * ns;
	sum->given = llround(sum->exact);
	return sum->given - before;
}

/* --- filters and names --- */

static bool samples_have_comm(const struct sample_run *r, uint32_t comm)
{
	uint64_t *known = map_at(&r->s->comms, comm);

	if (!*known)
		*known = 1 + str_matches(r->s->q->comm, comm == PROFILE_NONE
								? ""
								: intern_get(&r->p->strings, comm));
	return *known == 2;
}

bool samples_select(const struct sample_run *r, const struct profile_cost *c)
{
	const struct query *q = r->s->q;

	if (c->event != r->event ||
	    (q->cpus && (c->cpu == PROFILE_NONE || !cpuset_has(q->cpus, c->cpu))) ||
	    (q->workload_only && !profile_is_own(r->p, c->pid)) || !samples_have_comm(r, c->comm) ||
	    (r->block->exclude_irq && context_is_interrupt(c->context)))
		return false;
	r->block->weight += c->weight;
	return true;
}

const char *sample_comm(const struct sample_run *r, const struct profile_cost *c)
{
	return c->comm == PROFILE_NONE ? "" : intern_get(&r->p->strings, c->comm);
}

char *sample_object_path(const char *dso)
{
	static const char jit[] = "[JIT] tid ";

	return str_starts(dso, jit) ? xasprintf("/tmp/perf-%s.map", dso + strlen(jit))
				    : xstrdup(dso);
}

char *sample_object_name(const char *dso)
{
	autofree char *path = sample_object_path(dso);
	const char *slash = strrchr(path, '/');

	return strcmp(path, UNMAPPED) ? xasprintf("[%s]", slash ? slash + 1 : path) : xstrdup(path);
}

/* --- reading --- */

static int samples_read_run(struct samples *s, struct sample_run *r, sample_fn *add, void *arg,
			    struct error *err)
{
	int rc = profile_pick_event(r->p, s->event ? s->event : s->q->event, &r->event, err);

	if (rc || r->event == r->p->nevents)
		return rc;
	if (!s->event) {
		s->is_time = r->p->events[r->event].is_time;
		s->event = xstrdup(intern_get(&r->p->strings, r->p->events[r->event].name));
	}
	add(arg, r);
	return 0;
}

static int samples_read_block(struct samples *s, struct sample_block *b, sample_fn *add, void *arg,
			      struct error *err)
{
	struct sample_run r = {.s = s, .block = b};
	autofree struct run *runs = NULL;
	int n = scope_runs(s->store, s->q, &b->of, FOR_PROFILE, &runs, err), rc = n < 0 ? n : 0;

	for (int i = 0; i < n && !rc; i++) {
		r.run = &runs[i];
		rc = store_profile(s->store, runs[i].id, &r.p, err);
		if (!rc && s->q->workload_only)
			rc = profile_check_own(r.p, runs[i].variant, runs[i].side, err);
		rc = rc ?: samples_read_run(s, &r, add, arg, err);
	}
	rc = rc ?: scope_profile_notes(s->store, s->q, &b->of, s->notes, err);
	if (!rc && s->costs)
		rc = scope_basis_notes(s->store, s->q, &b->of, s->notes, err);
	return rc;
}

static int samples_refuse_empty(const struct samples *s, struct error *err)
{
	bool filtered = s->event && (s->q->cpus || s->q->comm);

	return error_set(
		err, ENODATA, "nothing to export: no sample%s%s%s%s", s->event ? " of " : "",
		s->event ?: "", filtered ? " that --cpu and --comm select" : "",
		filtered ? "; 'zcost report functions --by cpu,comm' lists what there is"
		: !s->store
			? "; record again, for longer"
			: "; 'zcost report runs' shows why, and --from and --to give another part");
}

/* Notes the blocks without a sample. */
static int samples_check(struct samples *s, struct error *err)
{
	uint64_t sum = 0;

	for (int i = 0; i < s->nblocks; i++)
		sum += s->blocks[i].weight;
	if (!sum)
		return samples_refuse_empty(s, err);
	for (int i = 0; i < s->nblocks; i++)
		if (!s->blocks[i].weight)
			note_add_block(&s->notes->notes, &s->blocks[i].of, no_sample_matches, "");
	if (s->store)
		scope_capture_notes(s->store, s->notes);
	return 0;
}

int samples_read(struct samples *s, sample_fn *add, void *arg, struct error *err)
{
	struct sample_run file = {.s = s, .block = &s->blocks[0], .p = s->q->bare.profile};
	int rc = 0;

	if (!s->store) {
		rc = samples_read_run(s, &file, add, arg, err);
		profile_add_notes(s->q->bare.profile, &s->notes->notes);
		s->notes->lossy |= notes_have(&s->notes->notes, SEVERITY_LOSSY);
	}
	for (int i = 0; s->store && i < s->nblocks && !rc; i++)
		rc = samples_read_block(s, &s->blocks[i], add, arg, err);
	return rc ? rc : samples_check(s, err);
}
