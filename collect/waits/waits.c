// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each thread of the workload did in the window, and what it waited for. The kernel's half,
 * waits.bpf.c, adds the times up. waits.tsv has rows for each thread:
 *
 *   pid tid comm state vector call kind from by count ns hist
 *
 * The state wall is how long the thread lived in the window. A context, with its vector, has the
 * part of the time on a CPU as in the parts of the window in which system calls are seen; running
 * is that time if they say too little. blocked is the time until a waker comes, and waiting the
 * time from then, or from a preemption, to a CPU. Both have the system call, the kind (S, D, T as
 * in /proc, R: preempted), and the waker: from says what it is, by names a thread. A wait that the
 * window's end cuts has no count. waits_stacks.tsv has the stacks of waits that were picked at
 * random, innermost first: the kernel's addresses, and of the program build-ids with offsets in
 * these files:
 *
 *   pid tid call kind from by samples ns stack program
 *
 * waits_files.tsv has the build-id and the path of each of these files:
 *
 *   build_id path
 */
#include "collect/waits/waits.h"

#include "collect/bpf.h"
#include "collect/collect.h"
#include "collect/perf.h"
#include "collect/run/run.h"
#include "collect/syscalls/methods.h"
#include "lib/clock.h"

#include <errno.h>
#include <inttypes.h>

#ifdef HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

EMBED_BPF(waits);

struct waits {
	struct bpf_object *obj;
	struct bpf_links links;
	struct bpf_parts parts;
	volatile struct waits_control *control;
	struct waits_thread *threads;
	struct intern files; /* with code of the workload's processes */
	uint32_t looked;     /* slots of threads whose processes' files are known */
};

/* --- the programs --- */

static int waits_load(struct waits *w)
{
	int rc;

	w->obj = OPEN_BPF(waits);
	if (!w->obj)
		return -errno;
	bpf_map__set_max_entries(bpf_object__find_map_by_name(w->obj, "tids"), bpf_thread_ids());
	bpf_map__set_max_entries(bpf_object__find_map_by_name(w->obj, "cpus"),
				 (uint32_t)libbpf_num_possible_cpus());
	bpf_parts_choose(w->obj);
	rc = bpf_object__load(w->obj);
	if (rc)
		return rc;
	w->control = bpf_map_memory(w->obj, ".bss", sizeof(*w->control));
	w->threads = bpf_map_memory(w->obj, "threads", WAITS_THREADS * sizeof(*w->threads));
	if (!w->control || !w->threads)
		return -ENOMEM;
	w->control->start = UINT64_MAX;
	w->control->adopt = bpf_own_pid(w->obj, "waits_whoami");
	return 0;
}

static int waits_prepare(struct collect *c)
{
	struct waits *w = c->data = xcalloc(1, sizeof(*w));
	int rc = bpf_begin(&c->err) ?: waits_load(w);

	rc = bpf_ready(c, &w->links, w->obj, NULL, rc);
	if (!rc)
		bpf_parts_init(&w->parts, w->obj, "waits_part", &c->run->online);
	return rc;
}

/* --- threads that zcost did not start --- */

/* Fills the thread as blocked since now, in the call that /proc names. */
static void waits_fill_thread(struct waits_thread *t, uint32_t slot, uint32_t pid, uint32_t tid)
{
	char call[32], *end;
	unsigned long nr;

	*t = (struct waits_thread){
		.pid = pid, .tid = tid, .state = WAITS_BLOCKED, .every = 1, .weight = 1};
	t->wait = (struct waits_key){.slot = slot, .call = WAITS_NO_CALL, .kind = 'S'};
	tree_file(t->comm, sizeof(t->comm), "/proc/%u/task/%u/comm", pid, tid);
	t->comm[strcspn(t->comm, "\n")] = '\0';
	if (tree_file(call, sizeof(call), "/proc/%u/task/%u/syscall", pid, tid)) {
		nr = strtoul(call, &end, 10);
		if (end > call && nr < WAITS_NO_CALL) {
			t->wait.call = (uint16_t)nr;
			t->base = FRAME_SYSCALL;
		}
	}
	t->since = t->out = clock_mono_ns();
}

static int waits_add_thread(void *self, uint32_t pid, uint32_t tid, struct error *err)
{
	struct waits *w = self;
	int map = bpf_object__find_map_fd_by_name(w->obj, "tids");
	uint32_t slot = 0;

	if (w->control->adopt != (uint32_t)getpid())
		return error_set(
			err, EOPNOTSUPP,
			"zcost runs in a PID namespace, where it follows only what it starts");
	if (bpf_map_lookup_elem(map, &tid, &slot) || slot)
		return 0;
	if (w->control->threads < WAITS_THREADS - 1)
		slot = __atomic_add_fetch(&w->control->threads, 1, __ATOMIC_SEQ_CST);
	if (!slot || slot >= WAITS_THREADS)
		return error_set(err, ENOSPC, "the workload has more than %d threads",
				 WAITS_THREADS);
	waits_fill_thread(&w->threads[slot], slot, pid, tid);
	if (bpf_map_update_elem(map, &tid, &slot, BPF_EXIST))
		return error_sys(err, errno, "a thread cannot be followed");
	return 1;
}

static void waits_add_files(struct waits *w, uint32_t pid)
{
	autofree char *maps = xasprintf("/proc/%u/maps", pid);
	FILE *f = fopen(maps, "re");
	autofree char *line = NULL;
	size_t cap = 0;
	char code;
	int at;

	while (f && getline(&line, &cap, f) > 0) { /* a path may be longer than any buffer */
		struct perf_file as = {0};

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*x-%*x %*2c%c%*c %*x %x:%x %" SCNu64 " %n", &code, &as.maj,
			   &as.min, &as.ino, &at) == 4 &&
		    code == 'x' && line[at] == '/')
			perf_file_add(&w->files, &as, line + at);
	}
	if (f)
		fclose(f);
}

/*
 * Looks at the processes that are new. Once the window is closed, it looks at all again. In a PID
 * namespace, /proc has other numbers.
 */
static int waits_find_files(struct collect *c)
{
	struct waits *w = c->data;
	uint32_t i = w->control->stop ? 0 : w->looked;

	if (w->control->adopt != (uint32_t)getpid())
		return 0;
	for (w->looked = w->control->threads; i < w->looked && i < WAITS_THREADS - 1; i++)
		if (w->threads[i + 1].tid == w->threads[i + 1].pid && !w->threads[i + 1].died)
			waits_add_files(w, w->threads[i + 1].pid);
	return 0;
}

static int waits_before(struct collect *c)
{
	int rc = run_has_strangers(c->run) ? bpf_add_threads(c, waits_add_thread, c->data) : 0;

	return rc ?: waits_find_files(c);
}

/* --- the window --- */

static int waits_start(struct collect *c)
{
	const struct waits *w = c->data;
	const struct bpf_program *look = bpf_object__find_program_by_name(w->obj, "waits_look");
	int rc = bpf_run_on_cpus(look, &c->run->online, 0);

	__atomic_store_n(&w->control->start, clock_mono_ns(), __ATOMIC_SEQ_CST);
	return rc ? error_sys(&c->err, -rc, "a CPU cannot begin to count") : 0;
}

static int waits_turn(struct collect *c)
{
	return bpf_parts_turn(c, &((struct waits *)c->data)->parts);
}

static int waits_stop(struct collect *c)
{
	const struct waits *w = c->data;

	__atomic_store_n(&w->control->stop, clock_mono_ns(), __ATOMIC_SEQ_CST);
	return 0;
}

/* --- the files --- */

static uint64_t waits_from(const struct waits *w, uint64_t time)
{
	return time > w->control->start ? time : w->control->start;
}

static void waits_print_thread(struct str *s, const struct waits_thread *t)
{
	str_printf(s, "%u\t%u\t", t->pid, t->tid);
	frame_print_comm(s, t->comm);
	str_putc(s, '\t');
}

/* Adds "recvfrom\tS\tsoftirq NET_RX\t\t" or "futex\tS\tworkload\tname\t". */
static void waits_print_key(struct str *s, const struct waits_key *k)
{
	const struct waits_waker *by = &k->waker;
	const char *call = syscall_name(k->call);

	if (call)
		str_puts(s, call);
	else if (k->call != WAITS_NO_CALL)
		str_printf(s, "syscall_%u", k->call);
	str_printf(s, "\t%c\t", k->kind);
	if (!by->seen)
		;
	else if (by->context >= FRAME_HARDIRQ)
		str_printf(s, "hardirq %s", frame_vector_name(by->context));
	else if (by->context >= FRAME_SOFTIRQ)
		str_printf(s, "softirq %s", frame_vector_name(by->context));
	else
		str_puts(s, by->own ? "workload" : "other");
	str_putc(s, '\t');
	frame_print_comm(s, by->comm);
	str_putc(s, '\t');
}

static void waits_print_part(struct str *s, const struct waits_thread *t, const struct waits_key *k,
			     const char *state, uint64_t n, uint64_t ns, const uint32_t *hist)
{
	const char *comma = "";

	if (!n && !ns)
		return;
	waits_print_thread(s, t);
	str_printf(s, "%s\t\t", state);
	waits_print_key(s, k);
	str_printf(s, "%" PRIu64 "\t%" PRIu64 "\t", n, ns);
	for (int i = 0; hist && i < WAITS_BUCKETS; i++)
		if (hist[i]) {
			str_printf(s, "%s%d:%u", comma, i, hist[i]);
			comma = ",";
		}
	str_putc(s, '\n');
}

/* Ends what the thread does or waits for with the window. */
static void waits_close_thread(struct str *s, const struct waits *w, struct waits_thread *t)
{
	uint64_t stop = w->control->stop, out = waits_from(w, t->out),
		 since = waits_from(w, t->since);

	if (since > stop || out > stop)
		return;
	if (t->state == WAITS_RUNNING)
		t->ran += stop - since;
	else if (t->state == WAITS_BLOCKED)
		waits_print_part(s, t, &t->wait, "blocked", 0, stop - out, NULL);
	else if (t->state == WAITS_WOKEN)
		waits_print_part(s, t, &t->wait, "blocked", 0, since - out, NULL);
	if (t->state == WAITS_WOKEN || t->state == WAITS_PREEMPTED)
		waits_print_part(s, t, &t->wait, "waiting", 0, stop - since, NULL);
}

/* What all threads with one name in a process did in the parts of the window. */
struct name_parts {
	uint64_t ns, of[FRAME_CELLS];
};

static void waits_print_sum(struct str *s, const struct waits_thread *t, const char *state,
			    uint64_t ns)
{
	if (!ns)
		return;
	waits_print_thread(s, t);
	str_printf(s, "%s\t\t\t\t\t\t\t%" PRIu64 "\t\n", state, ns);
}

/* Divides the time on a CPU as in the parts, or prints it as "running" if they have too little. */
static void waits_print_contexts(struct str *s, const struct waits_thread *t,
				 const struct name_parts *parts)
{
	if (parts->ns < WAITS_FEW) {
		waits_print_sum(s, t, "running", t->ran);
		return;
	}
	for (uint32_t context = 0; t->ran && context < FRAME_CONTEXTS; context++) {
		if (!parts->of[context])
			continue;
		waits_print_thread(s, t);
		frame_print_context(s, context);
		str_printf(s, "\t\t\t\t\t\t%.0f\t\n",
			   (double)t->ran * (double)parts->of[context] / (double)parts->ns);
	}
}

static void waits_print_threads(struct str *s, const struct waits *w)
{
	uint32_t n = w->control->threads < WAITS_THREADS ? w->control->threads : WAITS_THREADS - 1;
	autofree struct name_parts *parts = xcalloc(n + 1, sizeof(*parts));
	autofree uint32_t *of = xcalloc(n + 1, sizeof(*of));
	freed(intern_free) struct intern names = {0};

	for (uint32_t i = 1; i <= n; i++) {
		const struct waits_thread *t = &w->threads[i];
		autofree char *name = xasprintf("%u %.*s", t->pid, FRAME_COMM, t->comm);
		struct name_parts *sum = &parts[of[i] = intern_str(&names, name)];

		for (uint32_t context = 0; context < FRAME_CONTEXTS; context++) {
			sum->of[context] += t->ns[context];
			sum->ns += t->ns[context];
		}
	}
	for (uint32_t i = 1; i <= n; i++) {
		struct waits_thread *t = &w->threads[i];
		uint64_t from = waits_from(w, t->born), to = t->died ?: w->control->stop;

		waits_close_thread(s, w, t);
		waits_print_sum(s, t, "wall", to > from ? to - from : 0);
		waits_print_contexts(s, t, &parts[of[i]]);
	}
}

static void waits_print_cells(struct str *s, const struct waits *w)
{
	int map = bpf_object__find_map_fd_by_name(w->obj, "cells");
	struct waits_key key, *before = NULL;
	struct waits_cell cell;

	for (; !bpf_map_get_next_key(map, before, &key); before = &key) {
		const struct waits_thread *t = &w->threads[key.slot % WAITS_THREADS];

		if (bpf_map_lookup_elem(map, &key, &cell))
			continue;
		waits_print_part(s, t, &key, "blocked", key.kind == 'R' ? 0 : cell.n,
				 cell.ns[WAITS_FOR_WAKER], cell.hist[WAITS_FOR_WAKER]);
		waits_print_part(s, t, &key, "waiting", cell.n, cell.ns[WAITS_FOR_CPU],
				 cell.hist[WAITS_FOR_CPU]);
	}
}

static void waits_print(struct str *s, const struct waits *w)
{
	str_puts(s, "pid\ttid\tcomm\tstate\tvector\tcall\tkind\tfrom\tby\tcount\tns\thist\n");
	waits_print_threads(s, w);
	waits_print_cells(s, w);
}

/* Adds "93ac61ec...+1f2a0 ". A frame in no file has no build-id. */
static void waits_print_program(struct str *s, const struct waits_program *p)
{
	for (uint32_t i = 0; i < p->n && i < WAITS_USER_FRAMES; i++) {
		const struct bpf_stack_build_id *f = &p->frame[i];
		bool valid = f->status == BPF_STACK_BUILD_ID_VALID;

		if (i)
			str_putc(s, ' ');
		for (size_t k = 0; valid && k < sizeof(f->build_id); k++)
			str_printf(s, "%02x", f->build_id[k]);
		str_printf(s, "+%llx", (unsigned long long)(valid ? f->offset : f->ip));
	}
}

static void waits_print_stacks(struct str *s, const struct waits *w)
{
	int map = bpf_object__find_map_fd_by_name(w->obj, "stacks"),
	    programs = bpf_object__find_map_fd_by_name(w->obj, "programs");
	struct waits_stack_key key, *before = NULL;
	struct waits_program program;
	struct waits_stack stack;

	str_puts(s, "pid\ttid\tcall\tkind\tfrom\tby\tsamples\tns\tstack\tprogram\n");
	for (; !bpf_map_get_next_key(map, before, &key); before = &key) {
		const struct waits_thread *t = &w->threads[key.wait.slot % WAITS_THREADS];

		if (bpf_map_lookup_elem(map, &key, &stack) || !stack.ns)
			continue;
		str_printf(s, "%u\t%u\t", t->pid, t->tid);
		waits_print_key(s, &key.wait);
		str_printf(s, "%" PRIu64 "\t%" PRIu64 "\t", stack.samples, stack.ns);
		for (uint32_t i = 0; i < stack.n && i < WAITS_FRAMES; i++)
			str_printf(s, "%s%" PRIx64, i ? " " : "", stack.address[i]);
		str_putc(s, '\t');
		if (!bpf_map_lookup_elem(programs, &key.program, &program))
			waits_print_program(s, &program);
		str_putc(s, '\n');
	}
}

static void waits_finish(struct collect *c)
{
	autofree struct waits *w = c->data;
	freed(str_free) struct str times = {0}, stacks = {0}, copies = {0};

	bpf_links_free(&w->links);
	bpf_links_free(&w->parts.links);
	if (c->run->end_ns && c->off.from) {
		waits_print(&times, w);
		waits_print_stacks(&stacks, w);
		collect_write(c, c->is->files[0], &times);
		collect_write(c, c->is->files[1], &stacks);
		str_puts(&copies, "build_id\tpath\n");
		dso_save_all(c, &w->files, &copies);
		collect_write(c, c->is->files[2], &copies);
		c->lost = (int64_t)w->control->lost;
		if (c->lost)
			collect_degraded(c, "%lld waits, stacks or threads had no room",
					 (long long)c->lost);
	}
	bpf_object__close(w->obj);
	intern_free(&w->files);
}

#endif

const struct collector collector_waits = {
	.name = "waits",
	.what = "what each thread of the workload does and waits for, and what wakes it",
	.files = {"waits.tsv", "waits_stacks.tsv", "waits_files.tsv"},
	.passes = PASS_TRACE,
	BPF_HOOKS(.prepare = waits_prepare, .before = waits_before, .start = waits_start,
		  .turn = waits_turn, .snap = waits_find_files, .stop = waits_stop,
		  .after = waits_find_files, .finish = waits_finish),
};
