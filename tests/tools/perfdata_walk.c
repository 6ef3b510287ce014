// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfdata_walk FILE: the least work on a perf.data, as a limit for the benchmarks. It goes over
 * the records once, hashes each sample without its time, and counts the distinct hashes. Prints
 * "<samples> <distinct>". It takes no symbol, no mapping and no compressed record into account.
 */
#include "lib/error.h"
#include "lib/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct walk_header {
	char magic[8];
	uint64_t size, attr_size, attrs[2], data[2]; /* sections: offset, size */
};

/* Returns the place of the time in a sample, in words behind the record's header. */
static size_t walk_time_at(uint64_t type)
{
	return !!(type & PERF_SAMPLE_IDENTIFIER) + !!(type & PERF_SAMPLE_IP) +
	       !!(type & PERF_SAMPLE_TID);
}

static uint64_t walk_hash(const uint64_t *word, size_t n, size_t time_at)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		if (i != time_at)
			h = (h ^ word[i]) * 0x9e3779b97f4a7c15 ^ h >> 29;
	return h;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	uint64_t samples = 0, distinct = 0, type;
	const struct walk_header *h;
	struct map seen = {0};
	struct stat st;
	const char *file, *at, *end;

	if (fd < 0 || fstat(fd, &st) || (size_t)st.st_size < sizeof(*h))
		return EXIT_USAGE;
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	h = (const void *)file;
	if (file == MAP_FAILED || memcmp(h->magic, "PERFILE2", 8) != 0 ||
	    h->data[0] + h->data[1] > (uint64_t)st.st_size)
		return EXIT_FAILED;
	memcpy(&type, file + h->attrs[0] + offsetof(struct perf_event_attr, sample_type), 8);
	for (at = file + h->data[0], end = at + h->data[1]; at < end;) {
		const struct perf_event_header *r = (const void *)at;

		if (r->type == PERF_RECORD_SAMPLE) {
			uint64_t *n =
				map_at(&seen, walk_hash((const void *)(r + 1), r->size / 8 - 1u,
							walk_time_at(type)));

			samples++;
			distinct += !(*n)++;
		}
		if (r->size < sizeof(*r))
			return EXIT_FAILED;
		at += r->size;
	}
	map_free(&seen);
	printf("%llu %llu\n", (unsigned long long)samples, (unsigned long long)distinct);
	return EXIT_OK;
}
