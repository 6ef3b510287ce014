// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfdata_gen SAMPLES FILE: writes a recording of an artificial host with SAMPLES samples. Some
 * hundred processes with three threads each, kernel threads and idle CPUs have samples of about 16
 * addresses, in the kernel, in user space, or both. Each thread uses a few dozen of the 6000 call
 * chains, on two of eight CPUs. Everything that makes memory grow happens in the first 400000
 * samples: processes are forked, exec, map objects early and late, rename themselves, and some
 * exit. A longer file begins with the records of a shorter file, so files differ only in length.
 * The order of the records is that of perf record: round by round, and in a round CPU by CPU.
 * Addresses are in this machine's kernel and in the objects that this program maps, so that they
 * have names. One machine always writes the same bytes.
 */
#include "tests/unit/perfdata_writer.h"

#include "analyze/symbols/dso.h"
#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

enum {
	CPUS = 8,
	PROCESSES = 100,
	THREADS = 3, /* in each process */
	KERNEL_THREADS = 16,
	TASKS = PROCESSES * THREADS + KERNEL_THREADS + 1, /* with idle */
	SHELL = 1000, /* pid of the first process; the other pids follow in steps of 10 */

	EARLY = 400000,	  /* after so many samples no process or mapping changes */
	LATE_MAP = 20000, /* samples after a process's start */
	RENAME = 30000,
	LIFE = 60000,
	ROUND = 8192, /* samples between two FINISHED_ROUND */

	LAYERS = 14, /* layers of the call tree */
	WIDTH = 96,
	CHAINS = 6000,
	KERNEL_CHAINS = 600, /* chains 0 to 599 have no user part */
	TASK_CHAINS = 48,
	HOT_CHAINS = 8, /* half of a task's samples use its first 8 chains */

	MAPPED = 64,  /* objects at most */
	OBJECTS = 12, /* objects used, the first ones by name */
	SKIP = 4096,  /* bytes at an object's start: jumps to other objects, with odd names */
	REC_FINISHED_ROUND = 68,
};

#define START_NS    1000000000000ULL
#define KERNEL_TEXT 0xe00000ULL /* bytes of the kernel's text with functions */
#define USER_BASE   0x7f0000000000ULL

struct object {
	char path[512];
	uint64_t base, len, pgoff; /* the addresses in a process with shift 0 */
	uint8_t id[24];		   /* the length, then the build-id, as in an MMAP2 record */
};

/* The call tree: functions in layers. A function of the layer above calls each function. */
struct tree {
	uint64_t addr[LAYERS][WIDTH];
	uint8_t parent[LAYERS][WIDTH];
};

struct chain {
	uint64_t addr[2 * LAYERS + 2]; /* leaf first, with context markers */
	uint32_t n, fixed; /* the first `fixed` addresses are the same in every process */
	uint16_t mode;
};

struct task {
	uint32_t pid, tid, cpu[2];
	uint64_t shift; /* shift of the process's user addresses */
	uint16_t chain[TASK_CHAINS];
};

struct action {
	uint64_t at; /* sample */
	void (*fn)(struct action *);
	unsigned int process;
};

static struct world {
	struct object objects[MAPPED];
	size_t nobjects;
	uint64_t kernel;
	struct tree in_kernel, in_user;
	struct chain chains[CHAINS];
	struct task tasks[TASKS];
	size_t ntasks;
	struct action actions[PROCESSES * 4];
	size_t nactions;
	struct writer out[CPUS];
	uint64_t now, seed;
} w = {.now = START_NS, .seed = 1};

/* splitmix64 */
static uint64_t rnd(uint64_t below)
{
	uint64_t z = w.seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % below;
}

/* --- where functions are --- */

/* Returns false if the file has no build-id, or a longer one than a record holds. */
static bool read_id(struct object *o)
{
	struct elf_file f;
	size_t n;

	if (elf_file_open(&f, o->path, NULL))
		return false;
	n = strlen(f.build_id) / 2;
	o->id[0] = (uint8_t)n;
	for (size_t i = 0; i < n && n <= 20; i++)
		sscanf(f.build_id + 2 * i, "%2hhx", &o->id[4 + i]);
	elf_file_close(&f);
	return n && n <= 20;
}

static void add_object(const char *path, uint64_t len, uint64_t pgoff)
{
	struct object *o = &w.objects[w.nobjects];

	*o = (struct object){.len = len, .pgoff = pgoff};
	snprintf(o->path, sizeof(o->path), "%s", path);
	if (len > SKIP && read_id(o))
		w.nobjects++;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct object *)a)->path, ((const struct object *)b)->path);
}

/* Adds the executable mappings of this process. Their addresses and order are random. */
static int find_objects(struct error *err)
{
	unsigned long long start, end, pgoff;
	char *text, *line, path[512];
	size_t len;
	int rc = file_read("/proc/self/maps", &text, &len, err);

	if (rc)
		return rc;
	for (char *rest = text; (line = str_token(&rest, '\n')) && w.nobjects < MAPPED;)
		if (sscanf(line, "%llx-%llx r-xp %llx %*s %*s %511[^\n]", &start, &end, &pgoff,
			   path) == 4 &&
		    *path == '/')
			add_object(path, end - start, pgoff);
	free(text);
	qsort(w.objects, w.nobjects, sizeof(*w.objects), by_path);
	if (w.nobjects > OBJECTS)
		w.nobjects = OBJECTS;
	for (size_t i = 0; i < w.nobjects; i++)
		w.objects[i].base = USER_BASE + ((uint64_t)i << 26);
	return w.nobjects ? 0 : error_set(err, ENOENT, "no mapped object has a build-id");
}

/* Returns the address of _text, or the usual address if the kernel hides it. */
static void find_kernel(void)
{
	unsigned long long addr;
	char line[256], name[64];
	FILE *f = fopen("/proc/kallsyms", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %63s", &addr, name) == 2 && !strcmp(name, "_text")) {
			w.kernel = addr;
			break;
		}
	if (f)
		fclose(f);
	if (!w.kernel)
		w.kernel = 0xffffffff81000000ULL;
}

static uint64_t kernel_function(void)
{
	return w.kernel + 0x1000 + rnd(KERNEL_TEXT);
}

static uint64_t user_function(void)
{
	const struct object *o = &w.objects[rnd(w.nobjects)];

	return o->base + SKIP + rnd(o->len - SKIP);
}

static void grow_tree(struct tree *t, uint64_t (*function)(void))
{
	for (unsigned int l = 0; l < LAYERS; l++)
		for (unsigned int i = 0; i < WIDTH; i++) {
			t->addr[l][i] = function();
			/* few roots, many leaves */
			t->parent[l][i] = (uint8_t)rnd(l < 6 ? 1U << l : WIDTH);
		}
}

static void climb(struct chain *c, const struct tree *t, unsigned int depth)
{
	unsigned int i = (unsigned int)rnd(WIDTH);

	while (depth--) {
		c->addr[c->n++] = t->addr[depth][i];
		i = t->parent[depth][i];
	}
}

static void make_chains(void)
{
	struct chain *c;

	for (unsigned int i = 0; i < CHAINS; i++) {
		bool user = i >= KERNEL_CHAINS, kernel = !user || rnd(4);

		c = &w.chains[i];
		c->mode = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
		if (kernel) {
			c->addr[c->n++] = (uint64_t)PERF_CONTEXT_KERNEL;
			climb(c, &w.in_kernel, 6 + (unsigned int)rnd(5));
		}
		if (user)
			c->addr[c->n++] = (uint64_t)PERF_CONTEXT_USER;
		c->fixed = c->n;
		if (user)
			climb(c, &w.in_user, (kernel ? 5 : 11) + (unsigned int)rnd(4));
	}
}

/* --- tasks --- */

static uint32_t pid_of(unsigned int process)
{
	return SHELL + 10 * process;
}

static uint64_t shift_of(unsigned int process)
{
	return (uint64_t)process << 30;
}

static void add_task(uint32_t pid, uint32_t tid, uint64_t shift)
{
	struct task *t = &w.tasks[w.ntasks++];
	bool user = pid >= SHELL;

	*t = (struct task){.pid = pid, .tid = tid, .shift = shift};
	t->cpu[0] = (uint32_t)rnd(CPUS);
	t->cpu[1] = (uint32_t)rnd(CPUS);
	for (unsigned int i = 0; i < TASK_CHAINS; i++)
		t->chain[i] = (uint16_t)rnd(user ? CHAINS : KERNEL_CHAINS);
}

static void put_map(struct writer *out, unsigned int process, const struct object *o)
{
	size_t at = w_begin(out, PERF_RECORD_MMAP2,
			    PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	uint32_t pid = pid_of(process);

	w32(out, pid);
	w32(out, pid);
	w64(out, o->base + shift_of(process));
	w64(out, o->len);
	w64(out, o->pgoff);
	w_bytes(out, o->id, sizeof(o->id));
	w64(out, 5); /* prot, flags */
	w_name(out, o->path);
	w_trailer(out, pid, pid, w.now);
	w_end(out, at);
}

static struct writer *any_cpu(void)
{
	return &w.out[rnd(CPUS)];
}

static void put_comm(struct writer *out, unsigned int process, uint32_t tid, bool exec,
		     const char *suffix)
{
	char name[16];

	snprintf(name, sizeof(name), "app%02u%s", process % 80, suffix);
	w_comm(out, w.now, pid_of(process), tid, exec, name);
}

static void on_start(struct action *a)
{
	uint32_t pid = pid_of(a->process);
	struct writer *out = any_cpu();

	if (a->process)
		w_task(out, PERF_RECORD_FORK, w.now, pid, SHELL, pid, SHELL);
	put_comm(out, a->process, pid, true, "");
	for (size_t i = 0; i + 1 < w.nobjects; i++)
		put_map(out, a->process, &w.objects[i]);
	for (uint32_t tid = pid; tid < pid + THREADS; tid++) {
		w.now++;
		if (tid != pid)
			w_task(out, PERF_RECORD_FORK, w.now, pid, pid, tid, pid);
		if (tid == pid + 1)
			put_comm(out, a->process, tid, false, "-worker");
		add_task(pid, tid, shift_of(a->process));
	}
}

static void on_late_map(struct action *a)
{
	put_map(any_cpu(), a->process, &w.objects[w.nobjects - 1]);
}

static void on_rename(struct action *a)
{
	put_comm(any_cpu(), a->process, pid_of(a->process) + 2, false, "-renamed");
}

static void on_exit_of(struct action *a)
{
	uint32_t pid = pid_of(a->process);
	struct writer *out = any_cpu();
	size_t kept = 0;

	for (size_t i = 0; i < w.ntasks; i++) {
		if (w.tasks[i].pid == pid)
			w_task(out, PERF_RECORD_EXIT, w.now, pid, SHELL, w.tasks[i].tid, SHELL);
		else
			w.tasks[kept++] = w.tasks[i];
	}
	w.ntasks = kept;
}

static int by_time(const void *a, const void *b)
{
	const struct action *l = a, *r = b;

	return l->at < r->at ? -1 : 1; /* no two records have the same time */
}

static void plan(uint64_t at, void (*fn)(struct action *), unsigned int process)
{
	w.actions[w.nactions++] = (struct action){at, fn, process};
}

static void make_plan(void)
{
	for (unsigned int p = 0; p < PROCESSES; p++) {
		uint64_t at = (uint64_t)p * ((EARLY - LIFE) / PROCESSES);

		plan(at, on_start, p);
		plan(at + LATE_MAP, on_late_map, p);
		plan(at + RENAME, on_rename, p);
		if (p % 4 == 3)
			plan(at + LIFE, on_exit_of, p);
	}
	qsort(w.actions, w.nactions, sizeof(*w.actions), by_time);
}

static void first_tasks(void)
{
	char name[16];

	add_task(0, 0, 0);
	for (uint32_t i = 2; i < 2 + KERNEL_THREADS; i++) {
		snprintf(name, sizeof(name), "kworker/%u:1", i);
		w_comm(&w.out[0], w.now, i, i, false, name);
		add_task(i, i, 0);
	}
}

/* --- the file --- */

/* Writes what w_sample writes, in the processor's byte order. */
struct fixed_part {
	uint32_t type;
	uint16_t misc, size;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, cpu, period, nr;
};

static void put_sample(void)
{
	const struct task *t = &w.tasks[rnd(w.ntasks)];
	const struct chain *c = &w.chains[t->chain[rnd(rnd(2) ? TASK_CHAINS : HOT_CHAINS)]];
	uint32_t cpu = t->tid ? t->cpu[rnd(2)] : (uint32_t)rnd(CPUS);
	struct {
		struct fixed_part head;
		uint64_t addr[array_size(c->addr)];
	} s;

	s.head = (struct fixed_part){.type = PERF_RECORD_SAMPLE,
				     .misc = c->mode,
				     .size = (uint16_t)(sizeof(s.head) + 8 * c->n),
				     .id = W_EVENT_ID,
				     .pid = t->pid,
				     .tid = t->tid,
				     .time = w.now,
				     .cpu = cpu,
				     .period = 20000 + rnd(100),
				     .nr = c->n};
	memcpy(s.addr, c->addr, 8 * (size_t)c->n);
	for (uint32_t i = c->fixed; i < c->n; i++)
		s.addr[i] += t->shift;
	s.head.ip = s.addr[1];
	w_bytes(&w.out[cpu], &s, s.head.size);
	w.now += 2400 + rnd(200);
}

static void put_feature(struct writer *out, struct writer *table, uint64_t at, const char *text)
{
	size_t start = out->out.len, n = (strlen(text) + 64) & ~(size_t)63;

	w32(out, n);
	w_bytes(out, text, strlen(text));
	while (out->out.len < start + 4 + n)
		w_bytes(out, "", 1);
	w64(table, at + start);
	w64(table, out->out.len - start);
}

/* The recording host is this machine, or the addresses would have no names. */
static void put_features(FILE *f, uint64_t at)
{
	struct writer table = {0}, text = {0};
	struct utsname u = {0};

	uname(&u);
	put_feature(&text, &table, at + 3 * 16, u.nodename);
	put_feature(&text, &table, at + 3 * 16, u.release);
	put_feature(&text, &table, at + 3 * 16, u.machine);
	fwrite(table.out.buf, table.out.len, 1, f);
	fwrite(text.out.buf, text.out.len, 1, f);
	str_free(&table.out);
	str_free(&text.out);
}

/* Writes the header, one event and its id. Returns the offset of the records. */
static uint64_t put_header(FILE *f, uint64_t data_len)
{
	enum { ATTR = 112, ENTRY = ATTR + 16, IDS = 104, ATTRS = IDS + 8, DATA = ATTRS + ENTRY };
	struct writer h = {0};

	w_magic(&h);
	w64(&h, 104);
	w64(&h, ENTRY);
	w64(&h, ATTRS);
	w64(&h, ENTRY);
	w64(&h, DATA);
	w64(&h, data_len);
	w64(&h, 0);
	w64(&h, 0);
	w64(&h, 1 << 3 | 1 << 4 | 1 << 6); /* HOSTNAME, OSRELEASE, ARCH */
	w64(&h, 0);
	w64(&h, 0);
	w64(&h, 0);
	w64(&h, W_EVENT_ID);
	w_attr(&h, ATTR, PERF_COUNT_SW_CPU_CLOCK);
	w64(&h, IDS);
	w64(&h, 8);
	fwrite(h.out.buf, h.out.len, 1, f);
	str_free(&h.out);
	return DATA;
}

static uint64_t end_round(FILE *f)
{
	uint64_t n = 0;

	w_end(&w.out[CPUS - 1], w_begin(&w.out[CPUS - 1], REC_FINISHED_ROUND, 0));
	for (unsigned int i = 0; i < CPUS; i++) {
		fwrite(w.out[i].out.buf, w.out[i].out.len, 1, f);
		n += w.out[i].out.len;
		str_reset(&w.out[i].out);
	}
	return n;
}

static int write_all(const char *path, uint64_t samples)
{
	uint64_t data, len = 0;
	size_t next = 0;
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	setvbuf(f, NULL, _IOFBF, 1 << 20);
	data = put_header(f, 0);
	w_kernel_map(&w.out[0], w.kernel, KERNEL_TEXT + 0x400000, w.kernel,
		     "[kernel.kallsyms]_text");
	first_tasks();
	for (uint64_t i = 0; i < samples; i++) {
		for (; next < w.nactions && w.actions[next].at <= i; next++)
			w.actions[next].fn(&w.actions[next]);
		w.now++; /* no other record has the time of an action */
		put_sample();
		if (i % ROUND == ROUND - 1)
			len += end_round(f);
	}
	len += end_round(f);
	put_features(f, data + len);
	if (fseek(f, 0, SEEK_SET) == 0)
		put_header(f, len);
	if (ferror(f) || fflush(f)) {
		fclose(f);
		return -EIO;
	}
	return fclose(f) ? -errno : 0;
}

int main(int argc, char **argv)
{
	struct error err = {0};
	char *end = NULL;
	uint64_t samples = argc == 3 ? strtoull(argv[1], &end, 10) : 0;
	int rc;

	if (!samples || *end) {
		fprintf(stderr, "usage: perfdata_gen SAMPLES FILE\n");
		return EXIT_USAGE;
	}
	rc = find_objects(&err);
	if (!rc) {
		find_kernel();
		grow_tree(&w.in_kernel, kernel_function);
		grow_tree(&w.in_user, user_function);
		make_chains();
		make_plan();
		rc = write_all(argv[2], samples);
		if (rc)
			error_sys(&err, -rc, "%s: cannot write", argv[2]);
	}
	for (unsigned int i = 0; i < CPUS; i++)
		str_free(&w.out[i].out);
	if (rc)
		error_print(&err);
	return rc ? EXIT_FAILED : EXIT_OK;
}
