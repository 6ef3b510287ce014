// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of perf script, which Firefox Profiler, inferno and stackcollapse-perf.pl read: a head
 * and the call chain of each sample, the leaf first. A profile has no times of single samples. The
 * samples of a chain therefore stand one after another, and the time of a sample is the sum of the
 * weights up to it.
 */
#include "analyze/export/export.h"

struct perf_script {
	struct samples s;
	struct export *x;
	struct str chain; /* the chain of the row */
	uint64_t ns;	  /* the time */
	struct error *err;
	int rc;
};

/* Appends a name. Control characters become '_'. */
static void perf_script_add_name(struct str *to, const char *name)
{
	size_t at = to->len;

	str_puts(to, name);
	for (; at < to->len; at++)
		if ((unsigned char)to->buf[at] < ' ')
			to->buf[at] = '_';
}

/* Only addresses without a name have their address: an offset in the object. */
static void perf_script_add_frame(struct str *to, const struct profile *p, uint32_t symbol)
{
	const struct profile_symbol *y = &p->symbols[symbol];
	autofree char *dso = sample_object_path(profile_symbol_dso(p, symbol));
	const char *name = profile_symbol_name(p, symbol);

	str_printf(to, "\t%16llx ", y->unresolved ? strtoull(name, NULL, 16) : 0ULL);
	perf_script_add_name(to, y->unresolved ? "[unknown]" : name);
	str_puts(to, " (");
	perf_script_add_name(to, dso);
	if (str_ends(dso, " (deleted)")) /* a reader takes the last parenthesis for the object */
		to->len -= strlen(" (deleted)");
	str_puts(to, ")\n");
}

static void perf_script_set_chain(struct perf_script *w, const struct sample_run *r, uint32_t frame)
{
	str_reset(&w->chain);
	for (; frame != PROFILE_NONE; frame = r->p->frames[frame].parent)
		perf_script_add_frame(&w->chain, r->p, r->p->frames[frame].symbol);
	if (w->s.nblocks > 1) {
		str_printf(&w->chain, "\t%16x ", 0);
		perf_script_add_name(&w->chain, r->block->name);
		str_puts(&w->chain, " (zcost)\n");
	}
	str_putc(&w->chain, '\n');
}

/* Shares the weight out to the samples of the row. Time that no sample saw is one record. */
static void perf_script_write_row(struct perf_script *w, const struct sample_run *r,
				  const struct profile_cost *c)
{
	const char *comm = sample_comm(r, c);
	FILE *out = w->x->out.f;
	freed(str_free) struct str name = {0};
	uint64_t period, n = c->samples ? c->samples : c->weight > 0;

	perf_script_add_name(&name, *comm ? comm : "[unknown]");
	perf_script_set_chain(w, r, c->frame);
	for (uint64_t i = 0; i < n; i++) {
		period = c->weight / n + (i < c->weight % n);
		w->ns += w->s.is_time ? period : 1000;
		/* "tcpzc 7/8 [001] 12.345678000: 1000000 cpu-clock:" */
		fprintf(out, "%s %u/%u ", name.buf, c->pid, c->tid);
		if (c->cpu != PROFILE_NONE)
			fprintf(out, "[%03u] ", c->cpu);
		fprintf(out, "%llu.%09llu: %llu %s:\n", (unsigned long long)(w->ns / 1000000000),
			(unsigned long long)(w->ns % 1000000000), (unsigned long long)period,
			w->s.event);
		fwrite_unlocked(w->chain.buf, w->chain.len, 1, out);
	}
}

static void perf_script_write_run(void *perf_script, const struct sample_run *r)
{
	struct perf_script *w = perf_script;

	for (size_t i = 0; i < r->p->ncosts && !w->rc; i++) {
		if (!samples_select(r, &r->p->costs[i]))
			continue;
		if (!w->x->out.f && !export_open(w->x, w->err))
			w->rc = -w->err->code;
		else
			perf_script_write_row(w, r, &r->p->costs[i]);
	}
}

static int export_perf_script(struct export *x, struct error *err)
{
	struct perf_script w = {
		.s = {.store = x->store, .q = x->q, .notes = &x->notes}, .x = x, .err = err};
	int rc = samples_open(&w.s, err);

	rc = rc ?: samples_read(&w.s, perf_script_write_run, &w, err);
	str_free(&w.chain);
	samples_close(&w.s);
	return w.rc ? w.rc : rc;
}

const struct format format_perf_script = {
	.name = "perf-script",
	.what = "the text of perf script, with made-up times (Firefox Profiler, inferno)",
	.options = {[SOURCE_CAPTURE] = "variant side run workload-only " OPT_SLICE OPT_SAMPLES,
		    [SOURCE_PERF] = OPT_RECORDING OPT_SAMPLES},
	.write = export_perf_script,
};
