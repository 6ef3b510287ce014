// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/symbols/debug_link.h"

#include "analyze/symbols/elf_symbols.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <elfutils/libdwelf.h>
#include <string.h>
#include <unistd.h>

struct debug_link debug_link_of(const char *path)
{
	struct debug_link link = {0};
	struct elf_file f;
	const char *name;
	GElf_Word sum;

	if (elf_file_open(&f, path, NULL))
		return link;
	name = dwelf_elf_gnu_debuglink(f.elf, &sum);
	if (name && !strchr(name, '/')) {
		link.name = xstrdup(name);
		link.sum = sum;
	}
	elf_file_close(&f);
	return link;
}

/* The CRC of Ethernet and of .gnu_debuglink. */
static uint32_t add_to_sum(uint32_t sum, const uint8_t *at, size_t n)
{
	int bit;

	for (sum = ~sum; n--; at++)
		for (sum ^= *at, bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320U : 0);
	return ~sum;
}

bool debug_link_proves(const struct debug_link *link, const char *path)
{
	int fd = file_open(path, NULL);
	uint8_t buf[65536];
	uint32_t sum = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		sum = add_to_sum(sum, buf, (size_t)n);
	close(fd);
	return !n && link->name && sum == link->sum;
}
