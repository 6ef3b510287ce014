// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/costs/tally.h"

#include "analyze/texts/text.h"

#include <math.h>

static const char *const key_names[TALLY_KEYS] = {
	[BY_COMM] = "comm",	      [BY_PID] = "pid",	      [BY_TID] = "tid",
	[BY_THREAD] = "thread",	      [BY_CPU] = "cpu",	      [BY_CONTEXT] = "context",
	[BY_COMPONENT] = "component", [BY_SYMBOL] = "symbol", [BY_DSO] = "dso",
	[BY_MODULE] = "module",
};

const char *tally_key_name(enum tally_key key)
{
	return key_names[key];
}

int tally_key_find(const char *name)
{
	return str_index(key_names, TALLY_KEYS, name);
}

void tally_init(struct tally *f, const struct tally_spec *spec, int nruns)
{
	*f = (struct tally){.spec = *spec, .nruns = nruns};
	f->run_weight = xcalloc((size_t)nruns + 1, sizeof(*f->run_weight));
}

void tally_free(struct tally *f)
{
	free(f->rows);
	free(f->run_weight);
	intern_free(&f->ids);
	intern_free(&f->strings);
	arena_free(&f->arena);
	*f = (struct tally){0};
}

struct tally_row *tally_row(struct tally *f, const char *const keys[])
{
	uint32_t id[TALLY_KEYS], row;
	int nkeys = f->spec.nkeys;
	size_t size;

	for (int i = 0; i < nkeys; i++)
		id[i] = intern_str(&f->strings, keys[i]);
	row = intern_bytes(&f->ids, id, (size_t)nkeys * sizeof(*id));
	if (row == f->n) {
		size = (size_t)(f->nruns + 1) * sizeof(double);
		array_add(f->rows, f->n, f->cap,
			  (struct tally_row){.run_self = arena_alloc(&f->arena, size),
					     .run_total = arena_alloc(&f->arena, size)});
		for (int i = 0; i < nkeys; i++)
			f->rows[row].key[i] = intern_get(&f->strings, id[i]);
	}
	return &f->rows[row];
}

static int tally_by_cost(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;
	double total_x = fmax(x->total, -1), total_y = fmax(y->total, -1); /* NAN comes last */
	int c = descending(x->self, y->self)
			?: descending(total_x, total_y) ?: ascending(x->line, y->line);

	for (int i = 0; i < TALLY_KEYS && x->key[i] && !c; i++)
		c = strcmp(x->key[i], y->key[i]);
	return c;
}

void tally_sort(struct tally *f)
{
	array_sort(f->rows, f->n, tally_by_cost);
}

int tally_profile(struct tally *f, const struct profile *p, struct error *err)
{
	struct tally_pass *w = tally_begin(f, p);
	int rc = tally_run(w, 0, err);

	tally_end(w);
	tally_sort(f);
	return rc;
}

/* --- rows of the text of perf report --- */

/* perf report has already added up the rows. Their weights are percentages. */

static enum dso_kind tally_flat_kind_of(const struct flat_row *r)
{
	switch (r->level) {
	case 'k':
		return str_starts(r->symbol, "bpf_prog_") ? DSO_BPF : DSO_KERNEL;
	case '.':
		return DSO_USER;
	case 'g':
	case 'u':
	case 'H':
		return DSO_GUEST;
	default:
		return DSO_UNKNOWN;
	}
}

/* Returns veth for "[veth]", kernel for "[kernel.kallsyms]", else the name unchanged. */
static const char *tally_flat_module_of(const struct flat_row *r, char *buf, size_t size)
{
	const char *dso = r->dso ? r->dso : "";
	size_t n = strlen(dso);

	if (str_starts(dso, "[kernel"))
		return "kernel";
	if (dso[0] != '[' || dso[n - 1] != ']' || n > size)
		return dso;
	memcpy(buf, dso + 1, n - 2);
	buf[n - 2] = '\0';
	return buf;
}

static bool tally_flat_unresolved(const struct flat_row *r)
{
	return str_starts(r->symbol, "0x");
}

static const char *tally_flat_key_of(const struct tally *f, enum tally_key key,
				     const struct flat_row *r, const struct function *fn)
{
	switch (key) {
	case BY_COMM:
		return r->comm ? r->comm : "";
	case BY_SYMBOL:
		return f->spec.merge_unresolved && tally_flat_unresolved(r)
			       ? tally_unresolved(r->dso)
			       : r->symbol;
	case BY_DSO:
		return r->dso ? r->dso : "";
	case BY_MODULE:
		return fn->module;
	case BY_COMPONENT:
		return f->spec.components ? components_of(f->spec.components, fn) : "";
	default:
		return "";
	}
}

/* Returns false if the row is not wanted. */
static bool tally_flat_add_row(struct tally *f, const struct flat_row *r)
{
	const char *key[TALLY_KEYS];
	struct tally_row *row;
	struct function fn = {r->symbol, NULL, tally_flat_kind_of(r), CTX_UNKNOWN};
	char module[128];

	fn.module = tally_flat_module_of(r, module, sizeof(module));
	if (tally_flat_unresolved(r))
		f->unresolved += isnan(r->self) ? 0 : r->self;
	else if (f->spec.components && components_of(f->spec.components, &fn) == component_none)
		f->unclassified += isnan(r->self) ? 0 : r->self;
	if (!str_matches(f->spec.symbol, r->symbol) ||
	    !str_matches(f->spec.dso, r->dso ? r->dso : "") ||
	    !str_matches(f->spec.comm, r->comm ? r->comm : ""))
		return false;
	for (int i = 0; i < f->spec.nkeys; i++)
		key[i] = tally_flat_key_of(f, f->spec.keys[i], r, &fn);
	row = tally_row(f, key);
	row->samples += r->samples > 0 ? (uint64_t)r->samples : 0;
	if (!isnan(r->self))
		row->self += r->self;
	if (!isnan(r->total)) /* the totals of addresses overlap if one calls another */
		row->total += f->spec.merge_unresolved && tally_flat_unresolved(r) ? NAN : r->total;
	row->line = row->line ? row->line : r->line;
	return true;
}

/* Returns the number of all samples, exact where the text has exact numbers, or NAN. */
static double tally_flat_samples(const struct flat *f)
{
	double sum = 0;
	size_t i;

	if (!isnan(f->samples) && !f->samples_rounded)
		return f->samples;
	for (i = 0; i < f->n && f->rows[i].samples >= 0; i++)
		sum += (double)f->rows[i].samples;
	if (f->n && i == f->n && !f->has_total) /* with children, the counts cover only self */
		return sum;
	return f->samples;
}

void tally_flat(struct tally *f, const struct flat *flat)
{
	double samples = tally_flat_samples(flat);
	size_t used = 0;

	f->weight = f->run_weight[0] = 100;
	f->event = flat->event;
	f->no_self = !flat->has_self;
	f->no_total = !flat->has_total;
	f->no_samples = !flat->has_samples;
	if (!isnan(samples)) {
		f->samples = (uint64_t)samples;
		f->n_eff = samples;
	}
	for (size_t i = 0; i < flat->n; i++)
		used += tally_flat_add_row(f, &flat->rows[i]);
	if (f->n < used)
		tally_sort(f);
}

const char *dso_base_name(const char *name)
{
	const char *slash = *name == '/' ? strrchr(name, '/') : NULL;

	return slash && slash[1] ? slash + 1 : name;
}
