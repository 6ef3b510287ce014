// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which ELF symbols count, and where they are placed, follows perf (dso__load_sym), so that both
 * name the same addresses alike: functions, objects, and labels in text and data sections.
 */
#include "analyze/symbols/elf_symbols.h"

#include "analyze/symbols/demangle.h"
#include "lib/alloc.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Elf_Scn *section_by_name(Elf *elf, const char *name, GElf_Shdr *shdr)
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

static Elf_Scn *section_of_type(Elf *elf, const char *name, uint32_t type)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = section_by_name(elf, name, &shdr);

	return scn && shdr.sh_type == type ? scn : NULL;
}

/* A debug file has the sections of the program, but their bytes are elsewhere. */
static bool holds_code(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr s;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_PROGBITS &&
		    s.sh_flags & SHF_EXECINSTR)
			return true;
	return false;
}

static void read_build_id(struct elf_file *f)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(f->elf, &id), i;

	for (i = 0; i < n && i < 32; i++)
		snprintf(f->build_id + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
}

static int begin(struct elf_file *f, const char *what, struct error *err)
{
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header)) {
		elf_file_close(f);
		return error_set(err, ENOEXEC, "%s: not an ELF file", what);
	}
	f->symtab = section_of_type(f->elf, ".symtab", SHT_SYMTAB);
	f->dynsym = section_of_type(f->elf, ".dynsym", SHT_DYNSYM);
	f->code = holds_code(f->elf);
	read_build_id(f);
	return 0;
}

int elf_file_open(struct elf_file *f, const char *path, struct error *err)
{
	*f = (struct elf_file){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (f->fd < 0)
		return error_sys(err, errno, "%s", path);
	elf_version(EV_CURRENT);
	f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	return begin(f, path, err);
}

int elf_file_memory(struct elf_file *f, void *data, size_t len, const char *what, struct error *err)
{
	*f = (struct elf_file){.fd = -1};
	elf_version(EV_CURRENT);
	f->elf = elf_memory(data, len);
	return begin(f, what, err);
}

void elf_file_close(struct elf_file *f)
{
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct elf_file){.fd = -1};
}

static bool is_label(const GElf_Sym *s)
{
	int visibility = GELF_ST_VISIBILITY(s->st_other);

	return GELF_ST_TYPE(s->st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
}

static bool is_function_or_object(const GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

/* arm's "$a", "$x.1": marks of the instruction set, not functions */
static bool is_mapping_symbol(const GElf_Ehdr *h, const char *name)
{
	return (h->e_machine == EM_ARM || h->e_machine == EM_AARCH64) && name[0] == '$' &&
	       name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* The section a symbol is in, in the debug file, or, where that holds no bytes, in the mapped one.
 */
static bool section_of(struct elf_file *syms, struct elf_file *run, const GElf_Sym *s,
		       GElf_Shdr *shdr, const char **name)
{
	struct elf_file *in = syms;
	Elf_Scn *scn = elf_getscn(in->elf, s->st_shndx);
	size_t names;

	if (!scn || !gelf_getshdr(scn, shdr))
		return false;
	if (shdr->sh_type == SHT_NOBITS && (shdr->sh_flags & SHF_ALLOC)) {
		in = run;
		scn = elf_getscn(in->elf, s->st_shndx);
		if (!scn || !gelf_getshdr(scn, shdr))
			return false;
	}
	if (elf_getshdrstrndx(in->elf, &names))
		return false;
	*name = elf_strptr(in->elf, names, shdr->sh_name);
	return *name;
}

/* A link-time address as an offset in the file. */
static uint64_t file_offset(Elf *elf, uint64_t addr, const GElf_Shdr *shdr)
{
	size_t i, n;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &n))
		n = 0;
	for (i = 0; i < n && gelf_getphdr(elf, (int)i, &p); i++) {
		uint64_t size = p.p_memsz > p.p_filesz ? p.p_memsz : p.p_filesz;

		if (p.p_type == PT_LOAD && addr >= p.p_vaddr && addr - p.p_vaddr < size)
			return addr - p.p_vaddr + p.p_offset;
	}
	return addr - shdr->sh_addr + shdr->sh_offset;
}

static void add_demangled(struct symtab *t, const struct symtab_symbol *s, const char *name,
			  const char *ending)
{
	char *nice = demangle(name), *with = NULL;

	if (*ending)
		with = xasprintf("%s%s", nice ? nice : name, ending);
	symtab_add(t, s, with ? with : nice ? nice : name, NULL);
	free(with);
	free(nice);
}

static void add_symbol(struct symtab *t, struct elf_file *syms, struct elf_file *run, GElf_Sym *s,
		       const char *name)
{
	struct symtab_symbol new = {.binding = GELF_ST_BIND(s->st_info),
				    .type = GELF_ST_TYPE(s->st_info)};
	const char *section;
	GElf_Shdr shdr;

	if (!name || !*name || s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS ||
	    (!is_label(s) && !is_function_or_object(s)) || is_mapping_symbol(&syms->header, name))
		return;
	if (!section_of(syms, run, s, &shdr, &section) || !(shdr.sh_flags & SHF_ALLOC))
		return;
	if (is_label(s) && !strstr(section, "text") && !strstr(section, "data"))
		return;
	if (syms->header.e_machine == EM_ARM && new.type == STT_FUNC)
		s->st_value &= ~1ULL; /* marks a thumb function */
	new.start = file_offset(run->elf, s->st_value, &shdr);
	new.end = new.start + s->st_size;
	add_demangled(t, &new, name, "");
}

static void read_section(struct symtab *t, struct elf_file *syms, struct elf_file *run,
			 Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Shdr shdr;
	GElf_Sym s;
	int i;

	if (!data || !gelf_getshdr(scn, &shdr))
		return;
	for (i = 0; gelf_getsym(data, i, &s); i++)
		add_symbol(t, syms, run, &s, elf_strptr(syms->elf, shdr.sh_link, s.st_name));
	symtab_finish(t, false);
}

/* Size of the PLT's head and of its entries; 0: as the section says. */
static const struct {
	uint16_t machine;
	uint8_t head, entry;
} plt_sizes[] = {{EM_ARM, 20, 12}, {EM_AARCH64, 32, 16}};

static void plt_layout(const struct elf_file *f, const GElf_Shdr *plt, uint64_t *head,
		       uint64_t *entry)
{
	size_t i;

	*head = *entry = plt->sh_entsize;
	for (i = 0; i < sizeof(plt_sizes) / sizeof(plt_sizes[0]); i++)
		if (plt_sizes[i].machine == f->header.e_machine) {
			*head = plt_sizes[i].head;
			*entry = plt_sizes[i].entry;
		}
}

/* The symbol that relocation `i` of the PLT is for; -1: no more. */
static int64_t plt_symbol(Elf_Data *data, uint32_t type, int i)
{
	GElf_Rela rela;
	GElf_Rel rel;

	if (type == SHT_RELA)
		return gelf_getrela(data, i, &rela) ? (int64_t)GELF_R_SYM(rela.r_info) : -1;
	return gelf_getrel(data, i, &rel) ? (int64_t)GELF_R_SYM(rel.r_info) : -1;
}

/* Calls through the PLT run in entries without symbols: "memcpy@plt". */
static void read_plt(struct symtab *t, struct elf_file *f)
{
	GElf_Shdr rel, plt, dyn;
	Elf_Scn *scn = section_by_name(f->elf, ".rela.plt", &rel);
	Elf_Data *relocs, *symbols;
	uint64_t head, entry;
	int64_t index;
	GElf_Sym s;
	int i;

	scn = scn ? scn : section_by_name(f->elf, ".rel.plt", &rel);
	if (!scn || !f->dynsym || rel.sh_link != elf_ndxscn(f->dynsym) ||
	    !section_by_name(f->elf, ".plt", &plt) || !gelf_getshdr(f->dynsym, &dyn))
		return;
	relocs = elf_getdata(scn, NULL);
	symbols = elf_getdata(f->dynsym, NULL);
	plt_layout(f, &plt, &head, &entry);
	for (i = 0; relocs && symbols && (index = plt_symbol(relocs, rel.sh_type, i)) >= 0; i++) {
		struct symtab_symbol new = {.start = plt.sh_offset + head + (uint64_t)i * entry,
					    .binding = STB_GLOBAL,
					    .type = STT_FUNC};
		const char *of = gelf_getsym(symbols, (int)index, &s)
					 ? elf_strptr(f->elf, dyn.sh_link, s.st_name)
					 : NULL;

		new.end = new.start + entry;
		add_demangled(t, &new, of ? of : "", "@plt");
	}
}

int elf_symbols_read(struct symtab *t, struct elf_file *syms, struct elf_file *run,
		     struct error *err)
{
	if (!syms->symtab && !syms->dynsym)
		return error_set(err, ENOENT, "no symbol table");
	if (syms->symtab)
		read_section(t, syms, run, syms->symtab);
	if (syms->dynsym)
		read_section(t, syms, run, syms->dynsym);
	if (t->n)
		read_plt(t, run);
	symtab_finish(t, false);
	return t->n ? 0 : error_set(err, ENOENT, "no symbols");
}
