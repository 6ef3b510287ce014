// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks an address up in three steps: a sorted list of all units' ranges gives the compilation unit
 * (compilers omit .debug_aranges), a list made on the unit's first visit gives the function, and
 * the function's blocks give the inlined functions. A map stores the result by address.
 */
#include "analyze/symbols/dso.h"

#include "lib/file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { DEPTH_MAX = 256 };

struct range {
	uint64_t low, high; /* [low, high) */
	uint64_t what;	    /* a unit's index, or the offset of a function's DIE */
};

struct ranges {
	struct range *list; /* sorted by low */
	size_t n, cap;
};

struct unit {
	Dwarf_Off offset;
	struct ranges functions;
	bool indexed;
};

struct inlines {
	struct elf_file file;
	Dwarf *dwarf;
	char *path;
	struct unread *unread;
	struct elf_segments segments; /* those of the mapped file; none: addresses are linked */
	struct unit *units;
	size_t nunits, units_cap;
	struct ranges ranges; /* the ranges of the units */
	struct map known;     /* address -> struct inlined * + 1 */
	struct intern names;
	struct arena arena;
};

static void ranges_add_die(struct ranges *r, Dwarf_Die *die, uint64_t what)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
		if (low < high)
			array_add(r->list, r->n, r->cap, (struct range){low, high, what});
}

static int range_compare(const void *a, const void *b)
{
	const struct range *l = a, *r = b;

	return ascending(l->low, r->low) ?: descending(l->high, r->high);
}

/* Returns the innermost range over the address, because functions may nest. */
static const struct range *ranges_find(const struct ranges *r, uint64_t addr)
{
	size_t low = rows_up_to(r->list, r->n, sizeof(*r->list), addr);

	for (size_t back = 0; low-- > 0 && back < 16; back++)
		if (addr < r->list[low].high)
			return &r->list[low];
	return NULL;
}

static void inlines_index_units(struct inlines *in)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	/* With a place for the split unit, libdw would open the .dwo file that the unit names. */
	errno = 0;
	while (!dwarf_get_units(in->dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		if (type != DW_UT_compile && type != DW_UT_partial)
			continue;
		array_grow(in->units, in->nunits, in->units_cap);
		in->units[in->nunits] = (struct unit){.offset = dwarf_dieoffset(&die)};
		ranges_add_die(&in->ranges, &die, in->nunits++);
	}
	unread_add_errno(in->unread, in->path);
	array_sort(in->ranges.list, in->ranges.n, range_compare);
}

/* Indexes a unit's functions, also those inside namespaces and other functions. */
static void inlines_index_functions(struct ranges *r, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;
	int tag;

	if (depth > 32 || dwarf_child(parent, &die))
		return;
	do {
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram)
			ranges_add_die(r, &die, dwarf_dieoffset(&die));
		if (tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_module)
			inlines_index_functions(r, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

static const struct ranges *unit_functions(struct inlines *in, struct unit *u)
{
	Dwarf_Die die;

	if (!u->indexed && dwarf_offdie(in->dwarf, u->offset, &die)) {
		inlines_index_functions(&u->functions, &die, 0);
		array_sort(u->functions.list, u->functions.n, range_compare);
	}
	u->indexed = true;
	return &u->functions;
}

/* Returns the linkage name, as addr2line does, but demangled. */
static const char *inlines_function_name(struct inlines *in, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = NULL;
	autofree char *nice = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_name, &a))
		name = dwarf_formstring(&a);
	if (!name)
		return "??";
	nice = demangle(name);
	return intern_get(&in->names, intern_str(&in->names, nice ? nice : name));
}

/* Replaces `die` by its block or inlined function that covers the address. */
static bool inlines_descend(Dwarf_Die *die, uint64_t addr)
{
	Dwarf_Die child;
	int tag;

	if (dwarf_child(die, &child))
		return false;
	do {
		tag = dwarf_tag(&child);
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
		     tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
		    dwarf_haspc(&child, addr) > 0) {
			*die = child;
			return true;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static const struct inlined *inlines_look_up(struct inlines *in, uint64_t addr)
{
	const struct range *unit = ranges_find(&in->ranges, addr), *function;
	const char *names[DEPTH_MAX];
	struct inlined *found;
	Dwarf_Die die;
	size_t n = 0;

	function = unit ? ranges_find(unit_functions(in, &in->units[unit->what]), addr) : NULL;
	if (!function || !dwarf_offdie(in->dwarf, function->what, &die))
		return NULL;
	while (n < DEPTH_MAX && inlines_descend(&die, addr))
		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			names[n++] = inlines_function_name(in, &die);
	if (!n)
		return NULL;
	found = arena_alloc(&in->arena, sizeof(*found) + n * sizeof(*names));
	found->n = n;
	memcpy(found->names, names, n * sizeof(*names));
	return found;
}

const struct inlined *inlines_at(struct inlines *in, uint64_t addr)
{
	uint64_t *known;

	if (in->segments.n && !elf_segments_link(&in->segments, addr, &addr))
		return NULL;
	known = map_at(&in->known, addr);
	if (!*known) {
		errno = 0;
		*known = 1 + (uint64_t)(uintptr_t)inlines_look_up(in, addr);
		unread_add_errno(in->unread, in->path);
	}
	return (const struct inlined *)(uintptr_t)(*known - 1);
}

const char *inlines_line_at(struct inlines *in, uint64_t addr)
{
	const struct range *unit;
	const char *path;
	Dwarf_Line *line;
	Dwarf_Die die;
	char text[256];
	int number;

	if (in->segments.n && !elf_segments_link(&in->segments, addr, &addr))
		return NULL;
	unit = ranges_find(&in->ranges, addr);
	if (!unit || !dwarf_offdie(in->dwarf, in->units[unit->what].offset, &die))
		return NULL;
	errno = 0;
	line = dwarf_getsrc_die(&die, addr);
	path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	unread_add_errno(in->unread, in->path);
	if (!path || dwarf_lineno(line, &number) || number <= 0)
		return NULL;
	snprintf(text, sizeof(text), "%.200s:%d", path_base_name(path), number);
	return intern_get(&in->names, intern_str(&in->names, text));
}

struct inlines *inlines_open(const char *path, struct symbol_cache *cache, struct unread *unread)
{
	struct inlines *in = symbol_cache_take(cache, path);
	struct error err = {0};

	if (in) {
		in->unread = unread;
		return in;
	}
	in = xcalloc(1, sizeof(*in));
	in->path = xstrdup(path);
	in->unread = unread;
	if (elf_file_open(&in->file, path, &err))
		unread_add(unread, &err);
	errno = 0;
	in->dwarf = in->file.has_dwarf ? dwarf_begin_elf(in->file.elf, DWARF_C_READ, NULL) : NULL;
	unread_add_errno(unread, path); /* libdw does without a section that it cannot unpack */
	if (!in->dwarf) {
		inlines_close(in);
		return NULL;
	}
	inlines_index_units(in);
	if (!in->nunits) {
		error_set(&err, EIO, "%s: its debug information has no unit", path);
		unread_add(unread, &err);
	}
	return in;
}

struct inlines *inlines_of_files(const struct dso_files *files, struct symbol_cache *cache,
				 struct unread *unread)
{
	struct inlines *in = files->dwarf ? inlines_open(files->dwarf, cache, unread) : NULL;

	if (in && !in->segments.n)
		elf_segments_read(&in->segments,
				  files->have_run ? files->run.elf : files->syms.elf);
	return in;
}

/* libdw remembers what it could not read, so the next recording opens such a file again. */
void inlines_give_back(struct inlines *in, struct symbol_cache *cache)
{
	if (in && !__atomic_load_n(&in->unread->why, __ATOMIC_ACQUIRE))
		symbol_cache_give(cache, in->path, in);
	else
		inlines_close(in);
}

void inlines_close(struct inlines *in)
{
	if (!in)
		return;
	array_free(e, in->units, in->nunits, free(e->functions.list));
	free(in->ranges.list);
	free(in->segments.list);
	map_free(&in->known);
	intern_free(&in->names);
	arena_free(&in->arena);
	if (in->dwarf)
		dwarf_end(in->dwarf);
	elf_file_close(&in->file);
	free(in->path);
	free(in);
}
