// SPDX-License-Identifier: GPL-2.0-only
/*
 * The method without BPF: events of the raw_syscalls tracepoints, read from ring buffers. The
 * events are opened on this process and inherited, so they cover the workload from its first
 * instruction. Our own calls are recorded too, and thrown away. The reading thread starts before
 * the events are opened, so it makes none.
 */
#include "collect/syscalls/methods.h"

#include "collect/events/events.h"
#include "lib/clock.h"
#include "lib/cursor.h"

#include <errno.h>
#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>
#include <perf/threadmap.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* --- calls out of events --- */

void syscalls_events_add(struct syscalls_events *e, const struct syscall_event *event)
{
	array_add(e->pending, e->n, e->cap, *event);
}

static void syscall_events_set_comm(struct syscalls_events *e, struct syscall_thread *t)
{
	const uint64_t *name = map_get(&e->comm, t->tid);

	if (!name)
		return;
	memset(t->comm, 0, sizeof(t->comm));
	strncpy(t->comm, intern_get(&e->names, (uint32_t)*name - 1), sizeof(t->comm) - 1);
}

static struct syscall_thread *syscall_events_thread(struct syscalls_events *e,
						    const struct syscall_event *ev)
{
	uint64_t *slot = map_at(&e->slot, ev->tid);

	if (*slot)
		return &e->threads[*slot];
	if (!e->nthreads)
		e->nthreads = 1;
	array_grow(e->threads, e->nthreads, e->threads_cap);
	*slot = e->nthreads++;
	e->threads[*slot] = (struct syscall_thread){.pid = ev->pid, .tid = ev->tid};
	syscall_events_set_comm(e, &e->threads[*slot]);
	return &e->threads[*slot];
}

static struct syscall_cell *syscall_events_cell(struct syscalls_events *e, struct syscall_thread *t,
						uint32_t nr)
{
	if (t->cell[nr])
		return &e->cells[t->cell[nr]];
	if (!e->ncells)
		e->ncells = 1;
	array_grow(e->cells, e->ncells, e->cells_cap);
	e->cells[e->ncells] = (struct syscall_cell){0};
	t->cell[nr] = (uint32_t)e->ncells++;
	return &e->cells[t->cell[nr]];
}

/* Says whether an exit with the number can end the call at the index. */
static bool syscall_events_same(uint32_t index, uint32_t nr)
{
	if (nr == UINT32_MAX)
		return index < SYSCALLS_NR && syscall_traits()[index].restores;
	return index == syscall_index(nr) ||
	       (nr < SYSCALLS_FLAGGED && index == syscall_traits()[nr].flagged);
}

/*
 * An exit with another number belongs to an enter that was lost. An exit without an enter began
 * before the window.
 */
static void syscall_events_leave(struct syscalls_events *e, const struct syscall_event *ev)
{
	struct syscall_thread *t = syscall_events_thread(e, ev);
	struct syscall_cell *c;

	if (!t->entered)
		return;
	if (syscall_events_same(t->nr, ev->nr) && t->nr < SYSCALLS_NR) {
		c = syscall_events_cell(e, t, t->nr);
		syscall_time(c, ev->time - t->entered);
		syscall_count(c, &syscall_traits()[t->nr], ev->value, t->asked);
	}
	t->entered = 0;
}

static void syscall_events_apply(struct syscalls_events *e, const struct syscall_event *ev)
{
	struct syscall_thread *t;
	uint64_t *slot, name;

	switch (ev->kind) {
	case SYSCALL_FORK:
		/* A new thread has its parent's name, and perhaps the id of an old thread. */
		slot = map_get(&e->comm, ev->nr);
		name = slot ? *slot : 0;
		if (name)
			*map_at(&e->comm, ev->tid) = name;
		*map_at(&e->slot, ev->tid) = 0;
		break;
	case SYSCALL_COMM:
		slot = map_get(&e->slot, ev->tid);
		*map_at(&e->comm, ev->tid) = (uint64_t)ev->nr + 1;
		if (slot && *slot)
			syscall_events_set_comm(e, &e->threads[*slot]);
		break;
	case SYSCALL_ENTER:
		t = syscall_events_thread(e, ev);
		t->nr = ev->nr;
		t->entered = ev->time;
		t->asked = (uint64_t)ev->value;
		break;
	case SYSCALL_EXIT:
		syscall_events_leave(e, ev);
		break;
	}
}

static int syscall_events_by_time(const void *a, const void *b)
{
	const struct syscall_event *x = a, *y = b;

	return ascending(x->time, y->time) ?: ascending(x->kind, y->kind);
}

void syscalls_events_until(struct syscalls_events *e, uint64_t time)
{
	size_t i;

	qsort(e->pending, e->n, sizeof(*e->pending), syscall_events_by_time);
	for (i = 0; i < e->n && e->pending[i].time < time; i++)
		syscall_events_apply(e, &e->pending[i]);
	memmove(e->pending, e->pending + i, (e->n - i) * sizeof(*e->pending));
	e->n -= i;
}

void syscalls_events_free(struct syscalls_events *e)
{
	free(e->pending);
	free(e->threads);
	free(e->cells);
	map_free(&e->slot);
	map_free(&e->comm);
	intern_free(&e->names);
}

enum { ENTER, EXIT, COPY, SIDEBAND, EVENTS };

enum {
	POLL_MS = 50,
	SLACK_NS =
		10000000, /* most time between an event's timestamp and its place in the buffer */
};

struct tp {
	int ids[3];
	pid_t self;
	struct perf_evlist *list;
	struct perf_evsel *evsel[EVENTS];
	struct perf_cpu_map *cpus;
	struct perf_thread_map *threads;
	struct syscalls_events events;
	struct socket_copies copies;
	uint64_t lost;
	pthread_t reader;
	bool reading;
	atomic_int state; /* used by the reading thread only */
};

enum { WAIT, READ, QUIT };

static const char *const names[] = {"raw_syscalls/sys_enter", "raw_syscalls/sys_exit",
				    "skb/skb_copy_datagram_iovec"};

/* --- records --- */

/* Fills an enter's index and number of bytes from the six arguments of the call. */
static void tp_read_arguments(struct syscall_event *e, struct cursor arguments)
{
	const struct syscall_trait *t;
	uint64_t argument[6];

	for (int i = 0; i < 6; i++)
		argument[i] = cursor_u64(&arguments);
	e->nr = syscall_index(e->nr);
	if (e->nr >= SYSCALLS_NR)
		return;
	t = &syscall_traits()[e->nr];
	if (t->sized)
		e->value = (int64_t)argument[t->sized - 1];
	if (argument[t->argument] & t->flag)
		e->nr = t->flagged;
}

/* Counts data that the kernel copied from a socket: common fields, an address, `int len`. */
static void tp_on_copy(struct tp *tp, struct cursor c, uint32_t pid)
{
	uint32_t len;

	cursor_u64(&c);
	len = cursor_u32(&c);
	if (c.bad || pid == (uint32_t)tp->self)
		return;
	tp->copies.calls++;
	tp->copies.bytes += len;
}

/*
 * The layout of an event: common fields, `long id`, and the six arguments, or, for an exit,
 * `long ret`.
 */
static void tp_on_sample(struct tp *tp, struct cursor c)
{
	struct syscall_event e = {0};
	uint16_t type;

	e.pid = cursor_u32(&c);
	e.tid = cursor_u32(&c);
	e.time = cursor_u64(&c);
	cursor_take(&c, 4); /* the size of the rest */
	type = cursor_u16(&c);
	cursor_take(&c, 6);
	if (type == tp->ids[COPY]) {
		tp_on_copy(tp, c, e.pid);
		return;
	}
	e.nr = (uint32_t)cursor_u64(&c);
	e.kind = type == tp->ids[ENTER] ? SYSCALL_ENTER : SYSCALL_EXIT;
	if (e.kind == SYSCALL_EXIT)
		e.value = (int64_t)cursor_u64(&c);
	else
		tp_read_arguments(&e, c);
	if (!c.bad && e.pid != (uint32_t)tp->self)
		syscalls_events_add(&tp->events, &e);
}

/* The record is pid, parent's pid, tid, parent's tid, time. */
static void tp_on_fork(struct tp *tp, struct cursor c)
{
	struct syscall_event e = {.kind = SYSCALL_FORK};

	e.pid = cursor_u32(&c);
	cursor_u32(&c);
	e.tid = cursor_u32(&c);
	e.nr = cursor_u32(&c);
	e.time = cursor_u64(&c);
	if (!c.bad)
		syscalls_events_add(&tp->events, &e);
}

/*
 * The record is pid, tid, the name padded to 8 bytes, and then, as in every record, pid, tid, time.
 */
static void tp_on_comm(struct tp *tp, struct cursor c)
{
	struct syscall_event e = {.kind = SYSCALL_COMM};
	size_t len = cursor_left(&c);
	struct cursor tail = c;
	const char *name;

	e.pid = cursor_u32(&c);
	e.tid = cursor_u32(&c);
	if (len < 8 + 8 + 16)
		return;
	name = cursor_str(&c, len - 8 - 16);
	cursor_take(&tail, len - 8);
	e.time = cursor_u64(&tail);
	if (!name || tail.bad)
		return;
	e.nr = intern_str(&tp->events.names, name);
	syscalls_events_add(&tp->events, &e);
}

static void tp_on_record(struct tp *tp, const union perf_event *record)
{
	const struct perf_event_header *h = (const void *)record;
	struct cursor body = cursor_of(h + 1, h->size - sizeof(*h), false);

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		tp_on_sample(tp, body);
		break;
	case PERF_RECORD_FORK:
		tp_on_fork(tp, body);
		break;
	case PERF_RECORD_COMM:
		tp_on_comm(tp, body);
		break;
	case PERF_RECORD_LOST:
		cursor_take(&body, 8);
		tp->lost += cursor_u64(&body);
		break;
	}
}

/*
 * After this round all events older than its start have been read. perf_mmap__read_done is not
 * called on purpose: it is for buffers that are written backwards, and here it would skip the
 * events since the last record.
 */
static void tp_drain(struct tp *tp)
{
	uint64_t began = clock_mono_ns();
	struct perf_mmap *map;
	union perf_event *record;

	perf_evlist__for_each_mmap(tp->list, map, false)
	{
		if (perf_mmap__read_init(map) < 0)
			continue;
		while ((record = perf_mmap__read_event(map))) {
			tp_on_record(tp, record);
			perf_mmap__consume(map);
		}
	}
	syscalls_events_until(&tp->events, began - SLACK_NS);
}

static void *tp_read_loop(void *arg)
{
	struct tp *tp = arg;
	struct timespec pause = {.tv_nsec = 1000000};

	while (atomic_load(&tp->state) == WAIT)
		nanosleep(&pause, NULL);
	while (atomic_load(&tp->state) == READ) {
		perf_evlist__poll(tp->list, POLL_MS);
		tp_drain(tp);
	}
	return NULL;
}

/* --- set up --- */

static int libperf_print_nothing(enum libperf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

static int tp_add_event(struct tp *tp, int which)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.sample_period = 1,
		.sample_id_all = 1,
		.inherit = 1,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 256 * 1024,
	};

	if (which == SIDEBAND) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
		attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
		attr.comm = attr.task = 1;
	} else {
		attr.config = (uint64_t)tp->ids[which];
	}
	tp->evsel[which] = perf_evsel__new(&attr);
	if (!tp->evsel[which])
		return -ENOMEM;
	perf_evlist__add(tp->list, tp->evsel[which]);
	return 0;
}

static int tp_open_events(struct tp *tp)
{
	unsigned int pages;
	int rc = 0;

	tp->list = perf_evlist__new();
	tp->cpus = perf_cpu_map__new(NULL); /* all that are online */
	tp->threads = perf_thread_map__new_dummy();
	if (!tp->list || !tp->cpus || !tp->threads)
		return -ENOMEM;
	perf_thread_map__set_pid(tp->threads, 0, tp->self);
	for (int i = 0; i < EVENTS && !rc; i++)
		rc = tp_add_event(tp, i);
	if (rc)
		return rc;
	perf_evlist__set_maps(tp->list, tp->cpus, tp->threads);
	rc = perf_evlist__open(tp->list);
	pages = perf_event_ring_pages((unsigned int)perf_cpu_map__nr(tp->cpus));
	rc = rc ?: perf_evlist__mmap(tp->list, (int)pages);
	return rc ? rc : perf_evsel__enable(tp->evsel[SIDEBAND]);
}

/* The main thread reads all signals. */
static int tp_start_reader(struct tp *tp)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = -pthread_create(&tp->reader, NULL, tp_read_loop, tp);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	tp->reading = !rc;
	return rc;
}

static int tp_open(void **self, struct error *err)
{
	struct tp *tp = xcalloc(1, sizeof(*tp));
	int rc;

	*self = tp;
	tp->self = getpid();
	libperf_init(libperf_print_nothing);
	rc = tracefs_ids(names, tp->ids, array_size(names), err);
	if (rc)
		return rc;
	rc = tp_start_reader(tp);
	rc = rc ?: tp_open_events(tp);
	if (rc)
		return perf_event_denied(-rc, err);
	atomic_store(&tp->state, READ);
	return 0;
}

/* --- the window --- */

/* Switches exits on before enters: then every enter that is seen has its exit. */
static int tp_start(void *self, struct error *err)
{
	struct tp *tp = self;

	if (perf_evsel__enable(tp->evsel[EXIT]) || perf_evsel__enable(tp->evsel[ENTER]) ||
	    perf_evsel__enable(tp->evsel[COPY]))
		return error_sys(err, errno, "tracepoints cannot be switched on");
	return 0;
}

static int tp_stop(void *self, struct error *err)
{
	struct tp *tp = self;

	if (perf_evsel__disable(tp->evsel[ENTER]) || perf_evsel__disable(tp->evsel[EXIT]) ||
	    perf_evsel__disable(tp->evsel[COPY]))
		return error_sys(err, errno, "tracepoints cannot be switched off");
	return 0;
}

/* --- the end --- */

static void tp_end_reader(struct tp *tp)
{
	if (!tp->reading)
		return;
	atomic_store(&tp->state, QUIT);
	pthread_join(tp->reader, NULL);
	tp->reading = false;
}

static void tp_counts(void *self, struct syscall_counts *counts)
{
	struct tp *tp = self;

	tp_end_reader(tp);
	tp_drain(tp);
	syscalls_events_until(&tp->events, UINT64_MAX);
	*counts = (struct syscall_counts){
		.threads = tp->events.threads,
		.cells = tp->events.cells,
		.nthreads = tp->events.nthreads ? (uint32_t)tp->events.nthreads - 1 : 0,
		.ncells = tp->events.ncells ? (uint32_t)tp->events.ncells - 1 : 0,
		.copies = {[SOCKET_COPY_OUT] = tp->copies},
		.copies_known = {[SOCKET_COPY_OUT] = true},
		.lost = tp->lost,
	};
}

static void tp_close(void *self)
{
	autofree struct tp *tp = self;

	tp_end_reader(tp);
	if (tp->list) {
		perf_evlist__munmap(tp->list);
		perf_evlist__close(tp->list);
		perf_evlist__delete(tp->list);
	}
	perf_cpu_map__put(tp->cpus);
	perf_thread_map__put(tp->threads);
	syscalls_events_free(&tp->events);
}

const struct syscalls_method syscalls_tracepoint = {
	.name = "tracepoint",
	.open = tp_open,
	.start = tp_start,
	.stop = tp_stop,
	.counts = tp_counts,
	.close = tp_close,
};
