// SPDX-License-Identifier: GPL-2.0-only
/*
 * The build-id of an ELF image, 32 or 64 bit, of this machine's byte order: a note of type 3 of
 * "GNU" in any PT_NOTE segment. Every offset is the file's own claim, so all goes through
 * source_read() and a cursor.
 */
#include "collect/dso.h"

#include "lib/cursor.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BUILD_ID_MAX = 64, NOTES_MAX = 64 * 1024 };

/* An image in memory, or a file where there is none. */
struct source {
	const uint8_t *image;
	uint64_t len;
	int fd;
};

struct layout {
	uint64_t phoff;
	uint16_t phentsize, phnum;
	bool wide;
};

static bool elf_source_read(const struct source *s, uint64_t at, void *to, size_t n)
{
	if (at > s->len || n > s->len - at)
		return false;
	if (!s->image)
		return pread(s->fd, to, n, (off_t)at) == (ssize_t)n;
	memcpy(to, s->image + at, n);
	return true;
}

static bool elf_read_header(const struct source *s, struct layout *l)
{
	Elf64_Ehdr h64 = {0};
	Elf32_Ehdr h32;

	if (!elf_source_read(s, 0, &h32, sizeof(h32)) || memcmp(h32.e_ident, ELFMAG, SELFMAG))
		return false;
	l->wide = h32.e_ident[EI_CLASS] == ELFCLASS64;
	if (h32.e_ident[EI_DATA] !=
	    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return false;
	if (l->wide && !elf_source_read(s, 0, &h64, sizeof(h64)))
		return false;
	l->phoff = l->wide ? h64.e_phoff : h32.e_phoff;
	l->phentsize = l->wide ? h64.e_phentsize : h32.e_phentsize;
	l->phnum = l->wide ? h64.e_phnum : h32.e_phnum;
	return l->phentsize >= (l->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

static void elf_format_hex(const uint8_t *id, size_t n, char hex[129])
{
	size_t i;

	for (i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
}

static bool elf_find_note(struct cursor c, size_t align, char hex[129])
{
	size_t mask = align == 8 ? 7 : 3;

	while (cursor_left(&c) >= 12) {
		uint32_t namesz = cursor_u32(&c), descsz = cursor_u32(&c), type = cursor_u32(&c);
		const char *name = cursor_take(&c, (namesz + mask) & ~mask);
		const uint8_t *desc = name ? cursor_take(&c, descsz) : NULL;

		if (!desc)
			return false;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && !memcmp(name, "GNU", 4) && descsz &&
		    descsz <= BUILD_ID_MAX) {
			elf_format_hex(desc, descsz, hex);
			return true;
		}
		cursor_take(&c, -(size_t)descsz & mask);
	}
	return false;
}

static bool elf_read_segment(const struct source *s, const struct layout *l, uint16_t i,
			     Elf64_Phdr *p)
{
	uint64_t at = l->phoff + (uint64_t)i * l->phentsize;
	Elf32_Phdr q;

	if (l->wide)
		return elf_source_read(s, at, p, sizeof(*p));
	if (!elf_source_read(s, at, &q, sizeof(q)))
		return false;
	*p = (Elf64_Phdr){.p_type = q.p_type,
			  .p_offset = q.p_offset,
			  .p_filesz = q.p_filesz,
			  .p_align = q.p_align};
	return true;
}

static bool elf_find_in(const struct source *s, char hex[129])
{
	char notes[NOTES_MAX];
	struct layout l;
	Elf64_Phdr p;
	uint16_t i;

	if (!elf_read_header(s, &l))
		return false;
	for (i = 0; i < l.phnum; i++) {
		if (!elf_read_segment(s, &l, i, &p))
			return false;
		if (p.p_type != PT_NOTE || p.p_filesz > sizeof(notes) ||
		    !elf_source_read(s, p.p_offset, notes, p.p_filesz))
			continue;
		if (elf_find_note(cursor_of(notes, p.p_filesz, false), p.p_align, hex))
			return true;
	}
	return false;
}

bool elf_build_id(const void *image, size_t len, char hex[129])
{
	const struct source s = {.image = image, .len = len};

	return elf_find_in(&s, hex);
}

bool elf_build_id_fd(int fd, char hex[129])
{
	const struct source s = {.fd = fd, .len = INT64_MAX};

	return elf_find_in(&s, hex);
}
