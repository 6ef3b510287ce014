// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/spot_code.h"

#include "analyze/symbols/elf.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_MAX = 1 << 18 }; /* of a function: more is a symbol without an end */

/* A function with spots, and where it lies. */
struct function_place {
	uint32_t symbol, object;
	uint64_t start, end;
};

struct places {
	struct function_place *list; /* by object */
	size_t n;
};

static int by_object(const void *a, const void *b)
{
	const struct function_place *l = a, *r = b;

	if (l->object != r->object)
		return l->object < r->object ? -1 : 1;
	return l->symbol < r->symbol ? -1 : l->symbol > r->symbol;
}

/* The functions that have spots, each once. */
static struct places places_of(const struct profile *p, const struct spot *spots, size_t n)
{
	struct places places = {.list = xcalloc(p->nspots + 1, sizeof(*places.list))};
	bool *wanted = xcalloc(p->nsymbols + 1, sizeof(*wanted));
	size_t i;

	for (i = 0; i < p->nspots; i++)
		wanted[p->spots[i].symbol] = true;
	for (i = 0; i < n; i++) {
		const struct spot *s = &spots[i];

		if (s->symbol == PROFILE_NONE || !wanted[s->symbol])
			continue;
		wanted[s->symbol] = false;
		places.list[places.n++] =
			(struct function_place){s->symbol, s->object, s->start, s->end};
	}
	if (places.n)
		qsort(places.list, places.n, sizeof(*places.list), by_object);
	free(wanted);
	return places;
}

static void add_code(struct profile *p, const struct function_place *f, uint8_t *bytes)
{
	if (!bytes)
		return;
	array_grow(p->codes, p->ncodes, p->codes_cap);
	p->codes[p->ncodes++] = (struct profile_code){.symbol = f->symbol,
						      .at = f->start,
						      .bytes = bytes,
						      .size = (size_t)(f->end - f->start)};
}

static bool fits(const struct function_place *f)
{
	return f->end > f->start && f->end - f->start <= CODE_MAX;
}

typedef const char *(*line_fn)(struct inlines *in, uint64_t addr);

static void add_lines(struct profile *p, const struct function_place *f, struct inlines *in,
		      line_fn line_at)
{
	const char *line;
	size_t i;

	for (i = 0; in && i < p->nspots; i++) {
		if (p->spots[i].symbol != f->symbol)
			continue;
		line = line_at(in, f->start + p->spots[i].offset);
		if (line)
			p->spots[i].line = intern_str(&p->strings, line);
	}
}

/* --- the kernel --- */

/* Copies of its memory, as it ran: addresses are those recorded. */
static uint8_t *from_memory(const struct objects *ob, uint64_t addr, size_t size)
{
	const struct perfdata_options *o = ob->o;
	char *paths[] = {
		path_is_dir(ob->r->path) ? xasprintf("%s/kcore_dir/kcore", ob->r->path) : NULL,
		o->host_dir ? xasprintf("%s/kcore", o->host_dir) : NULL,
		o->use_this_host && kernel_is_this(ob->r) ? xstrdup("/proc/kcore") : NULL,
	};
	uint8_t *bytes = NULL;
	size_t i;

	for (i = 0; i < array_size(paths); i++) {
		if (paths[i] && !bytes)
			bytes = code_at_address(paths[i], addr, size);
		free(paths[i]);
	}
	return bytes;
}

static uint8_t *kernel_code(const struct objects *ob, const struct function_place *f)
{
	size_t size = (size_t)(f->end - f->start);

	if (ob->kernel->vmlinux)
		return code_at_address(ob->kernel->vmlinux, f->start, size);
	return from_memory(ob, f->start - ob->kernel->delta, size);
}

static void explain_kernel(struct objects *ob, const struct function_place *f, size_t n)
{
	struct inlines *in = ob->kernel->vmlinux ? inlines_open(ob->kernel->vmlinux) : NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		if (fits(&f[i]))
			add_code(ob->p, &f[i], kernel_code(ob, &f[i]));
		add_lines(ob->p, &f[i], in, inlines_line_at);
	}
	inlines_close(in);
}

/* --- files --- */

static const struct elf_file *with_code(const struct dso_files *files)
{
	if (files->have_run && files->run.code)
		return &files->run;
	return files->have_syms && files->syms.code ? &files->syms : NULL;
}

static void explain_file(struct objects *ob, const struct function_place *f, size_t n)
{
	struct dso_identity id = identity_of(&ob->identities, f->object);
	struct symbol_sources from = identity_sources(ob->r, ob->o, &id);
	const struct elf_file *code;
	struct dso_files files;
	struct inlines *in;
	char why[512];
	size_t i;

	from.want_dwarf = true;
	if (identity_no_file(&id) || dso_files_find(&files, &from, &id, why, sizeof(why)))
		return;
	in = inlines_of_files(&files);
	code = with_code(&files);
	for (i = 0; i < n; i++) {
		if (code && fits(&f[i]))
			add_code(ob->p, &f[i],
				 code_at_offset(code, f[i].start, (size_t)(f[i].end - f[i].start)));
		add_lines(ob->p, &f[i], in, inlines_line_at_offset);
	}
	inlines_close(in);
	dso_files_close(&files);
}

void spot_code_add(struct objects *ob, const struct spot *spots, size_t n)
{
	struct places places = places_of(ob->p, spots, n);
	size_t from, to;

	for (from = 0; from < places.n; from = to) {
		const struct function_place *f = &places.list[from];

		for (to = from + 1; to < places.n && places.list[to].object == f->object; to++)
			;
		if (f->object == SPOT_KERNEL)
			explain_kernel(ob, f, to - from);
		else if (f->object != SPOT_NOWHERE)
			explain_file(ob, f, to - from);
	}
	free(places.list);
}
