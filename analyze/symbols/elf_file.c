// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens plain ELF files, packed ones (.ko.xz), and one inside another (.gnu_debugdata, a symbol
 * table packed with xz). Anybody may have made the file, so its size in memory is checked before it
 * is unpacked. libdwfl has no such limit.
 */
#include "analyze/symbols/dso.h"

#include "lib/file.h"
#include "lib/late.h"

#include <elfutils/libdwelf.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

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

void elf_segments_read(struct elf_segments *s, Elf *elf)
{
	size_t n;

	*s = (struct elf_segments){0};
	if (elf_getphdrnum(elf, &n))
		return;
	s->list = xcalloc(n + 1, sizeof(*s->list));
	for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &s->list[s->n]); i++)
		s->n += s->list[s->n].p_type == PT_LOAD;
}

bool elf_has_layout(const struct elf_file *f)
{
	struct elf_segments s;
	bool all = true;

	elf_segments_read(&s, f->elf);
	for (size_t i = 0; i < s.n; i++)
		all &= !(s.list[i].p_flags & PF_X) || !s.list[i].p_memsz || s.list[i].p_filesz;
	free(s.list);
	return all;
}

bool elf_segments_link(const struct elf_segments *s, uint64_t offset, uint64_t *addr)
{
	bool found = false, code = false;

	for (size_t i = 0; i < s->n && !code; i++) {
		const GElf_Phdr *p = &s->list[i];

		if (offset < p->p_offset || offset - p->p_offset >= p->p_filesz)
			continue;
		*addr = offset - p->p_offset + p->p_vaddr;
		code = p->p_flags & PF_X;
		found = true;
	}
	return found;
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
	ssize_t n = dwelf_elf_gnu_build_id(f->elf, &id);

	for (ssize_t i = 0; i < n && i < 32; i++)
		snprintf(f->build_id + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
}

/* --- sizes --- */

/*
 * What programs and modules hold takes less than a tenth when it is packed. A file that was made to
 * fill the memory takes a thousandth.
 */
enum { UNPACKED_RATIO = 16 };
#define UNPACKED_FREE (256ULL << 20)
#define UNPACKED_MOST (4ULL << 30)

static uint64_t elf_unpacked_most(uint64_t packed)
{
	uint64_t most =
		packed > UNPACKED_MOST / UNPACKED_RATIO ? UNPACKED_MOST : packed * UNPACKED_RATIO;

	return most > UNPACKED_FREE ? most : UNPACKED_FREE;
}

/* Returns the size that a section has after libelf or libdw unpacks it, or 0 if it is not packed.
 */
static uint64_t elf_section_unpacked(Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data;
	GElf_Chdr c;
	uint64_t size;

	if (shdr->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &c) ? c.ch_size : 0;
	if (shdr->sh_type != SHT_PROGBITS || shdr->sh_flags & SHF_ALLOC)
		return 0;
	data = elf_rawdata(scn, NULL); /* .zdebug_info: "ZLIB" and the size */
	if (!data || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4))
		return 0;
	memcpy(&size, (const char *)data->d_buf + 4, sizeof(size));
	return be64toh(size);
}

/* Both libraries unpack whole sections, on their own and without a limit. */
static uint64_t elf_sections_unpacked(Elf *elf)
{
	uint64_t sum = 0, size;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		size = gelf_getshdr(scn, &shdr) ? elf_section_unpacked(scn, &shdr) : 0;
		sum = size > UINT64_MAX - sum ? UINT64_MAX : sum + size;
	}
	return sum;
}

/* Sets errno if the memory would not hold what both libraries unpack. */
static bool elf_is_too_large(struct elf_file *f)
{
	uint64_t sections = elf_sections_unpacked(f->elf);
	size_t packed = 0;

	elf_rawfile(f->elf, &packed);
	if (sections <= elf_unpacked_most(packed))
		return false;
	errno = EFBIG;
	return true;
}

static int elf_file_begin(struct elf_file *f, const char *what, struct error *err)
{
	GElf_Shdr shdr;

	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header) ||
	    elf_is_too_large(f)) {
		int code = errno; /* libelf has no public number for a lack of memory */

		elf_file_close(f);
		if (code == EFBIG)
			return error_set(
				err, code,
				"%s: refused: unpacked, it takes more than 256 MB and than 16 times its size",
				what);
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

/* --- packed files --- */

/* Returns false after an error of libarchive. `f->image_len` becomes the size of what was unpacked.
 */
static bool elf_unpack_data(struct elf_file *f, const struct libarchive *late, struct archive *a,
			    uint64_t most)
{
	la_ssize_t n;
	size_t cap = 0;

	do {
		if (f->image_len == cap) {
			cap = cap ? 2 * cap : 1 << 20;
			f->image = xrealloc(f->image, cap);
		}
		n = late->archive_read_data(a, f->image + f->image_len, cap - f->image_len);
		f->image_len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && f->image_len <= most);
	return n >= 0;
}

/* A file that is packed twice is none of ours: each layer multiplies the work by a thousand. */
static void elf_unpack(struct elf_file *f, const struct libarchive *late, struct archive *a,
		       uint64_t packed)
{
	struct archive_entry *entry;
	uint64_t most = elf_unpacked_most(packed);

	if (late->archive_read_next_header(a, &entry) != ARCHIVE_OK ||
	    late->archive_filter_count(a) != 2 || !elf_unpack_data(f, late, a, most))
		errno = late->archive_errno(a);
	else if (f->image_len > most)
		errno = EFBIG;
	else
		f->elf = elf_memory(f->image, f->image_len);
}

static struct archive *elf_unpacker_new(struct libarchive *late, struct error *err)
{
	struct archive *a;

	errno = -LATE_LOAD_ARCHIVE(late, err);
	a = errno ? NULL : late->archive_read_new();
	if (!a || (late->archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
		   late->archive_read_support_filter_bzip2(a) == ARCHIVE_OK &&
		   late->archive_read_support_filter_xz(a) == ARCHIVE_OK &&
		   late->archive_read_support_filter_zstd(a) == ARCHIVE_OK &&
		   late->archive_read_support_format_raw(a) == ARCHIVE_OK))
		return a;
	errno = late->archive_errno(a); /* another program would unpack, or there is no memory */
	late->archive_read_free(a);
	return NULL;
}

/* Unpacks `len` bytes in memory, or those of a file if `packed` is NULL. */
static void elf_unpack_from(struct elf_file *f, const void *packed, int fd, size_t len,
			    struct error *err)
{
	struct libarchive late;
	struct archive *a = elf_unpacker_new(&late, err);

	if (!a)
		return;
	if ((packed ? late.archive_read_open_memory(a, packed, len)
		    : late.archive_read_open_fd(a, fd, 65536)) == ARCHIVE_OK)
		elf_unpack(f, &late, a, len);
	late.archive_read_free(a);
}

int elf_file_open(struct elf_file *f, const char *path, struct error *err)
{
	char magic[SELFMAG] = "";
	autoclose int packed = -1;
	struct stat st;

	*f = (struct elf_file){.fd = file_open(path, err)};
	if (f->fd < 0)
		return f->fd;
	if (pread(f->fd, magic, sizeof(magic), 0) < 0) {
		error_sys(err, errno, "%s: cannot read", path);
		elf_file_close(f);
		return -err->code;
	}
	errno = 0;
	elf_version(EV_CURRENT);
	if (!memcmp(magic, ELFMAG, sizeof(magic))) {
		f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
		return elf_file_begin(f, path, err);
	}
	packed = f->fd;
	f->fd = -1;
	if (!fstat(packed, &st))
		elf_unpack_from(f, NULL, packed, (size_t)st.st_size, err);
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

	*f = (struct elf_file){.fd = -1};
	if (!data || !data->d_size)
		return error_set(err, ENOENT, "no .gnu_debugdata");
	errno = 0;
	elf_unpack_from(f, data->d_buf, -1, data->d_size, err);
	return elf_file_begin(f, ".gnu_debugdata", err);
}

void elf_file_close(struct elf_file *f)
{
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
	size_t n;
	bool found = false;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &n))
		n = 0;
	for (size_t i = 0; i < n && !found && gelf_getphdr(elf, (int)i, &p); i++) {
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
	autoclose int fd = file_open(path, err);
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
	return bytes;
}
