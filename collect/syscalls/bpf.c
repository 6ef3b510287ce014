// SPDX-License-Identifier: GPL-2.0-only
/* Loads and reads the kernel's half, syscalls.bpf.c. Its object file is embedded in this one. */
#include "collect/syscalls/methods.h"

#include "collect/bpf.h"

#include <errno.h>
#include <unistd.h>

#ifndef HAVE_BPF

static int bpf_open(void **self, struct error *err)
{
	*self = NULL;
	return error_set(err, ENOSYS, BPF_MISSING);
}

const struct syscalls_method syscalls_bpf = {.name = "bpf", .open = bpf_open};

#else

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>

EMBED_BPF(syscalls);

enum { FIRST_COUNTER = SOCKET_COPY_KINDS + 4, FIRST_COPY = FIRST_COUNTER + 2 };

/*
 * The first ones each count one kind of socket_copies. A kernel may lack those, or refuse fentry.
 */
static const struct {
	const char *name;
	bool fentry;
} programs[] = {
	[SOCKET_COPY_OUT] = {"zcost_copy_out", false},
	[SOCKET_COPY_FRAGS] = {"zcost_copy_frags", true},
	[SOCKET_COPY_PINS] = {"zcost_pin", true},
	[SOCKET_COPY_KINDS] = {"zcost_fork", false},
	{"zcost_task_exit", false},
	{"zcost_exec", false},
	{"zcost_rename", false},
	[FIRST_COUNTER] = {"zcost_enter", false},
	{"zcost_exit", false},
	[FIRST_COPY] = {"zcost_enter_again1", false}, /* they run behind the ones above */
	{"zcost_enter_again2", false},
	{"zcost_exit_again1", false},
	{"zcost_exit_again2", false},
};

struct bpf {
	struct bpf_object *obj;
	struct bpf_link *links[array_size(programs)];
	bool copies_failed;
	uint32_t self;
	volatile struct syscall_control *control;
	struct syscall_thread *threads;
	struct syscall_cell *cells;
};

static struct bpf_program *bpf_program(const struct bpf *b, size_t i)
{
	return bpf_object__find_program_by_name(b->obj, programs[i].name);
}

/* Loads all programs but those of fentry from the number `most` on. */
static int bpf_load(struct bpf *b, size_t most)
{
	struct syscall_trait *traits;
	struct bpf_map *rodata;
	size_t len = 0, i;

	b->obj = OPEN_BPF(syscalls);
	if (!b->obj)
		return -errno;
	bpf_map__set_max_entries(bpf_object__find_map_by_name(b->obj, "tids"), bpf_thread_ids());
	rodata = bpf_object__find_map_by_name(b->obj, ".rodata");
	traits = rodata ? (struct syscall_trait *)bpf_map__initial_value(rodata, &len) : NULL;
	if (!traits || len < SYSCALLS_NR * sizeof(*traits))
		return -EINVAL;
	memcpy(traits, syscall_traits(), SYSCALLS_NR * sizeof(*traits));
	for (i = 0; i < array_size(programs); i++)
		bpf_program__set_autoload(bpf_program(b, i), i < most || !programs[i].fentry);
	bpf_choose_again(b->obj);
	return bpf_object__load(b->obj);
}

static int bpf_attach(struct bpf *b)
{
	size_t i;

	for (i = 0; i < array_size(programs); i++) {
		struct bpf_program *prog = bpf_program(b, i);

		if (!prog)
			return -ENOENT;
		if (!bpf_program__autoload(prog))
			continue;
		b->links[i] = bpf_program__attach(prog);
		if (!b->links[i] && i >= SOCKET_COPY_KINDS)
			return -errno;
		if (!b->links[i] && error_of_machine(errno))
			b->copies_failed = true;
	}
	return 0;
}

static int bpf_open(void **self, struct error *err)
{
	struct bpf *b = xcalloc(1, sizeof(*b));
	int rc;

	*self = b;
	rc = bpf_begin(err);
	if (rc)
		return rc;
	rc = bpf_load(b, SOCKET_COPY_KINDS);
	/* Pins need Linux 6.0, and fentry a kernel that lets us change its code. */
	for (size_t most = SOCKET_COPY_KINDS; rc && --most;) {
		bpf_object__close(b->obj);
		b->obj = NULL;
		bpf_begin(err);
		rc = bpf_load(b, most);
	}
	if (rc)
		return bpf_refused(-rc, err);
	b->control = bpf_map_memory(b->obj, ".bss", sizeof(*b->control));
	b->threads = bpf_map_memory(b->obj, "threads", SYSCALLS_THREADS * sizeof(*b->threads));
	b->cells = bpf_map_memory(b->obj, "cells", SYSCALLS_CELLS * sizeof(*b->cells));
	if (!b->control || !b->threads || !b->cells)
		return bpf_refused(ENOMEM, err);
	b->self = b->control->adopt = bpf_own_pid(b->obj, "zcost_whoami");
	rc = bpf_attach(b);
	return rc ? bpf_refused(-rc, err) : 0;
}

static void bpf_time_one_in(void *self, unsigned int n)
{
	((struct bpf *)self)->control->untimed = SYSCALLS_LOTS - SYSCALLS_LOTS / n;
}

/* The kernel's program knows threads by global ids, which /proc of a PID namespace does not have.
 */
static int bpf_add(void *self, uint32_t pid, uint32_t tid, struct error *err)
{
	struct bpf *b = self;
	int map = bpf_object__find_map_fd_by_name(b->obj, "tids");
	uint32_t state = STRANGER, member = MEMBER;

	(void)pid;
	if (b->self != (uint32_t)getpid())
		return error_set(
			err, EOPNOTSUPP,
			"zcost runs in a PID namespace, where it counts only what it starts");
	if (bpf_map_lookup_elem(map, &tid, &state) || state != STRANGER)
		return 0;
	if (bpf_map_update_elem(map, &tid, &member, BPF_EXIST))
		return error_sys(err, errno, "a thread cannot be counted");
	return 1;
}

/* --- the window --- */

static int bpf_start(void *self, struct error *err)
{
	(void)err;
	__atomic_store_n(&((struct bpf *)self)->control->on, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int bpf_stop(void *self, struct error *err)
{
	(void)err;
	__atomic_store_n(&((struct bpf *)self)->control->on, 0, __ATOMIC_SEQ_CST);
	return 0;
}

/*
 * The kernel skips a program that would interrupt itself. Those calls are not counted. Where the
 * last programs have copies, they see themselves what all of them have missed.
 */
static uint64_t bpf_missed(const struct bpf *b)
{
	bool copies = bpf_program__autoload(bpf_program(b, FIRST_COPY));
	uint64_t sum = 0;
	size_t i;

	for (i = SOCKET_COPY_KINDS; i < (copies ? FIRST_COUNTER : FIRST_COPY); i++) {
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(bpf_program(b, i)), &info, &len))
			sum += info.recursion_misses;
	}
	return sum;
}

static void bpf_read_copies(const struct bpf *b, struct syscall_counts *counts)
{
	int map = bpf_object__find_map_fd_by_name(b->obj, "copies"),
	    ncpus = libbpf_num_possible_cpus();
	autofree struct socket_copies *per_cpu =
		xcalloc(ncpus > 0 ? (size_t)ncpus : 1, sizeof(*per_cpu));
	uint32_t kind;
	int i;

	counts->copies_failed = b->copies_failed;
	for (kind = 0; kind < SOCKET_COPY_KINDS; kind++) {
		counts->copies_known[kind] =
			b->links[kind] && ncpus > 0 && !bpf_map_lookup_elem(map, &kind, per_cpu);
		counts->copies_failed |= b->links[kind] && !counts->copies_known[kind];
		for (i = 0; counts->copies_known[kind] && i < ncpus; i++) {
			counts->copies[kind].calls += per_cpu[i].calls;
			counts->copies[kind].bytes += per_cpu[i].bytes;
		}
	}
}

static void bpf_counts(void *self, struct syscall_counts *counts)
{
	struct bpf *b = self;
	uint32_t threads, cells;

	/* Every program that runs now ends within an RCU grace period. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		usleep(10000);
	threads = b->control->threads;
	cells = b->control->cells;
	*counts = (struct syscall_counts){
		.threads = b->threads,
		.cells = b->cells,
		.nthreads = threads < SYSCALLS_THREADS ? threads : SYSCALLS_THREADS - 1,
		.ncells = cells < SYSCALLS_CELLS ? cells : SYSCALLS_CELLS - 1,
		.lost = b->control->lost + bpf_missed(b),
	};
	bpf_read_copies(b, counts);
}

static const void *bpf_programs(void *self)
{
	return ((struct bpf *)self)->obj;
}

static void bpf_close(void *self)
{
	struct bpf *b = self;
	size_t i;

	for (i = 0; i < array_size(programs); i++)
		bpf_link__destroy(b->links[i]);
	bpf_object__close(b->obj);
	free(b);
}

const struct syscalls_method syscalls_bpf = {
	.name = "bpf",
	.open = bpf_open,
	.time_one_in = bpf_time_one_in,
	.add = bpf_add,
	.start = bpf_start,
	.stop = bpf_stop,
	.counts = bpf_counts,
	.programs = bpf_programs,
	.close = bpf_close,
};

#endif
