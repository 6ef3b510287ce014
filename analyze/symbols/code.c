// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/symbols/code.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint8_t *code_at_offset(const struct elf_file *f, uint64_t offset, size_t size)
{
	size_t len;
	const char *image = elf_rawfile(f->elf, &len);

	if (!image || offset > len || size > len - offset)
		return NULL;
	return xmemdup(image + offset, size);
}

/* A file of the kernel's may be larger than memory: it is read, not mapped. */
static bool read_at(int fd, uint8_t *buf, size_t size, uint64_t at)
{
	size_t got = 0;
	ssize_t n;

	while (got < size) {
		n = pread(fd, buf + got, size - got, (off_t)(at + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

/* Where the file has the bytes at `addr`; false: nowhere. */
static bool find_segment(int fd, uint64_t addr, size_t size, uint64_t *at)
{
	Elf *elf;
	GElf_Phdr p;
	size_t i, n;
	bool found = false;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &n))
		n = 0;
	for (i = 0; i < n && !found && gelf_getphdr(elf, (int)i, &p); i++) {
		found = p.p_type == PT_LOAD && addr >= p.p_vaddr &&
			addr - p.p_vaddr <= p.p_filesz && size <= p.p_filesz - (addr - p.p_vaddr);
		*at = addr - p.p_vaddr + p.p_offset;
	}
	elf_end(elf);
	return found;
}

uint8_t *code_at_address(const char *path, uint64_t addr, size_t size)
{
	int fd = file_open(path, NULL);
	uint8_t *bytes = NULL;
	uint64_t at;

	if (fd < 0)
		return NULL;
	if (find_segment(fd, addr, size, &at)) {
		bytes = xmalloc(size);
		if (!read_at(fd, bytes, size, at)) {
			free(bytes);
			bytes = NULL;
		}
	}
	close(fd);
	return bytes;
}
