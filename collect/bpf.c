// SPDX-License-Identifier: GPL-2.0-only
#include "collect/bpf.h"

#include "collect/run/run.h"

#include <errno.h>

int bpf_missing(struct collect *c)
{
	return error_set(&c->err, ENOSYS, BPF_MISSING);
}

enum { ADD_TRIES = 16 };

int bpf_add_threads(struct collect *c,
		    int (*add)(void *self, uint32_t pid, uint32_t tid, struct error *err),
		    void *self)
{
	int tries = ADD_TRIES, found = 1, rc = 0;
	const struct tree *tree;

	while (found && tries-- && rc >= 0) {
		c->run->tree.read_ns = 0; /* an older reading may lack the newest threads */
		tree = tree_of(c->run);
		found = 0;
		for (size_t i = 0; i < tree->nthreads && rc >= 0; i++) {
			rc = add(self, (uint32_t)tree->threads[i].pid,
				 (uint32_t)tree->threads[i].tid, &c->err);
			found += rc > 0;
		}
	}
	return rc < 0 ? rc : 0;
}

#ifdef HAVE_BPF

#include "collect/host.h"
#include "collect/programs.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * The first warning of libbpf names the program. The last line of the verifier's log before its
 * counts has the reason.
 */
static char said[256], reason[256];

static int bpf_listen(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	autofree char *text = NULL;
	char *counts, *line;

	if (level != LIBBPF_WARN || vasprintf(&text, fmt, ap) < 0)
		return 0;
	if (!said[0])
		snprintf(said, sizeof(said), "%s", str_trim(text));
	counts = strstr(text, "\nprocessed ");
	if (!counts)
		return 0;
	*counts = '\0';
	line = strrchr(text, '\n');
	snprintf(reason, sizeof(reason), ": %s", line ? line + 1 : text);
	return 0;
}

int bpf_begin(struct error *err)
{
	/* ZCOST_NO_BTF hides the kernel's type information, for tests. */
	if (!path_exists("/sys/kernel/btf/vmlinux") || getenv("ZCOST_NO_BTF"))
		return error_set(err, ENOTSUP, "%s",
				 getenv("ZCOST_NO_BTF")
					 ? "the environment has ZCOST_NO_BTF"
					 : "this kernel was built without CONFIG_DEBUG_INFO_BTF");
	libbpf_set_print(bpf_listen);
	said[0] = reason[0] = '\0';
	return 0;
}

int bpf_check_pids(struct error *err)
{
	const ino_t first = 0xeffffffc; /* the kernel's PROC_PID_INIT_INO */
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == first)
		return 0;
	return error_set(
		err, ENOTSUP,
		"this is a PID namespace, in which processes have other numbers than in the "
		"kernel: run outside of it (docker run --pid=host)");
}

void bpf_choose_again(struct bpf_object *obj)
{
	unsigned int major = 0, minor = 0;
	struct bpf_program *p;
	struct utsname u;

	if (!uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major > PREEMPTS_MAJOR || (major == PREEMPTS_MAJOR && minor >= PREEMPTS_MINOR)))
		return;
	bpf_object__for_each_program(p, obj)
	{
		if (strstr(bpf_program__name(p), "_again"))
			bpf_program__set_autoload(p, false);
	}
}

int bpf_refused(int code, struct error *err)
{
	if (code == EPERM) /* EACCES is the verifier's: it refused what the program does */
		return error_set(
			err, code,
			"BPF is not permitted: run as root, or with CAP_BPF and CAP_PERFMON");
	return error_set(err, code, "the kernel refused the BPF program: %s%s",
			 said[0] ? said : strerror(code), reason);
}

uint32_t bpf_thread_ids(void)
{
	double ids = host_sysctl_number("kernel.pid_max", 0); /* The limit of our PID namespace. */

	return ids >= 32768 && ids < 4194304 ? (uint32_t)ids : 4194304;
}

enum { ACCOUNT_ON = 10000000, ACCOUNT_OFF = 990000000 }; /* ns */

static struct program_cost bpf_cost(const struct collect *c)
{
	struct program_cost sum = {.timed_ns = clock_mono_ns()};
	struct bpf_program *p;

	bpf_object__for_each_program(p, c->programs)
	{
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (bpf_program__fd(p) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len))
			continue;
		sum.runs += info.run_cnt;
		sum.runs_ns += info.run_time_ns;
	}
	return sum;
}

uint64_t bpf_account_step(struct collect *list, size_t n, int *fd)
{
	const int open = *fd;
	struct program_cost now;
	bool later = false; /* programs will be attached again */

	for (struct collect *c = list; c < list + n; c++) {
		if (!c->programs) {
			c->before.timed_ns = 0;
			later |= c->cost.timed_ns > 0;
			continue;
		}
		if (*fd < 0)
			*fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
		now = bpf_cost(c);
		if (open >= 0 && c->before.timed_ns) {
			c->cost.timed_ns += now.timed_ns - c->before.timed_ns;
			c->cost.runs += now.runs - c->before.runs;
			c->cost.runs_ns += now.runs_ns - c->before.runs_ns;
		}
		c->before = now;
	}
	if (open < 0)
		return *fd >= 0 ? ACCOUNT_ON : later ? ACCOUNT_OFF : UINT64_MAX / 2;
	close(open);
	*fd = -1;
	return ACCOUNT_OFF;
}

static int bpf_links_attach(struct bpf_links *links, const struct bpf_object *obj,
			    struct bpf_program **optional, bool autoattach)
{
	bool attached = false;
	struct bpf_program *p;
	struct bpf_link *link;

	bpf_object__for_each_program(p, obj)
	{
		if (!strcmp(bpf_program__section_name(p), "raw_tp") || !bpf_program__autoload(p) ||
		    bpf_program__autoattach(p) != autoattach)
			continue;
		link = bpf_program__attach(p);
		if (!link && errno != ENOENT)
			return -errno;
		if (link)
			array_add(links->list, links->n, links->cap, link);
		attached |= link && optional && p == *optional;
	}
	if (optional && !attached)
		*optional = NULL;
	return 0;
}

int bpf_ready(struct collect *c, struct bpf_links *links, const struct bpf_object *obj,
	      struct bpf_program **optional, int rc)
{
	c->programs = obj;
	rc = rc ?: bpf_links_attach(links, obj, optional, true);
	return rc ? bpf_refused(-rc, &c->err) : 0;
}

void bpf_links_free(struct bpf_links *links)
{
	for (size_t i = 0; i < links->n; i++)
		bpf_link__destroy(links->list[i]);
	free(links->list);
	*links = (struct bpf_links){0};
}

void bpf_parts_choose(struct bpf_object *obj)
{
	struct bpf_program *p;

	bpf_choose_again(obj);
	bpf_object__for_each_program(p, obj) if (strstr(bpf_program__section_name(p), "/sys_"))
		bpf_program__set_autoattach(p, false);
}

void bpf_parts_init(struct bpf_parts *p, const struct bpf_object *obj, const char *turn,
		    const struct cpuset *cpus)
{
	p->obj = obj;
	p->turn = bpf_object__find_program_by_name(obj, turn);
	p->cpus = cpus;
	p->when = (struct collect_parts){.part_ns = 5000000, .pause_ns = 60000000};
}

int bpf_parts_set(struct collect *c, struct bpf_parts *p, uint32_t part)
{
	int rc = 0;

	if (part && !p->links.n)
		rc = bpf_links_attach(&p->links, p->obj, NULL, false);
	/* A kernel without these tracepoints has no parts. */
	rc = rc ?: bpf_run_on_cpus(p->turn, p->cpus, p->links.n ? part : 0);
	if (rc)
		bpf_run_on_cpus(p->turn, p->cpus, 0);
	if (rc || !part)
		bpf_links_free(&p->links);
	return rc ? bpf_refused(-rc, &c->err) : 0;
}

int bpf_parts_turn(struct collect *c, struct bpf_parts *p)
{
	int rc;

	if (!collect_part_is_due(c, &p->when))
		return 0;
	rc = bpf_parts_set(c, p, p->when.on);
	collect_part_next(c, &p->when);
	/* No part comes after one that cannot begin or end. */
	if (rc || (p->when.on && !p->links.n))
		c->turn_ns = UINT64_MAX;
	return rc;
}

void *bpf_map_memory(const struct bpf_object *obj, const char *map, size_t len)
{
	int fd = bpf_object__find_map_fd_by_name(obj, map);
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

uint32_t bpf_own_pid(const struct bpf_object *obj, const char *whoami)
{
	struct bpf_program *p = bpf_object__find_program_by_name(obj, whoami);
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (bpf_prog_test_run_opts(bpf_program__fd(p), &opts) || !opts.retval)
		return (uint32_t)getpid();
	return opts.retval;
}

int bpf_run_on_cpus(const struct bpf_program *p, const struct cpuset *cpus, uint64_t argument)
{
	int rc = 0;

	for (uint32_t cpu = 0; cpu < CPUSET_MAX; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &argument,
			    .ctx_size_in = sizeof(argument), .flags = BPF_F_TEST_RUN_ON_CPU,
			    .cpu = cpu);

		if (cpuset_has(cpus, cpu) && bpf_prog_test_run_opts(bpf_program__fd(p), &o) &&
		    errno != ENXIO)
			rc = rc ?: -errno;
	}
	return rc;
}

#else

uint64_t bpf_account_step(struct collect *list, size_t n, int *fd)
{
	(void)list, (void)n, (void)fd;
	return UINT64_MAX / 2;
}

#endif
