// SPDX-License-Identifier: GPL-2.0-only
#include "huge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { GUARD = 64 << 10 /* no page is larger but huge ones */ };

static size_t huge_round_up(size_t size, size_t page)
{
	return (size + page - 1) / page * page;
}

/* The number in the first line of `path` that is as `format` says; 0: there is none. */
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

/* Bytes of the mapping that begins at `p` which lie in transparent huge pages. */
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

/* On a boundary of such pages, and between two guards: smaps shows it by itself. */
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

void *huge_get(struct flow *f, size_t size)
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
	flow_fail(f, ENOMEM,
		  "--huge-pages: for %zu KiB too few are free (raise sysctl vm.nr_hugepages), and "
		  "there are no transparent ones (/sys/kernel/mm/transparent_hugepage/enabled)",
		  size >> 10);
	return NULL;
}

/* What was got stays in the books. */
bool huge_put(struct flow *f, void *p)
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
