// SPDX-License-Identifier: GPL-2.0-only
/* The text of perf report: its rows are added up already, their weights are percentages. */
#include "analyze/measures/tally.h"

#include "analyze/texts/perf_report.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* "[veth]" -> veth, "[kernel.kallsyms]" -> kernel, else as it stands. */
static const char *module_of(const struct flat_row *r, char *buf, size_t size)
{
	const char *dso = r->dso ? r->dso : "";
	size_t n = strlen(dso);

	if (str_starts(dso, "[kernel"))
		return "kernel";
	if (n < 2 || dso[0] != '[' || dso[n - 1] != ']' || n > size)
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
		return f->spec.merge_unresolved && tally_flat_unresolved(r) ? "[unresolved]"
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

static void tally_flat_add_row(struct tally *f, const struct flat_row *r)
{
	const char *key[TALLY_KEYS];
	struct tally_row *row;
	struct function fn = {r->symbol, NULL, tally_flat_kind_of(r), CTX_UNKNOWN};
	char module[128];
	int i;

	fn.module = module_of(r, module, sizeof(module));
	if (tally_flat_unresolved(r))
		f->unresolved += isnan(r->self) ? 0 : r->self;
	else if (f->spec.components && components_of(f->spec.components, &fn) == component_none)
		f->unclassified += isnan(r->self) ? 0 : r->self;
	if (!tally_wanted(f->spec.symbol, r->symbol) ||
	    !tally_wanted(f->spec.dso, r->dso ? r->dso : "") ||
	    !tally_wanted(f->spec.comm, r->comm ? r->comm : ""))
		return;
	for (i = 0; i < f->spec.nkeys; i++)
		key[i] = tally_flat_key_of(f, f->spec.keys[i], r, &fn);
	row = tally_row(f, key);
	row->samples += r->samples > 0 ? (uint64_t)r->samples : 0;
	if (!isnan(r->self)) {
		row->self += r->self;
		row->run_self[0] += r->self;
	}
	if (!isnan(r->total))
		row->total += r->total;
}

int tally_flat(struct tally *f, const struct flat *flat, struct error *err)
{
	size_t i;

	(void)err;
	f->weight = f->run_weight[0] = 100;
	f->event = flat->event;
	f->no_self = !flat->has_self;
	f->no_total = !flat->has_total;
	f->no_samples = !flat->has_samples;
	if (!isnan(flat->samples)) {
		f->samples = (uint64_t)flat->samples;
		f->n_eff = flat->samples;
	}
	for (i = 0; i < flat->n; i++)
		tally_flat_add_row(f, &flat->rows[i]);
	return 0;
}
