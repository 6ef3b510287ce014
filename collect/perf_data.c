// SPDX-License-Identifier: GPL-2.0-only
#include "collect/perf.h"

#include "lib/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- files that samples lie in --- */

/*
 * Finds the files that the samples lie in, by the addresses of samples and of their callers. The
 * first pass reads all executable mappings, the second the addresses. Processes and times are
 * ignored: a file that another process mapped at the same address is copied, too, which only costs
 * room. Any process can have tens of thousands of mappings, so each one searches the sorted
 * addresses.
 */

struct mapping {
	uint64_t start, end;
	uint32_t file;
};

struct maps {
	struct intern names;
	struct mapping *m;
	uint64_t *a; /* an address of each page */
	size_t n, cap, na, acap;
	struct map looked; /* pages */
};

/* Interns the identity with the name behind it. */
uint32_t perf_file_add(struct intern *in, const struct perf_file *as, const char *name)
{
	size_t len = strlen(name);
	autofree char *both = xmalloc(sizeof(*as) + len);

	memcpy(both, as, sizeof(*as));
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): intern_bytes() takes the length. */
	memcpy(both + sizeof(*as), name, len);
	return intern_bytes(in, both, sizeof(*as) + len);
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
	uint32_t prot = PROT_EXEC;
	struct perf_file as = {0};
	uint64_t start, len;
	const char *name;

	cursor_take(&body, 8);
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
		array_add(
			m->m, m->n, m->cap,
			(struct mapping){start, start + len, perf_file_add(&m->names, &as, name)});
}

static void perf_maps_note_address(struct maps *m, uint64_t ip)
{
	uint64_t *looked;

	if (ip >> 63) /* the kernel, or a marker in a call chain */
		return;
	looked = map_at(&m->looked, ip >> 12);
	if (!*looked)
		array_add(m->a, m->na, m->acap, ip);
	*looked = 1;
}

/* Fields of a sample in the kernel's order, up to the call chain. */
static void perf_maps_note_sample(struct maps *m, uint64_t type, struct cursor body)
{
	static const uint64_t between[] = {PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR,
					   PERF_SAMPLE_ID,   PERF_SAMPLE_STREAM_ID,
					   PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD};
	uint64_t ip, n;

	if (type & PERF_SAMPLE_IDENTIFIER)
		cursor_take(&body, 8);
	ip = cursor_u64(&body);
	cursor_take(&body, 8);
	if (!body.bad)
		perf_maps_note_address(m, ip);
	for (size_t i = 0; i < array_size(between); i++)
		if (type & between[i])
			cursor_take(&body, 8);
	n = type & PERF_SAMPLE_CALLCHAIN && !(type & PERF_SAMPLE_READ) ? cursor_u64(&body) : 0;
	while (n-- && !body.bad)
		perf_maps_note_address(m, cursor_u64(&body));
	/* any word of the stack's copy, or of the branches, may be a caller */
	while (type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK) &&
	       cursor_left(&body) >= 8)
		perf_maps_note_address(m, cursor_u64(&body));
}

/* Counts, and reads the mappings. */
static void perf_maps_note(struct maps *m, uint32_t type, uint16_t misc, struct cursor body,
			   struct perf_data_sums *sums)
{
	switch (type) {
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

static int address_compare(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return ascending(*a, *b);
}

static bool perf_maps_is_hit(const struct maps *m, const struct mapping *g)
{
	size_t at = g->start ? rows_up_to(m->a, m->na, sizeof(*m->a), g->start - 1) : 0;

	return at < m->na && m->a[at] < g->end;
}

static void perf_maps_compare(const struct maps *m, struct intern *files)
{
	struct perf_file as;
	const char *name;

	if (m->na)
		qsort(m->a, m->na, sizeof(*m->a), address_compare);
	for (size_t i = 0; i < m->n; i++) {
		name = perf_file_get(&m->names, m->m[i].file, &as);
		if (perf_maps_is_hit(m, &m->m[i]))
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
