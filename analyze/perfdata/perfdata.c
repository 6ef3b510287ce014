// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/perfdata.h"

#include "analyze/perfdata/resolve.h"
#include "analyze/perfdata/unwind.h"
#include "lib/file.h"
#include "lib/workers.h"

#include <errno.h>
#include <stdio.h>

void recording_damaged(struct recording *r, uint64_t offset, const char *what)
{
	struct profile_health *h = &r->profile->health;

	if (h->truncated)
		return;
	h->truncated = true;
	snprintf(h->why, sizeof(h->why), "%s: %s at offset %llu; the records before it are counted",
		 r->path, what, (unsigned long long)offset);
}

void recording_close(struct recording *r)
{
	input_close(r);
	events_free(&r->events);
	history_free(&r->history);
	sideband_free(&r->side);
	arena_free(&r->arena);
	free(r->build_ids);
	free(r->chunks);
}

int recording_open(struct recording *r, struct profile *p, const char *path, bool in_capture,
		   struct error *err)
{
	int ret;

	*r = (struct recording){.path = path, .profile = p, .spool.fd = -1};
	r->side.strings = &p->strings;
	r->side.kernel_build_id = UINT32_MAX;
	ret = input_open(r, path, in_capture, err);
	ret = ret ?: header_read(r, err);
	ret = ret ?: recording_scan(r, err);
	if (!ret && !r->events.n)
		ret = error_set(
			err, EBADMSG,
			"%s: the stream describes no event; record it again with perf record -o -",
			path);
	if (ret)
		return ret;
	events_name_rest(&r->events);
	r->timed =
		r->events.list[0].sample_id_all && r->events.list[0].sample_type & PERF_SAMPLE_TIME;
	sideband_finish(&r->side);
	return 0;
}

/* Finds the times of the first and last sample. The buffers of the CPUs follow each other, so it
 * reads all samples. */
static bool slice_find_ends(const struct recording *r, uint64_t *first, uint64_t *last,
			    struct error *err)
{
	struct chunk_reader reader = {0};
	struct chunk_sample at;
	struct sample s;
	long event;

	*first = UINT64_MAX;
	*last = 0;
	for (size_t i = 0; i < r->nchunks; i++) {
		if (!chunk_read(&reader, &r->chunks[i], r->swap))
			error_set(err, EIO, "%s: a part of it cannot be read again", r->path);
		while (chunk_next(&reader, &at)) {
			event = sample_event(&r->events, at.body);
			if (event < 0 || !(r->events.list[event].sample_type & PERF_SAMPLE_TIME) ||
			    !sample_decode(&s, &r->events.list[event], &at.body))
				continue;
			*first = s.time < *first ? s.time : *first;
			*last = s.time > *last ? s.time : *last;
		}
	}
	free(reader.buf);
	return *first <= *last;
}

static uint64_t slice_absolute_ns(const struct time_point *p, uint64_t first, uint64_t otherwise)
{
	return p->given ? p->ns + (p->relative ? first : 0) : otherwise;
}

int recording_resolve_slice(const struct time_slice *s, const struct recording *r, uint64_t *from,
			    uint64_t *to, struct error *err)
{
	uint64_t first, last;

	*from = *to = 0;
	if (!s->from.given && !s->to.given)
		return 0;
	if (!slice_find_ends(r, &first, &last, err) && !err->code)
		return error_set(err, ENODATA, "%s: --from and --to: no sample has a time",
				 r->path);
	if (err->code)
		return -err->code;
	*from = slice_absolute_ns(&s->from, first, 0);
	*to = slice_absolute_ns(&s->to, first, UINT64_MAX);
	if (*to <= *from || last < *from || *to <= first)
		return error_set(
			err, EINVAL,
			"%s: no sample between --from and --to; its samples are from %.6f to %.6f s (+%.6f)",
			r->path, (double)first / 1e9, (double)last / 1e9,
			(double)(last - first) / 1e9);
	return 0;
}

static void perfdata_add_health(struct recording *r, const struct fold *f)
{
	struct profile *p = r->profile;

	p->health.unknown_ids += f->unknown_ids;
	p->health.outside_window += f->outside;
	p->health.backwards += f->backwards;
	if (f->bad_samples)
		recording_damaged(r, f->bad_order, "a sample longer than its record");
	if (f->first_ns == UINT64_MAX)
		return;
	if (!p->first_ns || f->first_ns < p->first_ns)
		p->first_ns = f->first_ns;
	if (f->last_ns > p->last_ns)
		p->last_ns = f->last_ns;
}

/*
 * A thread loads the kernel symbols during pass two, so that the two take no longer than the slower
 * one.
 */
struct kernel_job {
	struct kernel_symbols symbols;
	const struct recording *r;
	const struct perfdata_options *o;
};

static void *perfdata_load_kernel(void *arg)
{
	struct kernel_job *job = arg;

	kernel_symbols_load(&job->symbols, job->r, job->o, true);
	return NULL;
}

static bool chain_is_named(const struct chain *c, const struct kernel_symbols *k)
{
	bool kernel = c->head.leaf == (uint64_t)PERF_CONTEXT_KERNEL;

	for (uint32_t i = 0; i < c->head.nr; i++)
		if (c->addr[i] >= (uint64_t)PERF_CONTEXT_MAX)
			kernel = c->addr[i] == (uint64_t)PERF_CONTEXT_KERNEL;
		else if (kernel && !kernel_symbols_suffice(k, c->addr[i]))
			return false;
	return true;
}

/* Returns whether the symbols surely have the right names for all addresses of the kernel. */
static bool folds_are_named(const struct folds *f, const struct kernel_symbols *k)
{
	for (const struct fold *one = f->list; one < f->list + f->n; one++) {
		const struct stacks *s = &one->stacks;

		for (size_t i = 0; i < s->n; i++)
			if ((s->list[i].mode & STACK_MODE) == PERF_RECORD_MISC_KERNEL &&
			    !kernel_symbols_suffice(k, s->list[i].ip))
				return false;
		for (size_t i = 0; i < s->nchains; i++)
			if (!chain_is_named(s->chains[i], k))
				return false;
	}
	return true;
}

static void perfdata_fold_and_resolve(struct recording *r, const struct perfdata_options *o)
{
	struct kernel_job job = {.r = r, .o = o};
	struct background loading = {0};
	freed(folds_free) struct folds f;

	if (o->threads != 1)
		background_start(&loading, perfdata_load_kernel, &job);
	history_make(&r->history, &r->side);
	r->unwinding = unwinding_new(r, o);
	folds_run(&f, r, o);
	folds_weigh_exact(&f, r, o);
	for (size_t i = 0; i < f.n; i++)
		unwinder_finish(f.list[i].unwinder);
	unwinding_finish(r->unwinding, r->profile);
	if (o->threads == 1)
		perfdata_load_kernel(&job);
	background_wait(&loading);
	if (!folds_are_named(&f, &job.symbols)) {
		kernel_symbols_free(&job.symbols);
		kernel_symbols_load(&job.symbols, r, o, false);
	}
	for (size_t i = 0; i < f.n; i++)
		perfdata_add_health(r, &f.list[i]);
	resolve_folds(r, &f, &job.symbols, o);
	kernel_symbols_free(&job.symbols);
}

/* Sets r->times. Without `from_ns` and `to_ns` the window is that from the first part to the last.
 */
static int perfdata_read_parts(struct recording *r, const struct perfdata_options *o,
			       struct error *err)
{
	int folder = (int)(path_base_name(r->path) - r->path);
	autofree char *name = xasprintf("%.*sperf_parts.tsv", folder, r->path), *text = NULL;
	uint64_t from, to, first = o->from_ns, last = 0, parts = 0, end = o->to_ns ?: UINT64_MAX;
	unsigned int number = 1;
	char *at;

	if (!strcmp(r->path, "-") || !path_exists(name))
		return 0;
	if (file_read(name, &text, NULL, err))
		return -err->code;
	for (at = strchr(text, '\n'); at && at[1]; at = strchr(at, '\n')) {
		number++;
		from = strtoull(at + 1, &at, 10);
		to = *at == '\t' ? strtoull(at + 1, &at, 10) : 0;
		if (to < from || !to || *at != '\n')
			return error_set(err, EBADMSG, "%s: line %u is no part of the window", name,
					 number);
		first = first ?: from;
		last = to;
		from = from < first ? first : from;
		to = to > end ? end : to;
		parts += to > from ? to - from : 0;
		r->profile->parts += to > from;
	}
	last = end < UINT64_MAX ? end : last;
	r->times = parts && last > first ? (double)(last - first) / (double)parts : 0;
	return 0;
}

int perfdata_read(struct profile *p, const char *path, const struct perfdata_options *o,
		  struct error *err)
{
	struct perfdata_options sliced = *o;
	struct recording r;
	int ret = recording_open(&r, p, path, o->in_capture, err);

	if (!ret && (o->slice.from.given || o->slice.to.given))
		ret = recording_resolve_slice(&o->slice, &r, &sliced.from_ns, &sliced.to_ns, err);
	ret = ret ?: perfdata_read_parts(&r, &sliced, err);
	if (!ret && o->nworkload)
		sideband_add_descendants(&r.side, o->workload, o->nworkload, p);
	if (!ret)
		perfdata_fold_and_resolve(&r, &sliced);
	if (r.hostname)
		p->host = intern_str(&p->strings, r.hostname);
	if (r.osrelease)
		p->release = intern_str(&p->strings, r.osrelease);
	recording_close(&r);
	return ret;
}
