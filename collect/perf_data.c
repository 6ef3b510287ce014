// SPDX-License-Identifier: GPL-2.0-only
#include "collect/perf.h"

#include "lib/alloc.h"
#include "lib/cursor.h"
#include "lib/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- files that samples lie in --- */

/*
 * Finds the files that the samples lie in, by the addresses of samples and of their callers. The
 * first pass reads all executable mappings of each process, the second the addresses. Then both are
 * sorted and compared in one sweep, because any process can have tens of thousands of mappings.
 * Time is ignored: for an address that two files covered one after the other, both are copied,
 * which only costs room. A process that forked has its parent's mappings until it execs.
 */

struct mapping {
	uint64_t pid, start, end;
	uint32_t file;
	bool hit;
};

struct address {
	uint64_t pid, ip;
};

struct maps {
	struct intern names;
	struct mapping *m;
	struct address *a; /* one of each page */
	size_t n, cap, na, acap;
	struct map parent; /* pid -> parent + 1 */
	struct map looked; /* (pid, page) */
};

static void perf_maps_note_fork(struct maps *m, uint16_t misc, struct cursor body)
{
	uint32_t pid = cursor_u32(&body), parent = cursor_u32(&body);

	/*
	 * FORK_EXEC: perf made up the event for a process that it found, and that process's
	 * mappings follow.
	 */
	if (!body.bad && pid != parent && !(misc & PERF_RECORD_MISC_FORK_EXEC))
		*map_at(&m->parent, pid) = (uint64_t)parent + 1;
}

/* Interns the identity with the name behind it. */
static uint32_t perf_file_add(struct intern *in, const struct perf_file *as, const char *name)
{
	size_t len = strlen(name);
	char *both = xmalloc(sizeof(*as) + len);
	uint32_t i;

	memcpy(both, as, sizeof(*as));
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): intern_bytes() takes the length. */
	memcpy(both + sizeof(*as), name, len);
	i = intern_bytes(in, both, sizeof(*as) + len);
	free(both);
	return i;
}

const char *perf_file_get(const struct intern *files, uint32_t i, struct perf_file *as)
{
	const char *both = intern_get(files, i);

	memcpy(as, both, sizeof(*as));
	return both + sizeof(*as);
}

static struct perf_file perf_maps_read_identity(struct cursor *body, uint16_t misc)
{
	struct perf_file as = {0};
	const uint8_t *id;

	if (!(misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		as.maj = cursor_u32(body);
		as.min = cursor_u32(body);
		as.ino = cursor_u64(body);
		as.generation = cursor_u64(body);
		return as;
	}
	id = cursor_take(body, 24);
	if (id && id[0] <= sizeof(as.id)) {
		as.id_len = id[0];
		memcpy(as.id, id + 4, as.id_len);
	}
	return as;
}

/*
 * The record is pid, tid, addr, len, pgoff; for MMAP2 24 bytes of identity, prot, flags; the name.
 */
static void perf_maps_note_mapping(struct maps *m, uint32_t type, uint16_t misc, struct cursor body)
{
	uint32_t pid = cursor_u32(&body), prot = PROT_EXEC;
	struct perf_file as = {0};
	uint64_t start, len;
	const char *name;

	cursor_take(&body, 4);
	start = cursor_u64(&body);
	len = cursor_u64(&body);
	cursor_take(&body, 8);
	if (type == PERF_RECORD_MMAP2) {
		as = perf_maps_read_identity(&body, misc);
		prot = cursor_u32(&body);
		cursor_take(&body, 4);
	}
	name = (const char *)body.at;
	if (body.bad || !memchr(name, 0, cursor_left(&body)))
		return;
	if (prot & PROT_EXEC && !(misc & PERF_RECORD_MISC_MMAP_DATA) &&
	    (*name == '/' || !strcmp(name, "[vdso]")))
		array_add(m->m, m->n, m->cap,
			  (struct mapping){.pid = pid,
					   .start = start,
					   .end = start + len,
					   .file = perf_file_add(&m->names, &as, name)});
}

static void perf_maps_note_address(struct maps *m, uint64_t pid, uint64_t ip)
{
	uint64_t *looked;

	if (ip >> 63) /* the kernel, or a marker in a call chain */
		return;
	looked = map_at(&m->looked, pid << 45 ^ ip >> 12);
	if (!*looked)
		array_add(m->a, m->na, m->acap, (struct address){pid, ip});
	*looked = 1;
}

/* Fields of a sample in the kernel's order, up to the call chain. */
static void perf_maps_note_sample(struct maps *m, uint64_t type, struct cursor body)
{
	static const uint64_t between[] = {PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR,
					   PERF_SAMPLE_ID,   PERF_SAMPLE_STREAM_ID,
					   PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD};
	uint64_t ip, pid, n;
	size_t i;

	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_take(&body, 8);
	ip = cursor_u64(&body);
	pid = cursor_u32(&body);
	cursor_take(&body, 4);
	if (!body.bad)
		perf_maps_note_address(m, pid, ip);
	for (i = 0; i < array_size(between); i++)
		if (type & between[i])
			cursor_take(&body, 8);
	n = type & PERF_SAMPLE_CALLCHAIN && !(type & PERF_SAMPLE_READ) ? cursor_u64(&body) : 0;
	while (n-- && !body.bad)
		perf_maps_note_address(m, pid, cursor_u64(&body));
	/* any word of the stack's copy may be a caller */
	while (type & PERF_SAMPLE_STACK_USER && cursor_left(&body) >= 8)
		perf_maps_note_address(m, pid, cursor_u64(&body));
}

/* Counts, and reads the mappings. */
static void perf_maps_note(struct maps *m, uint32_t type, uint16_t misc, struct cursor body,
			   struct perf_data_sums *sums)
{
	switch (type) {
	case PERF_RECORD_FORK:
		perf_maps_note_fork(m, misc, body);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		perf_maps_note_mapping(m, type, misc, body);
		break;
	case PERF_RECORD_SAMPLE:
		sums->samples++;
		break;
	case PERF_RECORD_THROTTLE:
		sums->throttled++;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		sums->lost_samples += cursor_u64(&body);
		break;
	case PERF_RECORD_LOST:
		cursor_take(&body, 8);
		sums->lost += cursor_u64(&body);
		break;
	}
}

/* Calls perf_maps_note for each record, or, without `sums`, reads the addresses of the samples. */
static int perf_maps_walk(struct maps *m, struct cursor c, uint64_t sample_type,
			  struct perf_data_sums *sums)
{
	while (cursor_left(&c)) {
		uint32_t type = cursor_u32(&c);
		uint16_t misc = cursor_u16(&c), size = cursor_u16(&c);
		struct cursor body;

		if (c.bad || size < 8)
			return -EBADMSG;
		body = cursor_sub(&c, size - 8u);
		if (body.bad)
			return -EBADMSG;
		if (sums)
			perf_maps_note(m, type, misc, body, sums);
		else if (type == PERF_RECORD_SAMPLE)
			perf_maps_note_sample(m, sample_type, body);
	}
	return 0;
}

static int mapping_compare(const void *x, const void *y)
{
	const struct mapping *a = x, *b = y;

	return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid)
				: (a->start > b->start) - (a->start < b->start);
}

static int address_compare(const void *x, const void *y)
{
	const struct address *a = x, *b = y;

	return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid)
				: (a->ip > b->ip) - (a->ip < b->ip);
}

static bool address_is_below(const struct address *a, const struct mapping *m)
{
	return a->pid != m->pid ? a->pid < m->pid : a->ip < m->start;
}

/* Marks the mappings that an address lies in. */
static void perf_maps_mark_hits(struct maps *m)
{
	size_t i, at = 0;

	for (i = 0; i < m->n; i++) {
		while (at < m->na && address_is_below(&m->a[at], &m->m[i]))
			at++;
		m->m[i].hit |=
			at < m->na && m->a[at].pid == m->m[i].pid && m->a[at].ip < m->m[i].end;
	}
}

/* Keeps the addresses that no mapping of their process covers, as addresses of its parent. */
static void perf_maps_keep_uncovered(struct maps *m)
{
	uint64_t pid = 0, end = 0; /* the largest end of the process's mappings so far */
	size_t i, at = 0, kept = 0;

	for (i = 0; i < m->na; i++) {
		const struct address a = m->a[i];
		const uint64_t *parent;

		for (; at < m->n && !address_is_below(&a, &m->m[at]); at++) {
			end = m->m[at].pid == pid && end > m->m[at].end ? end : m->m[at].end;
			pid = m->m[at].pid;
		}
		parent = pid == a.pid && a.ip < end ? NULL : map_get(&m->parent, a.pid);
		if (parent)
			m->a[kept++] = (struct address){*parent - 1, a.ip};
	}
	m->na = kept;
}

static void perf_maps_compare(struct maps *m, struct intern *files)
{
	int generations = 16;
	struct perf_file as;
	const char *name;
	size_t i;

	if (m->n)
		qsort(m->m, m->n, sizeof(*m->m), mapping_compare);
	while (m->na && generations--) {
		qsort(m->a, m->na, sizeof(*m->a), address_compare);
		perf_maps_mark_hits(m);
		perf_maps_keep_uncovered(m);
	}
	for (i = 0; i < m->n; i++) {
		name = perf_file_get(&m->names, m->m[i].file, &as);
		if (m->m[i].hit)
			perf_file_add(files, &as, name);
	}
}

int perf_records_read(struct cursor records, uint64_t sample_type, struct perf_data_sums *sums,
		      struct intern *files)
{
	const uint64_t need = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	struct maps m = {0};
	int rc = perf_maps_walk(&m, records, sample_type, sums);

	if (!rc)
		rc = (sample_type & need) == need ? perf_maps_walk(&m, records, sample_type, NULL)
						  : -EBADMSG;
	perf_maps_compare(&m, files);
	if (sums->lost < sums->lost_samples)
		sums->lost = sums->lost_samples;
	intern_free(&m.names);
	map_free(&m.parent);
	map_free(&m.looked);
	free(m.m);
	free(m.a);
	return rc;
}

/* --- the file --- */

/*
 * The header is magic, sizes, then (offset, size) of the attributes and of the records. The sample
 * type is the same for all our events.
 */
static int perf_data_read_map(const uint8_t *map, size_t len, struct perf_data_sums *sums,
			      struct intern *files)
{
	struct cursor c = cursor_of(map, len, false), attr = c;
	const void *magic = cursor_take(&c, 8);
	uint64_t attrs, offset, size, sample_type;

	cursor_take(&c, 8 + 8);
	attrs = cursor_u64(&c);
	cursor_take(&c, 8);
	offset = cursor_u64(&c);
	size = cursor_u64(&c);
	if (c.bad || memcmp(magic, "PERFILE2", 8) || offset > len || size > len - offset)
		return -EBADMSG;
	cursor_take(&attr, attrs);
	cursor_take(&attr, 24); /* type, size, config, period */
	sample_type = cursor_u64(&attr);
	if (attr.bad || !size)
		return -EBADMSG;
	return perf_records_read(cursor_of(map + offset, size, false), sample_type, sums, files);
}

static int perf_data_read_fd(int fd, struct perf_data_sums *sums, struct intern *files)
{
	struct stat st;
	void *map;
	int rc;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size)
		return -EBADMSG;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	rc = perf_data_read_map(map, (size_t)st.st_size, sums, files);
	munmap(map, (size_t)st.st_size);
	return rc;
}

int perf_data_read(const char *path, struct perf_data_sums *sums, struct intern *files,
		   struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	*sums = (struct perf_data_sums){0};
	if (fd < 0)
		return error_sys(err, errno, "%s: cannot open", path);
	rc = perf_data_read_fd(fd, sums, files);
	close(fd);
	if (rc == -EBADMSG)
		return error_set(err, EBADMSG, "%s: perf left the file unfinished", path);
	return rc ? error_sys(err, -rc, "%s: cannot read", path) : 0;
}
