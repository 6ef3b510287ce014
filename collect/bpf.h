/* SPDX-License-Identifier: GPL-2.0-only */
/* What the collectors with programs in the kernel share. Their objects are embedded in zcost. */
#ifndef ZC_COLLECT_BPF_H
#define ZC_COLLECT_BPF_H

#include "collect/collect.h"
#include "lib/cpuset.h"

#include <stddef.h>

struct bpf_link;
struct bpf_object;
struct bpf_program;

/* The hook `prepare` of a collector in a zcost without BPF. Returns -ENOSYS with the reason. */
int bpf_missing(struct collect *c);
#define BPF_MISSING "this zcost was built without clang, so without BPF"
/* The hooks of a collector with BPF. */
#ifdef HAVE_BPF
#define BPF_HOOKS(...) __VA_ARGS__
#else
#define BPF_HOOKS(...) .prepare = bpf_missing
#endif

/*
 * Checks that the kernel has type information, and saves what libbpf says from now on. Returns 0,
 * or -ENOTSUP.
 */
int bpf_begin(struct error *err);

/* Returns -ENOTSUP in a PID namespace, whose numbers of processes the kernel's programs do not see.
 */
int bpf_check_pids(struct error *err);
/* Returns -code after a message that has the first warning of libbpf, or how to get the right. */
int bpf_refused(int code, struct error *err);
/* Returns the number of thread ids that an array by thread id has room for. */
uint32_t bpf_thread_ids(void);

/*
 * What the programs cost the host: their runs and time by the kernel's own account, which the
 * kernel keeps only while somebody asks for it. The account reads the clock twice for each run of a
 * program. So it is on for a hundredth of the window.
 */

/* Leaves out the copies of programs (collect/programs.h) that this kernel does not need. */
void bpf_choose_again(struct bpf_object *obj);
/*
 * Begins a part of the account, or ends the one of the descriptor *fd. Returns the ns until the
 * next step is due, which are centuries where nothing will ever be counted.
 */
uint64_t bpf_account_step(struct collect *list, size_t n, int *fd);

/* Puts collect/NAME/NAME.bpf.o, the programs of a collector, into zcost. */
#define EMBED_BPF(name)                                                                       \
	__asm__(".section .rodata\n"                                                          \
		".balign 16\n"                                                                \
		"zcost_" #name "_bpf: .incbin \"" BPF_FOLDER "/" #name "/" #name ".bpf.o\"\n" \
		"zcost_" #name "_bpf_end:\n"                                                  \
		".previous\n");                                                               \
	extern const char zcost_##name##_bpf[], zcost_##name##_bpf_end[]
/* Opens them. Is NULL with errno after a failure. */
#define OPEN_BPF(name)                           \
	bpf_object__open_mem(zcost_##name##_bpf, \
			     (size_t)(zcost_##name##_bpf_end - zcost_##name##_bpf), NULL)

/* Programs that are attached to their tracepoints. */
struct bpf_links {
	struct bpf_link **list;
	size_t n, cap;
};

/*
 * Ends the hook `prepare`. Without `rc`, which says that the programs could not be loaded, it adds
 * the object's programs to the account and attaches them. It leaves out those without a tracepoint,
 * which zcost runs itself, those of parts, and those whose tracepoint another machine has, as arm64
 * has ipi_entry. *optional, a program of the object, or NULL, becomes NULL unless it is attached.
 * Returns 0 or -errno with a message. The caller then calls bpf_links_free, also after a failure.
 */
int bpf_ready(struct collect *c, struct bpf_links *links, const struct bpf_object *obj,
	      struct bpf_program **optional, int rc);
void bpf_links_free(struct bpf_links *links);

/*
 * Parts of the window in which the programs of system calls are attached. Their tracepoints cost a
 * stream of 128 KiB sends a tenth of its CPU time.
 */
struct bpf_parts {
	const struct bpf_object *obj;
	const struct bpf_program *turn; /* runs on each CPU as a part begins or ends */
	const struct cpuset *cpus;
	struct bpf_links links;
	struct collect_parts when;
};

/* Leaves these programs out of bpf_ready(). The object is not loaded yet. */
void bpf_parts_choose(struct bpf_object *obj);
/* Borrows the object, which has the program `turn`, and the CPUs. */
void bpf_parts_init(struct bpf_parts *p, const struct bpf_object *obj, const char *turn,
		    const struct cpuset *cpus);
/*
 * Begins a part, or ends it (0), and runs `turn` with this argument. Ends it after a failure, too.
 * Returns 0 or -errno with a message. The caller frees the links after the window.
 */
int bpf_parts_set(struct collect *c, struct bpf_parts *p, uint32_t part);
/* The hook `turn` of a collector whose parts begin and end at random times. */
int bpf_parts_turn(struct collect *c, struct bpf_parts *p);

/* Maps the memory of an object's map, or returns NULL. */
void *bpf_map_memory(const struct bpf_object *obj, const char *map, size_t len);
/*
 * Returns the number of this process that kernel programs see, which in a PID namespace differs
 * from getpid(): what the program, which runs once, returns.
 */
uint32_t bpf_own_pid(const struct bpf_object *obj, const char *whoami);
/* Runs a program with an argument on each CPU. Returns 0 or -errno. */
int bpf_run_on_cpus(const struct bpf_program *p, const struct cpuset *cpus, uint64_t argument);

/*
 * Adds the threads of the workload that zcost did not start to those that a program follows. A
 * thread that was not added yet may make another one meanwhile, so their list is read until it has
 * no new thread. `add` returns 1, 0 for a thread that is known, or -errno. Returns 0 or -errno.
 */
int bpf_add_threads(struct collect *c,
		    int (*add)(void *self, uint32_t pid, uint32_t tid, struct error *err),
		    void *self);

#endif
