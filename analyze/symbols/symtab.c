// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/symbols/symtab.h"

#include "lib/alloc.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static uint32_t add_name(struct symtab *t, const char *name)
{
	uint32_t at = (uint32_t)t->names.len;

	str_add(&t->names, name, strlen(name) + 1);
	return at;
}

/* Symbols of one module follow each other: the module's name is kept once. */
static uint32_t add_module(struct symtab *t, const char *module)
{
	const struct symtab_symbol *last = t->n ? &t->symbols[t->n - 1] : NULL;

	if (last && last->module && !strcmp(t->names.buf + last->module, module))
		return last->module;
	return add_name(t, module);
}

void symtab_add(struct symtab *t, const struct symtab_symbol *s, const char *name,
		const char *module)
{
	struct symtab_symbol new = *s;

	if (!t->names.len)
		str_putc(&t->names, '\0'); /* offset 0 stands for "none" */
	if (t->names.len + strlen(name) + 256 > UINT32_MAX)
		return;
	new.name = add_name(t, name);
	new.module = module ? add_module(t, module) : 0;
	array_grow(t->symbols, t->n, t->cap);
	new.order = (uint32_t)t->n;
	t->symbols[t->n++] = new;
}

static int by_start(const void *a, const void *b)
{
	const struct symtab_symbol *l = a, *r = b;

	if (l->start != r->start)
		return l->start < r->start ? -1 : 1;
	return l->order < r->order ? -1 : l->order > r->order;
}

static uint64_t round_up_page(uint64_t addr)
{
	return (addr + 4095) & ~4095ULL;
}

static void fix_ends(struct symtab *t, bool kallsyms)
{
	struct symtab_symbol *s;
	size_t i;

	for (i = 0; i + 1 < t->n; i++) {
		s = &t->symbols[i];
		if (s->end != s->start)
			continue;
		if (kallsyms && !s->module != !s[1].module)
			s->end = round_up_page(s->end + 4096);
		else
			s->end = s[1].start;
	}
	s = &t->symbols[t->n - 1];
	if (s->end == s->start)
		s->end = round_up_page(s->start) + 4096;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Does `b` take the place of `a` at the same address? perf's rules, in perf's order. */
static bool second_is_better(const struct symtab *t, const struct symtab_symbol *a,
			     const struct symtab_symbol *b)
{
	const char *na = t->names.buf + a->name, *nb = t->names.buf + b->name;
	bool empty_a = a->end == a->start, empty_b = b->end == b->start;

	if (empty_a != empty_b)
		return empty_a;
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return a->binding == STB_WEAK;
	if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
		return b->binding == STB_GLOBAL;
	if (underscores(na) != underscores(nb))
		return underscores(na) > underscores(nb);
	if (strlen(na) != strlen(nb))
		return strlen(na) < strlen(nb);
	return !strncmp(na, "SyS", 3) || !strncmp(na, "compat_SyS", 10);
}

static void drop_duplicates(struct symtab *t)
{
	struct symtab_symbol *best = &t->symbols[0];
	size_t i, n = 0;

	for (i = 1; i < t->n; i++) {
		struct symtab_symbol *s = &t->symbols[i];

		if (s->start != best->start) {
			t->symbols[n++] = *best;
			best = s;
		} else if (second_is_better(t, best, s)) {
			best = s;
		}
	}
	t->symbols[n++] = *best;
	t->n = n;
	for (i = 0; i < n; i++)
		t->symbols[i].order = (uint32_t)i;
}

void symtab_finish(struct symtab *t, bool kallsyms)
{
	if (!t->n)
		return;
	qsort(t->symbols, t->n, sizeof(*t->symbols), by_start);
	fix_ends(t, kallsyms);
	drop_duplicates(t);
}

struct symtab_symbol *symtab_find(const struct symtab *t, uint64_t addr)
{
	size_t low = 0, high = t->n, mid, back;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (t->symbols[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	/* Symbols may nest: an outer one starts a little before. */
	for (back = 0; low-- > 0 && back < 8; back++)
		if (addr < t->symbols[low].end)
			return &t->symbols[low];
	return NULL;
}

const char *symtab_name(const struct symtab *t, const struct symtab_symbol *s)
{
	return t->names.buf + s->name;
}

const char *symtab_module(const struct symtab *t, const struct symtab_symbol *s)
{
	return s->module ? t->names.buf + s->module : NULL;
}

void symtab_free(struct symtab *t)
{
	free(t->symbols);
	str_free(&t->names);
	*t = (struct symtab){0};
}
