// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory that modes send from and receive into: pages, huge pages, the slots of zero-copy
 * senders, and the limits that pinned memory runs into.
 */
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* --- huge pages --- */

/*
 * --huge-pages takes pages that the administrator has reserved (hugetlb). When too few are free, it
 * takes transparent huge pages. The kernel does not report when it has none of these, so smaps is
 * read afterwards.
 */

enum { GUARD = 64 << 10 /* at least as large as any page that is not huge */ };

static size_t huge_round_up(size_t size, size_t page)
{
	return (size + page - 1) / page * page;
}

/* Returns the number in the first line of `path` that matches `format`, or 0. */
static size_t huge_read_number(const char *path, const char *format)
{
	FILE *in = fopen(path, "r");
	char line[256];
	size_t v = 0;

	while (in && !v && fgets(line, sizeof(line), in))
		if (sscanf(line, format, &v) != 1)
			v = 0;
	if (in)
		fclose(in);
	return v;
}

static bool huge_map_hugetlb(struct huge_map *m, size_t size)
{
	size_t page = huge_read_number("/proc/meminfo", "Hugepagesize: %zu kB") << 10;

	if (!page)
		return false;
	m->mapped = huge_round_up(size, page);
	m->p = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_HUGETLB, -1, 0);
	if (m->p == MAP_FAILED)
		return false;
	m->kind = HUGE_TLB;
	m->bytes = m->mapped;
	return true;
}

/* Returns the bytes in transparent huge pages of the mapping that begins at `p`. */
static size_t huge_read_transparent(const void *p)
{
	FILE *in = fopen("/proc/self/smaps", "r");
	uintptr_t start, end;
	bool here = false;
	char line[512];
	size_t kib = 0;

	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2)
			here = start == (uintptr_t)p;
		else if (here && sscanf(line, "AnonHugePages: %zu kB", &kib) == 1)
			break;
	}
	if (in)
		fclose(in);
	return kib << 10;
}

/* Maps at a boundary of huge pages and between two guards, so that smaps lists it alone. */
static bool huge_map_transparent(struct huge_map *m, size_t size)
{
	size_t page = huge_read_number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "%zu");
	size_t all = huge_round_up(size, page ? page : 1), room = all + page + 2 * GUARD;
	char *p, *at;

	if (!page)
		return false;
	p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	at = p + (huge_round_up((uintptr_t)p + GUARD, page) - (uintptr_t)p);
	m->before = (size_t)(at - p);
	m->p = at;
	m->mapped = room - m->before;
	m->kind = HUGE_TRANSPARENT;
	if (!mprotect(at, all, PROT_READ | PROT_WRITE) && !madvise(at, all, MADV_HUGEPAGE)) {
		memset(at, 'z', all);
		m->bytes = huge_read_transparent(at);
	}
	if (!m->bytes)
		munmap(p, room);
	return m->bytes != 0;
}

/* Returns at least `size` bytes, or NULL after flow_fail when there are no huge pages. */
static void *huge_get(struct flow *f, size_t size)
{
	struct huge_map *m = f->huge;

	while (m < f->huge + HUGE_MAPS && m->bytes)
		m++;
	if (m == f->huge + HUGE_MAPS) {
		flow_fail(f, ENOMEM, "--huge-pages: more than %d pieces of memory", HUGE_MAPS);
		return NULL;
	}
	if (huge_map_hugetlb(m, size) || huge_map_transparent(m, size))
		return m->p;
	m->p = NULL;
	flow_fail(
		f, ENOMEM,
		"--huge-pages: for %zu KiB too few are free (raise sysctl vm.nr_hugepages), and there are no transparent ones (/sys/kernel/mm/transparent_hugepage/enabled)",
		size >> 10);
	return NULL;
}

/* Unmaps huge pages. Returns false for other memory. m->bytes stays, for the summary. */
static bool huge_put(struct flow *f, void *p)
{
	struct huge_map *m;

	for (m = f->huge; m < f->huge + HUGE_MAPS; m++) {
		if (!m->bytes || m->p != p)
			continue;
		munmap((char *)p - m->before, m->before + m->mapped);
		m->p = NULL;
		return true;
	}
	return false;
}

/* --- pages --- */

enum { SMALL = 64 << 10 /* smaller memory is not worth a huge page */ };

void *memory_get(struct flow *f, size_t size)
{
	void *p;

	if (f->opt->huge_pages && size >= SMALL)
		return huge_get(f, size);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
		 0);

	if (p == MAP_FAILED) {
		flow_fail(f, errno, "%zu bytes of memory", size);
		return NULL;
	}
	memset(p, 'z', size); /* replaces the shared zero page by own pages */
	return p;
}

void memory_put(struct flow *f, void *p, size_t size)
{
	if (p && !huge_put(f, p))
		munmap(p, size);
}

/* --- limits on pinned memory --- */

/* An upper bound for a notification: a struct sk_buff and its smallest head. */
enum { NOTIFICATION = 1024, CAP_IPC_LOCK_BIT = 14 };

static unsigned long limits_read_optmem(void)
{
	FILE *in = fopen("/proc/sys/net/core/optmem_max", "r");
	unsigned long v = ULONG_MAX;

	if (in && fscanf(in, "%lu", &v) != 1)
		v = ULONG_MAX;
	if (in)
		fclose(in);
	return v;
}

static unsigned long limits_read_memlock(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_MEMLOCK, &rl) || rl.rlim_cur == RLIM_INFINITY)
		return ULONG_MAX;
	return rl.rlim_cur;
}

static bool limits_may_lock_all(void)
{
	FILE *in = fopen("/proc/self/status", "r");
	unsigned long long caps = 0;
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (in)
		fclose(in);
	return caps >> CAP_IPC_LOCK_BIT & 1;
}

void limits_read(struct limits *l)
{
	l->optmem_max = limits_read_optmem();
	l->memlock = limits_may_lock_all() ? ULONG_MAX : limits_read_memlock();
}

enum limit limits_hit(struct flow *f, const struct limits *l)
{
	uint32_t used[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(used);

	if (l->memlock == ULONG_MAX)
		return LIMIT_OPTMEM;
	if (CALL(f, GETSOCKOPT, getsockopt(f->fd, SOL_SOCKET, SO_MEMINFO, used, &len)))
		return LIMIT_MEMLOCK;
	return used[SK_MEMINFO_OPTMEM] + NOTIFICATION > l->optmem_max ? LIMIT_OPTMEM
								      : LIMIT_MEMLOCK;
}

const char *limits_text(const struct limits *l, enum limit which)
{
	static __thread char text[96];

	if (which == LIMIT_OPTMEM)
		snprintf(text, sizeof(text), "net.core.optmem_max is %lu", l->optmem_max);
	else
		snprintf(text, sizeof(text), "RLIMIT_MEMLOCK (ulimit -l) is %lu", l->memlock);
	return text;
}

const char *limits_all(void)
{
	const struct limits l = {limits_read_optmem(), limits_read_memlock()};
	static __thread char text[128];
	int n = 0;

	if (l.optmem_max != ULONG_MAX)
		n = snprintf(text, sizeof(text), "%s", limits_text(&l, LIMIT_OPTMEM));
	if (l.memlock != ULONG_MAX)
		snprintf(text + n, sizeof(text) - (size_t)n, "%s%s", n ? ", " : "",
			 limits_text(&l, LIMIT_MEMLOCK));
	return text;
}

/* --- slots --- */

enum { POOL = 4 << 20, SLOTS_MIN = 4, SLOTS_MAX = 1024 };

int slots_open(struct flow *f, struct slots *s)
{
	size_t n = POOL / f->size;

	s->n = n < SLOTS_MIN ? SLOTS_MIN : n > SLOTS_MAX ? SLOTS_MAX : (unsigned int)n;
	s->size = f->size;
	s->slot = calloc(s->n, sizeof(*s->slot));
	if (!s->slot)
		return flow_fail(f, ENOMEM, "memory");
	s->mem = memory_get(f, s->n * s->size);
	return s->mem ? 0 : -f->error;
}

void slots_close(struct flow *f, struct slots *s)
{
	memory_put(f, s->mem, s->n * s->size);
	free(s->slot);
}
