// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/tracepoints.h"

#include "analyze/model/notes.h"
#include "analyze/perfdata/tracepoint_parts.h"

#include <errno.h>
#include <stdio.h>

/* --- threads --- */

/*
 * The whole side-band is applied before the first event. So each thread's last name is known from
 * its first event on, and tables by name can merge its rows at once.
 */

static uint32_t tracepoint_threads_add(struct tracepoint_threads *t, uint32_t tid)
{
	array_add(t->list, t->n, t->cap,
		  (struct tracepoint_thread){.pid = UINT32_MAX, .tid = tid, .name = UINT32_MAX});
	return (uint32_t)(t->n - 1);
}

/* While the side-band is applied, `now` has the state at the current row. */
static struct tracepoint_thread *tracepoint_threads_get(struct tracepoint_threads *t, uint32_t tid)
{
	uint64_t *at = map_at(&t->now, tid);

	if (!*at)
		*at = tracepoint_threads_add(t, tid) + 1ULL;
	return &t->list[*at - 1];
}

/* The rows that perf itself writes describe threads that exist already. */
static void tracepoint_threads_apply_fork(struct tracepoint_threads *t, const struct side_row *row)
{
	const uint64_t *parent = map_get(&t->now, row->ptid);
	uint32_t name = parent ? t->list[*parent - 1].name : UINT32_MAX, thread;

	if (row->alone) {
		thread = (uint32_t)(tracepoint_threads_get(t, row->tid) - t->list);
	} else {
		thread = tracepoint_threads_add(t, row->tid);
		*map_at(&t->now, row->tid) = thread + 1ULL;
		array_add(t->starts, t->nstarts, t->starts_cap,
			  (struct thread_start){row->time, row->tid, thread});
	}
	t->list[thread].pid = row->pid;
	t->list[thread].name = name;
}

/* Restores the state before the first start: the threads that no FORK started. */
static void tracepoint_threads_rewind(struct tracepoint_threads *t)
{
	struct map now = {0};
	size_t start = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (start < t->nstarts && t->starts[start].thread == i)
			start++;
		else
			*map_at(&now, t->list[i].tid) = i + 1;
	}
	map_free(&t->now);
	t->now = now;
}

void tracepoint_threads_init(struct tracepoint_threads *t, const struct sideband *side)
{
	struct tracepoint_thread *thread;

	*t = (struct tracepoint_threads){0};
	thread = tracepoint_threads_get(t, 0); /* the idle threads */
	thread->pid = 0;
	thread->name = intern_str(side->strings, "swapper");
	for (size_t i = 0; i < side->n; i++) {
		const struct side_row *row = &side->list[i];

		if (row->kind == SIDE_FORK)
			tracepoint_threads_apply_fork(t, row);
		if (row->kind != SIDE_COMM)
			continue;
		thread = tracepoint_threads_get(t, row->tid);
		thread->pid = row->pid;
		thread->name = row->what;
	}
	tracepoint_threads_rewind(t);
}

/* Applies the next start. */
void tracepoint_threads_start(struct tracepoint_threads *t)
{
	const struct thread_start *s = &t->starts[t->next++];

	*map_at(&t->now, s->tid) = s->thread + 1ULL;
	t->recent[s->tid % THREADS_RECENT].thread = 0;
}

uint32_t tracepoint_threads_look_up(struct tracepoint_threads *t, uint32_t tid)
{
	uint32_t i = tid % THREADS_RECENT,
		 thread = (uint32_t)(tracepoint_threads_get(t, tid) - t->list);

	t->recent[i].tid = tid;
	t->recent[i].thread = thread + 1;
	return thread;
}

void tracepoint_threads_free(struct tracepoint_threads *t)
{
	free(t->list);
	free(t->starts);
	map_free(&t->now);
}

/* --- the order of time --- */

void time_order_free(struct time_order *o)
{
	free(o->list);
	free(o->merged);
	free(o->starts);
}

static void time_order_deliver(struct time_order *o, const struct tracepoint *t)
{
	if (t->time < o->last)
		o->late++;
	else
		o->last = t->time;
	o->deliver(o->ctx, t);
}

/* Merges the ascending stretches [from, mid) and [mid, end) of the list. */
static void time_order_merge(struct time_order *o, size_t from, size_t mid, size_t end)
{
	const struct tracepoint *a = o->list + from, *b = o->list + mid;
	const struct tracepoint *a_end = b, *b_end = o->list + end;
	struct tracepoint *to = o->merged + from;

	while (a < a_end && b < b_end)
		*to++ = b->time < a->time ? *b++ : *a++;
	while (a < a_end)
		*to++ = *a++;
	while (b < b_end)
		*to++ = *b++;
}

/* Merges neighbouring stretches until there are two. */
static void time_order_sort(struct time_order *o)
{
	struct tracepoint *merged;
	size_t i;

	o->starts[o->nstarts] = o->starts[o->nstarts + 1] = o->n;
	if (o->nstarts > 2)
		o->merged = xrealloc(o->merged, o->cap * sizeof(*o->merged));
	for (; o->nstarts > 2; o->nstarts = (o->nstarts + 1) / 2) {
		for (i = 0; i < o->nstarts; i += 2) {
			time_order_merge(o, o->starts[i], o->starts[i + 1], o->starts[i + 2]);
			o->starts[i / 2] = o->starts[i];
		}
		o->starts[i / 2] = o->starts[i / 2 + 1] = o->n;
		merged = o->merged;
		o->merged = o->list;
		o->list = merged;
	}
}

/* Delivers the events up to `limit`, and merges the last two stretches as it does. */
static void time_order_flush(struct time_order *o, uint64_t limit)
{
	const struct tracepoint *a, *a_end, *b, *b_end, *next;
	size_t left;

	if (!o->n)
		return;
	time_order_sort(o);
	a = o->list;
	a_end = b = o->list + o->starts[1];
	b_end = o->list + o->n;
	for (;;) {
		next = a < a_end && (b == b_end || a->time <= b->time) ? a : b;
		if (next == b_end || next->time > limit)
			break;
		time_order_deliver(o, next);
		*(next == a ? &a : &b) = next + 1;
	}
	left = (size_t)(a_end - a);
	o->n = left + (size_t)(b_end - b);
	memmove(o->list, a, left * sizeof(*o->list));
	memmove(o->list + left, b, (o->n - left) * sizeof(*o->list));
	o->nstarts = 0;
	if (left)
		o->starts[o->nstarts++] = 0;
	if (o->n > left)
		o->starts[o->nstarts++] = left;
}

struct tracepoint *time_order_slot(struct time_order *o)
{
	array_grow(o->list, o->n, o->cap);
	return &o->list[o->n];
}

void time_order_keep(struct time_order *o)
{
	const struct tracepoint *t = &o->list[o->n];

	if (!o->n || t->time < t[-1].time) {
		array_grow(o->starts, o->nstarts + 2, o->starts_cap); /* two ends follow */
		o->starts[o->nstarts++] = o->n;
	}
	if (t->time > o->max)
		o->max = t->time;
	o->fresh = true;
	o->n++;
}

void time_order_round(struct time_order *o)
{
	if (!o->fresh)
		return;
	time_order_flush(o, o->limit);
	o->limit = o->max;
	o->fresh = false;
}

void time_order_finish(struct time_order *o)
{
	time_order_flush(o, UINT64_MAX);
}

/* --- opening --- */

/* Caches the events of ids. Few events are recorded, and each sample has an id. */
enum { KNOWN_IDS = 16 };
struct known_id {
	uint64_t id; /* 0: free */
	long event;
};

enum { SAME_TIME = 16 };

struct tracepoints {
	struct recording r;
	struct profile profile; /* only its strings and health are used */
	struct tracing tracing;
	struct tracing_format **formats; /* by event; NULL: no format */
	struct tracepoint_threads threads;
	char comm[16];		 /* a made-up name */
	uint64_t from_ns, to_ns; /* deliver only samples in [from, to); both 0: all */
	/* used while reading: */
	const struct tracepoints_query *q;
	struct tracepoint_plan *plans; /* by event */
	struct known_id known[KNOWN_IDS];
	long id_at; /* offset of the id in samples; -1: no id */
	struct time_order order;
	struct tracepoint now[SAME_TIME]; /* delivered events with the latest time */
	unsigned int nnow;
	struct error *err;
};

/* Finds the format of each event. */
static int tracepoints_match_formats(struct tracepoints *tp, struct error *err)
{
	struct recording *r = &tp->r;
	size_t any = 0;

	tp->formats = xcalloc(r->events.n, sizeof(*tp->formats));
	for (size_t i = 0; i < r->events.n; i++) {
		if (r->events.list[i].type != PERF_TYPE_TRACEPOINT)
			continue;
		any++;
		tp->formats[i] = tracing_find(&tp->tracing, r->events.list[i].config);
	}
	if (!any || tp->tracing.n)
		return 0;
	return error_set(
		err, EBADMSG,
		"%s: has tracepoints but not their formats%s; record again, and let perf record end by itself or by Ctrl-C",
		r->path,
		r->pipe ? " (the stream's tracing data)"
			: " (perf writes them at the end of the file)");
}

int tracepoints_open(struct tracepoints **out, const char *path, const struct time_slice *slice,
		     struct error *err)
{
	struct tracepoints *tp = *out = xcalloc(1, sizeof(*tp));
	struct recording *r = &tp->r;
	int ret;

	profile_init(&tp->profile);
	ret = recording_open(r, &tp->profile, path, false, err);
	if (ret)
		return ret;
	tracing_read(&tp->tracing, r->tracing);
	if (tp->tracing.cut)
		recording_damaged(r, (uint64_t)(r->tracing.at - r->inputs[0].data),
				  "the tracing data is cut off");
	ret = tracepoints_match_formats(tp, err);
	ret = ret ?: recording_resolve_slice(slice, r, &tp->from_ns, &tp->to_ns, err);
	if (!ret)
		tracepoint_threads_init(&tp->threads, &r->side);
	return ret;
}

void tracepoints_close(struct tracepoints *tp)
{
	if (!tp)
		return;
	tracepoint_threads_free(&tp->threads);
	tracing_free(&tp->tracing);
	recording_close(&tp->r);
	profile_free(&tp->profile);
	free(tp->formats);
	free(tp);
}

const char *tracepoints_path(const struct tracepoints *tp)
{
	return tp->r.path;
}

const char *tracepoints_arch(const struct tracepoints *tp)
{
	return tp->r.arch;
}

static bool tracing_format_matches(const struct tracing_format *f, const char *system,
				   const char *name)
{
	return f && !strcmp(f->system, system) && !strcmp(name, f->name);
}

static struct tracing_format *tracepoints_find_format(const struct tracepoints *tp,
						      const char *system, const char *name)
{
	for (size_t i = 0; i < tp->r.events.n; i++)
		if (tracing_format_matches(tp->formats[i], system, name))
			return tp->formats[i];
	return NULL;
}

bool tracepoints_has(const struct tracepoints *tp, const char *system, const char *name)
{
	return tracepoints_find_format(tp, system, name);
}

const char *tracepoints_print_format(const struct tracepoints *tp, const char *system,
				     const char *name, size_t *len)
{
	const struct tracing_format *f = tracepoints_find_format(tp, system, name);

	return f ? tracing_print_format(f, len) : NULL;
}

/* --- threads of events --- */

uint32_t tracepoints_thread_of(struct tracepoints *tp, uint32_t tid)
{
	return tracepoint_threads_at(&tp->threads, tid);
}

const struct tracepoint_thread *tracepoints_thread(const struct tracepoints *tp, uint32_t thread)
{
	return &tp->threads.list[thread];
}

const char *tracepoints_comm(struct tracepoints *tp, uint32_t thread)
{
	const struct tracepoint_thread *t = &tp->threads.list[thread];

	if (t->name != UINT32_MAX)
		return intern_get(&tp->profile.strings, t->name);
	snprintf(tp->comm, sizeof(tp->comm), ":%d", (int)t->tid);
	return tp->comm;
}

/* --- samples --- */

static int tracepoints_plan_fields(struct tracepoints *tp, size_t event,
				   const struct tracepoint_want *want, struct tracepoint_plan *plan)
{
	uint64_t needed = PERF_SAMPLE_TIME | PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	struct tracing_format *f = tp->formats[event];

	for (int i = 0; i < TRACEPOINT_FIELDS && want->fields[i]; i++) {
		plan->fields[i] = tracing_field(&tp->tracing, f, want->fields[i]);
		if (!plan->fields[i].size)
			return error_set(tp->err, EBADMSG,
					 "%s: the format of %s:%s has no number '%s'", tp->r.path,
					 f->system, f->name, want->fields[i]);
	}
	if ((tp->r.events.list[event].sample_type & needed) != needed)
		return error_set(
			tp->err, EBADMSG,
			"%s: %s:%s was recorded without times, threads or raw data; record it with perf record -T -R",
			tp->r.path, f->system, f->name);
	return 0;
}

static int tracepoints_make_plans(struct tracepoints *tp)
{
	int ret = 0;

	tp->plans = xcalloc(tp->r.events.n, sizeof(*tp->plans));
	for (size_t i = 0; i < tp->r.events.n && i <= UINT16_MAX; i++) {
		for (size_t k = 0; k < tp->q->n && !ret && !tp->plans[i].wanted; k++) {
			const struct tracepoint_want *w = &tp->q->wants[k];

			if (!tracing_format_matches(tp->formats[i], w->system, w->name))
				continue;
			tp->plans[i].wanted = true;
			tp->plans[i].want = (uint16_t)k;
			ret = tracepoints_plan_fields(tp, i, w, &tp->plans[i]);
			tracepoint_plan_finish(&tp->plans[i], &tp->r.events.list[i]);
		}
	}
	return ret;
}

static inline long tracepoints_sample_event(struct tracepoints *tp, struct cursor body)
{
	struct cursor c = body;
	struct known_id *known;
	uint64_t id;

	if (tp->r.events.n == 1)
		return 0;
	cursor_take(&c, (size_t)tp->id_at);
	id = cursor_u64(&c);
	known = &tp->known[id % KNOWN_IDS];
	if (tp->id_at >= 0 && id && known->id == id)
		return known->event;
	known->event = sample_event(&tp->r.events, body);
	known->id = tp->id_at >= 0 ? id : 0;
	return known->event;
}

static void tracepoints_read_sample(struct tracepoints *tp, struct chunk_sample *at)
{
	long event = tracepoints_sample_event(tp, at->body);
	struct tracepoint *t;
	const char *wrong;

	if (event < 0 || !tp->plans[event].wanted)
		return;
	t = time_order_slot(&tp->order);
	wrong = tracepoint_plan_read(&tp->plans[event], &tp->r.events.list[event], &at->body, t);
	if (wrong)
		recording_damaged(&tp->r, at->order, wrong);
	else if ((!tp->from_ns && !tp->to_ns) || (t->time >= tp->from_ns && t->time < tp->to_ns))
		time_order_keep(&tp->order);
}

/* The files of a folder do not share rounds. */
static void tracepoints_end_round(struct tracepoints *tp)
{
	if (tp->r.ninputs == 1)
		time_order_round(&tp->order);
}

static void tracepoints_read_chunk(struct tracepoints *tp, struct chunk_reader *reader,
				   const struct chunk *chunk)
{
	struct chunk_sample at;
	uint32_t type;

	if (!chunk_read(reader, chunk, tp->r.swap))
		recording_damaged(&tp->r, chunk->order, "the file was cut while it was read");
	while (chunk_next_record(reader, &at, &type)) {
		if (type == PERF_RECORD_SAMPLE)
			tracepoints_read_sample(tp, &at);
		else if (type == REC_FINISHED_ROUND)
			tracepoints_end_round(tp);
	}
	if (chunk->round)
		tracepoints_end_round(tp);
}

/*
 * perf 6.1 sometimes writes a sample of a tracepoint twice, equal to the last byte. No thread does
 * the same thing twice in one nanosecond, so the second sample is dropped.
 */
static bool tracepoints_is_double(struct tracepoints *tp, const struct tracepoint *t)
{
	if (tp->nnow && tp->now[0].time != t->time)
		tp->nnow = 0;
	for (unsigned int i = 0; i < tp->nnow; i++) {
		const struct tracepoint *o = &tp->now[i];

		if (o->tid == t->tid && o->pid == t->pid && o->cpu == t->cpu &&
		    o->want == t->want && !memcmp(o->v, t->v, sizeof(o->v)))
			return true;
	}
	if (tp->nnow < SAME_TIME)
		tp->now[tp->nnow++] = *t;
	return false;
}

static void tracepoints_deliver(void *ctx, const struct tracepoint *t)
{
	struct tracepoints *tp = ctx;
	struct tracepoint_thread *thread;
	uint32_t index;

	if (tracepoints_is_double(tp, t))
		return;
	tracepoint_threads_advance(&tp->threads, t->time);
	index = tracepoint_threads_at(&tp->threads, t->tid);
	thread = &tp->threads.list[index];
	if (thread->pid == UINT32_MAX)
		thread->pid = t->pid;
	tp->q->deliver(tp->q->ctx, t, index);
}

/* Uses one thread. To pass 50 ns of work to another thread costs as much as the work. */
static void tracepoints_read_samples(struct tracepoints *tp)
{
	struct chunk_reader reader = {0};

	tp->order = (struct time_order){.deliver = tracepoints_deliver, .ctx = tp};
	for (size_t i = 0; i < tp->r.nchunks; i++)
		tracepoints_read_chunk(tp, &reader, &tp->r.chunks[i]);
	time_order_finish(&tp->order);
	time_order_free(&tp->order);
	free(reader.buf);
}

int tracepoints_read(struct tracepoints *tp, const struct tracepoints_query *q, struct error *err)
{
	int ret;

	tp->q = q;
	tp->err = err;
	tp->id_at = sample_id_at(&tp->r.events);
	ret = tracepoints_make_plans(tp);
	if (!ret)
		tracepoints_read_samples(tp);
	free(tp->plans);
	return ret;
}

void tracepoints_add_notes(const struct tracepoints *tp, struct notes *notes)
{
	health_add_losses(notes, &tp->profile.health);
	if (tp->order.late)
		note_add(notes, tracepoints_late, (unsigned long long)tp->order.late);
}
