// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens plain ELF files, packed ones, and one inside another (.gnu_debugdata, a symbol table packed
 * with xz). libdwfl unpacks .ko.xz, .ko.gz and .ko.bz2. This file unpacks .ko.zst, because
 * distributions build libdwfl without zstd.
 */
#include "analyze/symbols/elf.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

enum { UNPACKED_MAX = 1 << 30 };

Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	const char *s;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		s = gelf_getshdr(scn, shdr) ? elf_strptr(elf, names, shdr->sh_name) : NULL;
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

static Elf_Scn *elf_section_of_type(Elf *elf, const char *name, uint32_t type)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(elf, name, &shdr);

	return scn && shdr.sh_type == type ? scn : NULL;
}

/* A debug file has the program's section headers, but with the type NOBITS. */
static bool elf_holds_code(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_PROGBITS &&
		    s.sh_flags & SHF_EXECINSTR)
			return true;
	return false;
}

static void elf_read_build_id(struct elf_file *f)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(f->elf, &id), i;

	for (i = 0; i < n && i < 32; i++)
		snprintf(f->build_id + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
}

static int elf_file_begin(struct elf_file *f, const char *what, struct error *err)
{
	GElf_Shdr shdr;

	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header)) {
		int code = errno; /* libelf has no public number for a lack of memory */

		elf_file_close(f);
		return error_of_machine(code)
			       ? error_sys(err, code, "%s: cannot read", what)
			       : error_set(err, ENOEXEC, "%s: not an ELF file", what);
	}
	f->symtab = elf_section_of_type(f->elf, ".symtab", SHT_SYMTAB);
	f->dynsym = elf_section_of_type(f->elf, ".dynsym", SHT_DYNSYM);
	f->has_dwarf = elf_section(f->elf, ".debug_info", &shdr) ||
		       elf_section(f->elf, ".zdebug_info", &shdr);
	f->code = elf_holds_code(f->elf);
	elf_read_build_id(f);
	return 0;
}

/* Takes ownership of `fd`, also after an error. */
static void elf_unpack_dwfl(struct elf_file *f, int fd, const char *what)
{
	static const Dwfl_Callbacks callbacks = {.section_address = dwfl_offline_section_address};
	Dwfl_Module *module = NULL;
	GElf_Addr bias;

	f->dwfl = dwfl_begin(&callbacks);
	if (f->dwfl) {
		dwfl_report_begin(f->dwfl);
		module = dwfl_report_offline(f->dwfl, what, what, fd);
		dwfl_report_end(f->dwfl, NULL, NULL);
	}
	if (module)
		f->elf = dwfl_module_getelf(module, &bias);
	else
		close(fd);
}

/* Returns false unless everything was unpacked. */
static bool elf_decompress_zstd(struct elf_file *f, const void *packed, size_t len)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {packed, len, 0};
	ZSTD_outBuffer out = {NULL, 0, 0};
	size_t ret = 1;

	do {
		if (out.pos == out.size) {
			out.size = out.size ? 2 * out.size : 4 * len + 4096;
			out.dst = out.size > UNPACKED_MAX ? NULL : realloc(f->image, out.size);
			if (!out.dst)
				break;
			f->image = out.dst;
		}
		ret = ZSTD_decompressStream(stream, &out, &in);
	} while (!ZSTD_isError(ret) && ret && (in.pos < in.size || out.pos == out.size));
	ZSTD_freeDStream(stream);
	f->image_len = out.pos;
	return !ret;
}

static void elf_unpack_zstd(struct elf_file *f, const char *path, struct error *err)
{
	char *packed;
	size_t len;

	if (file_read(path, &packed, &len, err))
		return;
	if (elf_decompress_zstd(f, packed, len))
		f->elf = elf_memory(f->image, f->image_len);
	free(packed);
}

int elf_file_open(struct elf_file *f, const char *path, struct error *err)
{
	int fd = file_open(path, err);
	char magic[SELFMAG] = "";

	*f = (struct elf_file){.fd = -1};
	if (fd < 0)
		return fd;
	if (pread(fd, magic, sizeof(magic), 0) < 0) {
		error_sys(err, errno, "%s: cannot read", path);
		close(fd);
		return -err->code;
	}
	errno = 0;
	elf_version(EV_CURRENT);
	if (!memcmp(magic, ELFMAG, sizeof(magic))) {
		f->fd = fd;
		f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	} else if (!memcmp(magic, "\x28\xb5\x2f\xfd", sizeof(magic))) {
		close(fd);
		elf_unpack_zstd(f, path, err);
	} else {
		elf_unpack_dwfl(f, fd, path);
	}
	return elf_file_begin(f, path, err);
}

int elf_file_memory(struct elf_file *f, void *data, size_t len, const char *what, struct error *err)
{
	*f = (struct elf_file){.fd = -1};
	errno = 0;
	elf_version(EV_CURRENT);
	f->elf = elf_memory(data, len);
	return elf_file_begin(f, what, err);
}

int elf_file_mini(struct elf_file *f, const struct elf_file *of, struct error *err)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_section(of->elf, ".gnu_debugdata", &shdr);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	int fd;

	*f = (struct elf_file){.fd = -1};
	if (!data || !data->d_size)
		return error_set(err, ENOENT, "no .gnu_debugdata");
	fd = memfd_create("debugdata", MFD_CLOEXEC);
	if (fd < 0)
		return error_sys(err, errno, "memfd_create");
	errno = 0;
	if (write(fd, data->d_buf, data->d_size) == (ssize_t)data->d_size)
		elf_unpack_dwfl(f, fd, ".gnu_debugdata");
	else
		close(fd);
	return elf_file_begin(f, ".gnu_debugdata", err);
}

void elf_file_close(struct elf_file *f)
{
	if (f->dwfl)
		dwfl_end(f->dwfl); /* frees `elf` too */
	else if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->image);
	*f = (struct elf_file){.fd = -1};
}

/* --- machine code --- */

uint8_t *code_at_offset(const struct elf_file *f, uint64_t offset, size_t size)
{
	size_t len;
	const char *image = elf_rawfile(f->elf, &len);

	if (!image || offset > len || size > len - offset)
		return NULL;
	return xmemdup(image + offset, size);
}

/* Finds the file offset of the bytes at `addr`. Returns false if no segment has all of them. */
static bool code_find_segment(int fd, uint64_t addr, size_t size, uint64_t *at)
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

/* Reads instead of mapping: a kernel core may be larger than memory. */
uint8_t *code_at_address(const char *path, uint64_t addr, size_t size, struct error *err)
{
	int fd = file_open(path, err);
	uint8_t *bytes = NULL;
	uint64_t at;

	if (fd < 0)
		return NULL;
	errno = 0;
	if (code_find_segment(fd, addr, size, &at)) {
		bytes = xmalloc(size);
		if (file_read_at(fd, bytes, size, at) != (ssize_t)size) {
			free(bytes);
			bytes = NULL;
		}
	}
	if (!bytes && errno)
		error_sys(err, errno, "%s: cannot read", path);
	close(fd);
	return bytes;
}
