// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows perf (dso__load_sym) in which symbols count and where they lie, so that both give an
 * address the same name. Functions, objects, and labels in text and data sections count.
 */
#include "analyze/symbols/dso.h"

#include <errno.h>

static bool elf_is_label(const GElf_Sym *s)
{
	int visibility = GELF_ST_VISIBILITY(s->st_other);

	return GELF_ST_TYPE(s->st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL;
}

static bool elf_is_function_or_object(const GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

/* ARM's "$a" and "$x.1" mark the instruction set. They are no functions. */
static bool elf_is_mapping_symbol(const GElf_Ehdr *h, const char *name)
{
	return (h->e_machine == EM_ARM || h->e_machine == EM_AARCH64) && name[0] == '$' &&
	       name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* Finds the section of a symbol in `syms`, or in `run` if the section of `syms` has no bytes. */
static bool elf_symbol_section(struct elf_file *syms, struct elf_file *run, const GElf_Sym *s,
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

/* Converts a linked address to a file offset. */
static uint64_t elf_file_offset(Elf *elf, uint64_t addr, const GElf_Shdr *shdr)
{
	size_t n;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &n))
		n = 0;
	for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &p); i++) {
		uint64_t size = p.p_memsz > p.p_filesz ? p.p_memsz : p.p_filesz;

		if (p.p_type == PT_LOAD && addr >= p.p_vaddr && addr - p.p_vaddr < size)
			return addr - p.p_vaddr + p.p_offset;
	}
	return addr - shdr->sh_addr + shdr->sh_offset;
}

/* The state while a table is filled. */
struct elf_reading {
	struct symtab *t;
	struct elf_file *syms, *run;
	enum placement place;
	uint64_t *starts; /* PLACE_MODULE: of the sections in memory; UINT64_MAX: not loaded */
	size_t nstarts;
};

/* Returns false if samples cannot hit the symbol's section. */
static bool elf_place_symbol(const struct elf_reading *r, const GElf_Sym *s, const GElf_Shdr *shdr,
			     uint64_t *at)
{
	if (r->place == PLACE_LINKED) {
		*at = s->st_value;
	} else if (r->place == PLACE_OFFSET) {
		*at = elf_file_offset(r->run->elf, s->st_value, shdr);
	} else {
		if (s->st_shndx >= r->nstarts || r->starts[s->st_shndx] == UINT64_MAX)
			return false;
		*at = s->st_value + r->starts[s->st_shndx];
	}
	return true;
}

static void elf_add_symbol(const struct elf_reading *r, GElf_Sym *s, const char *name)
{
	struct symtab_symbol new = {.binding = GELF_ST_BIND(s->st_info),
				    .type = GELF_ST_TYPE(s->st_info)};
	const char *section;
	GElf_Shdr shdr;

	if (!name || !*name || s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS ||
	    (!elf_is_label(s) && !elf_is_function_or_object(s)) ||
	    elf_is_mapping_symbol(&r->syms->header, name))
		return;
	if (!elf_symbol_section(r->syms, r->run, s, &shdr, &section) ||
	    !(shdr.sh_flags & SHF_ALLOC))
		return;
	if (elf_is_label(s) && !strstr(section, "text") && !strstr(section, "data"))
		return;
	if (r->syms->header.e_machine == EM_ARM && new.type == STT_FUNC)
		s->st_value &= ~1ULL; /* the lowest bit marks a Thumb function */
	if (!elf_place_symbol(r, s, &shdr, &new.start))
		return;
	new.end = new.start + s->st_size;
	new.mangled = r->place == PLACE_OFFSET; /* perf does not demangle kernel names */
	symtab_add(r->t, &new, name, NULL);
}

static void elf_read_section(const struct elf_reading *r, struct elf_file *of, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Shdr shdr;
	GElf_Sym s;

	if (!data || !gelf_getshdr(scn, &shdr))
		return;
	for (int i = 0; gelf_getsym(data, i, &s); i++)
		elf_add_symbol(r, &s, elf_strptr(of->elf, shdr.sh_link, s.st_name));
	symtab_finish(r->t, false);
}

/*
 * Lays the sections out as the kernel loads a module: all code sections except .init, one after the
 * other. Returns false if the module has linkage tables before .text, because the kernel generates
 * those while it loads the module.
 */
static bool elf_lay_out_module(struct elf_reading *r)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = NULL;
	uint64_t at = 0;
	size_t names, n;

	if (elf_getshdrnum(r->run->elf, &n) || elf_getshdrstrndx(r->run->elf, &names))
		return false;
	r->starts = xmalloc((n + 1) * sizeof(*r->starts));
	memset(r->starts, 0xff, (n + 1) * sizeof(*r->starts));
	r->nstarts = n;
	while ((scn = elf_nextscn(r->run->elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC) ||
		    !(shdr.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(r->run->elf, names, shdr.sh_name);
		if (!name || !strncmp(name, ".init", 5))
			continue;
		if (strstr(name, "plt") || strstr(name, "trampoline"))
			return false;
		if (shdr.sh_addralign > 1)
			at = (at + shdr.sh_addralign - 1) & ~(uint64_t)(shdr.sh_addralign - 1);
		r->starts[elf_ndxscn(scn)] = at;
		at += shdr.sh_size;
	}
	return true;
}

bool elf_symbol_address(struct elf_file *f, const char *name, uint64_t *addr)
{
	Elf_Data *data = f->symtab ? elf_getdata(f->symtab, NULL) : NULL;
	const char *text;
	GElf_Shdr shdr;
	GElf_Sym s;

	if (!data || !gelf_getshdr(f->symtab, &shdr))
		return false;
	for (int i = 0; gelf_getsym(data, i, &s); i++) {
		text = elf_strptr(f->elf, shdr.sh_link, s.st_name);
		if (!text || strcmp(text, name))
			continue;
		*addr = s.st_value;
		return true;
	}
	return false;
}

/* Sizes of the PLT's head and entries. Other machines: as the section header says. */
static const struct {
	uint16_t machine;
	uint8_t head, entry;
} plt_sizes[] = {{EM_ARM, 20, 12}, {EM_AARCH64, 32, 16}, {EM_X86_64, 16, 16}, {EM_386, 16, 16}};

static void plt_find_layout(const struct elf_file *f, const GElf_Shdr *plt, uint64_t *head,
			    uint64_t *entry)
{
	*head = *entry = plt->sh_entsize;
	for (size_t i = 0; i < sizeof(plt_sizes) / sizeof(plt_sizes[0]); i++)
		if (plt_sizes[i].machine == f->header.e_machine) {
			*head = plt_sizes[i].head;
			*entry = plt_sizes[i].entry;
		}
}

/* Returns the symbol index of relocation `i` of the PLT, or -1 after the last. */
static int64_t plt_find_symbol(Elf_Data *data, uint32_t type, int i)
{
	GElf_Rela rela;
	GElf_Rel rel;

	if (type == SHT_RELA)
		return gelf_getrela(data, i, &rela) ? (int64_t)GELF_R_SYM(rela.r_info) : -1;
	return gelf_getrel(data, i, &rel) ? (int64_t)GELF_R_SYM(rel.r_info) : -1;
}

static void plt_add_symbol(struct symtab *t, uint64_t start, uint64_t size, const char *of)
{
	autofree char *nice = demangle(of), *name = xasprintf("%s@plt", nice ? nice : of);
	struct symtab_symbol new = {
		.start = start, .end = start + size, .binding = STB_GLOBAL, .type = STT_FUNC};

	symtab_add(t, &new, name, NULL);
}

/*
 * Adds "memcpy@plt" for each PLT entry. Calls run through these entries, but they have no symbols.
 * Code for x86 that marks the targets of its jumps has a second PLT without a head.
 */
static void plt_read(struct symtab *t, struct elf_file *f)
{
	GElf_Shdr rel, plt, dyn, second;
	Elf_Scn *scn = elf_section(f->elf, ".rela.plt", &rel);
	bool has_second = elf_section(f->elf, ".plt.sec", &second);
	Elf_Data *relocs, *symbols;
	uint64_t head, entry;
	int64_t index;
	GElf_Sym s;

	scn = scn ? scn : elf_section(f->elf, ".rel.plt", &rel);
	if (!scn || !f->dynsym || rel.sh_link != elf_ndxscn(f->dynsym) ||
	    !elf_section(f->elf, ".plt", &plt) || !gelf_getshdr(f->dynsym, &dyn))
		return;
	relocs = elf_getdata(scn, NULL);
	symbols = elf_getdata(f->dynsym, NULL);
	plt_find_layout(f, &plt, &head, &entry);
	for (int i = 0;
	     relocs && symbols && entry && (index = plt_find_symbol(relocs, rel.sh_type, i)) >= 0;
	     i++) {
		const char *of = gelf_getsym(symbols, (int)index, &s)
					 ? elf_strptr(f->elf, dyn.sh_link, s.st_name)
					 : NULL;
		uint64_t at = (uint64_t)i * entry;

		plt_add_symbol(t, plt.sh_offset + head + at, entry, of ? of : "");
		if (has_second)
			plt_add_symbol(t, second.sh_offset + at, entry, of ? of : "");
	}
}

static void elf_read_all(const struct elf_reading *r)
{
	if (r->syms->symtab)
		elf_read_section(r, r->syms, r->syms->symtab);
	if (r->syms->dynsym)
		elf_read_section(r, r->syms, r->syms->dynsym);
	/* .gnu_debugdata omits the symbols that .dynsym has */
	if (r->syms->image && r->place == PLACE_OFFSET && r->run != r->syms && r->run->dynsym) {
		struct elf_reading own = *r;

		own.syms = r->run;
		elf_read_section(&own, r->run, r->run->dynsym);
	}
}

int elf_symbols_read(struct symtab *t, struct elf_file *syms, struct elf_file *run,
		     enum placement place, struct error *err)
{
	struct elf_reading r = {.t = t, .syms = syms, .run = run, .place = place};

	if (!syms->symtab && !syms->dynsym)
		return error_set(err, ENOENT, "no symbol table");
	if (place == PLACE_MODULE && !elf_lay_out_module(&r)) {
		free(r.starts);
		return error_set(err, ENOTSUP,
				 "the kernel chooses the places of its sections at load time");
	}
	elf_read_all(&r);
	if (t->n && place == PLACE_OFFSET)
		plt_read(t, run);
	symtab_finish(t, false);
	free(r.starts);
	return t->n ? 0 : error_set(err, ENOENT, "no symbols");
}
