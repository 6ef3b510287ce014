// SPDX-License-Identifier: GPL-2.0-only
/*
 * The build-id of an ELF image, 32 or 64 bit, of this machine's byte order: a note of type 3 of
 * "GNU" in any PT_NOTE segment. Every offset is the file's own claim, so all goes through a cursor.
 */
#include "collect/dso.h"

#include "lib/cursor.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { BUILD_ID_MAX = 64 };

struct layout {
	uint64_t phoff;
	uint16_t phentsize, phnum;
	bool wide;
};

static bool read_header(const uint8_t *image, size_t len, struct layout *l)
{
	Elf64_Ehdr h64;
	Elf32_Ehdr h32;

	if (len < sizeof(h32) || memcmp(image, ELFMAG, SELFMAG))
		return false;
	l->wide = image[EI_CLASS] == ELFCLASS64;
	if (image[EI_DATA] !=
	    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB))
		return false;
	if (l->wide && len < sizeof(h64))
		return false;
	memcpy(&h64, image, l->wide ? sizeof(h64) : 0);
	memcpy(&h32, image, sizeof(h32));
	l->phoff = l->wide ? h64.e_phoff : h32.e_phoff;
	l->phentsize = l->wide ? h64.e_phentsize : h32.e_phentsize;
	l->phnum = l->wide ? h64.e_phnum : h32.e_phnum;
	return l->phentsize >= (l->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

static void put_hex(const uint8_t *id, size_t n, char hex[129])
{
	size_t i;

	for (i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
}

static bool find_note(struct cursor c, size_t align, char hex[129])
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
			put_hex(desc, descsz, hex);
			return true;
		}
		cursor_take(&c, -(size_t)descsz & mask);
	}
	return false;
}

bool elf_build_id(const void *image, size_t len, char hex[129])
{
	struct layout l;
	uint16_t i;

	if (!read_header(image, len, &l))
		return false;
	for (i = 0; i < l.phnum; i++) {
		struct cursor c = cursor_of(image, len, false), header;
		Elf64_Phdr p;
		Elf32_Phdr q;

		cursor_take(&c, l.phoff + (uint64_t)i * l.phentsize);
		header = cursor_sub(&c, l.phentsize);
		if (header.bad)
			return false;
		memcpy(&p, header.at, l.wide ? sizeof(p) : 0);
		memcpy(&q, header.at, sizeof(q));
		if (!l.wide)
			p = (Elf64_Phdr){.p_type = q.p_type,
					 .p_offset = q.p_offset,
					 .p_filesz = q.p_filesz,
					 .p_align = q.p_align};
		if (p.p_type != PT_NOTE)
			continue;
		c = cursor_of(image, len, false);
		cursor_take(&c, p.p_offset);
		if (find_note(cursor_sub(&c, p.p_filesz), p.p_align, hex))
			return true;
	}
	return false;
}
