// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/symbols/symtab.h"

#include "lib/alloc.h"
#include "lib/hash.h"

#include <elf.h>

#ifdef HAVE_LIBIBERTY
/* libiberty.h redeclares half of libc, so this file declares what it uses */
extern char *cplus_demangle(const char *mangled, int options);
#endif

char *demangle(const char *name)
{
#ifdef HAVE_LIBIBERTY
	if (name[0] == '_')
		return cplus_demangle(name, 0);
#endif
	(void)name;
	return NULL;
}

static uint32_t symtab_add_name(struct symtab *t, const char *name)
{
	uint32_t at = (uint32_t)t->names.len;

	str_add(&t->names, name, strlen(name) + 1);
	return at;
}

/* The symbols of a module follow each other, so its name is stored once. */
static uint32_t symtab_add_module(struct symtab *t, const char *module)
{
	const struct symtab_symbol *last = t->n ? &t->symbols[t->n - 1] : NULL;

	if (last && last->module && !strcmp(t->names.buf + last->module, module))
		return last->module;
	return symtab_add_name(t, module);
}

void symtab_add(struct symtab *t, const struct symtab_symbol *s, const char *name,
		const char *module)
{
	struct symtab_symbol new = *s;

	if (!t->names.len)
		str_putc(&t->names, '\0'); /* offset 0 means "none" */
	if (t->names.len + strlen(name) + 256 > UINT32_MAX)
		return;
	new.name = symtab_add_name(t, name);
	new.module = module ? symtab_add_module(t, module) : 0;
	array_add(t->symbols, t->n, t->cap, new);
}

/* Sorts by address. Symbols with equal addresses keep their order. */
static void symtab_sort(struct symtab *t)
{
	autofree struct radix_row *rows = xmalloc(t->n * sizeof(*rows));
	struct symtab_symbol *sorted;

	for (size_t i = 0; i < t->n; i++)
		rows[i] = (struct radix_row){t->symbols[i].start, i};
	radix_sort(rows, t->n);
	sorted = xmalloc(t->n * sizeof(*sorted));
	for (size_t i = 0; i < t->n; i++)
		sorted[i] = t->symbols[rows[i].value];
	free(t->symbols);
	t->symbols = sorted;
	t->cap = t->n;
}

static uint64_t symtab_round_up_page(uint64_t addr)
{
	return (addr + 4095) & ~4095ULL;
}

static void symtab_fix_ends(struct symtab *t, bool kallsyms)
{
	struct symtab_symbol *s;

	for (size_t i = 0; i + 1 < t->n; i++) {
		s = &t->symbols[i];
		if (s->end != s->start)
			continue;
		if (kallsyms && !s->module != !s[1].module)
			s->end = symtab_round_up_page(s->end + 4096);
		else
			s->end = s[1].start;
	}
	s = &t->symbols[t->n - 1];
	if (s->end == s->start)
		s->end = symtab_round_up_page(s->start) + 4096;
}

static bool name_second_is_nicer(const char *a, const char *b)
{
	size_t ua = strspn(a, "_"), ub = strspn(b, "_");

	if (ua != ub)
		return ua > ub;
	if (strlen(a) != strlen(b))
		return strlen(a) < strlen(b);
	return !strncmp(a, "SyS", 3) || !strncmp(a, "compat_SyS", 10);
}

/* Returns whether `b` replaces `a` at the same address. These are perf's rules in perf's order. */
static bool symtab_second_is_better(const struct symtab *t, const struct symtab_symbol *a,
				    const struct symtab_symbol *b)
{
	const char *na = t->names.buf + a->name, *nb = t->names.buf + b->name;
	bool empty_a = a->end == a->start, empty_b = b->end == b->start;
	autofree char *nice_a = NULL, *nice_b = NULL;

	if (empty_a != empty_b)
		return empty_a;
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return a->binding == STB_WEAK;
	if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
		return b->binding == STB_GLOBAL;
	if (a->mangled && b->mangled && !strcmp(na, nb))
		return false; /* the same symbol in two sections */
	nice_a = symtab_demangled(t, a);
	nice_b = symtab_demangled(t, b);
	return name_second_is_nicer(nice_a ? nice_a : na, nice_b ? nice_b : nb);
}

static void symtab_drop_duplicates(struct symtab *t)
{
	struct symtab_symbol *best = &t->symbols[0];
	size_t n = 0;

	for (size_t i = 1; i < t->n; i++) {
		struct symtab_symbol *s = &t->symbols[i];

		if (s->start != best->start) {
			t->symbols[n++] = *best;
			best = s;
		} else if (symtab_second_is_better(t, best, s)) {
			best = s;
		}
	}
	t->symbols[n++] = *best;
	t->n = n;
}

void symtab_finish(struct symtab *t, bool kallsyms)
{
	if (!t->n)
		return;
	symtab_sort(t);
	symtab_fix_ends(t, kallsyms);
	symtab_drop_duplicates(t);
}

struct symtab_symbol *symtab_find(const struct symtab *t, uint64_t addr)
{
	size_t low = rows_up_to(t->symbols, t->n, sizeof(*t->symbols), addr);

	/* Symbols may nest, so an earlier one may cover the address. */
	for (size_t back = 0; low-- > 0 && back < 8; back++)
		if (addr < t->symbols[low].end)
			return &t->symbols[low];
	return NULL;
}

const char *symtab_name(const struct symtab *t, const struct symtab_symbol *s)
{
	return t->names.buf + s->name;
}

char *symtab_demangled(const struct symtab *t, const struct symtab_symbol *s)
{
	return s->mangled ? demangle(t->names.buf + s->name) : NULL;
}

const char *symtab_module(const struct symtab *t, const struct symtab_symbol *s)
{
	return s->module ? t->names.buf + s->module : NULL;
}

void symtab_copy(struct symtab *to, const struct symtab *from)
{
	to->symbols = xmemdup(from->symbols, from->n * sizeof(*from->symbols));
	to->n = to->cap = from->n;
	to->names = from->names;
	to->borrows = true;
}

void symtab_free(struct symtab *t)
{
	free(t->symbols);
	if (!t->borrows)
		str_free(&t->names);
	*t = (struct symtab){0};
}
