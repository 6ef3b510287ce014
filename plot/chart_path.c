// SPDX-License-Identifier: GPL-2.0-only
/* The way of a packet: a stack of the mean time in each stage, with the median and p99 of the
 * whole. */
#include "plot/chart.h"

#include "analyze/costs/costs.h"
#include "analyze/scope/results.h"

#include <errno.h>

/* By stage. Stages in which a packet waits have warm colours; the totals have none. */
static const uint32_t path_colours[] = {0x9684e0, 0x999933, 0x88ccee, 0x3232cc, 0x4477aa, 0xeecc66,
					0x332288, 0xcc6677, 0xaa4499, 0x44aa99, 0xee8866, 0,
					0x7446b8, 0xffaabb, 0x117733, 0xa83818, 0x9bc9a4, 0xe0a030,
					0x661100, 0,	    0xbbbbbb};

static const char *path_group(struct figure *f, const struct path_row *r)
{
	return figure_text(f, "%s: %s", r->block.side, r->way);
}

static bool path_is_part(const struct path_row *r)
{
	return r->mean_us.value > 0 && r->share_pct <= 100 && strcmp(r->stage, PATH_TOTAL) != 0;
}

/* Adds the ways as groups, and the stages as parts in a packet's order. */
static void path_add_marks(struct figure *f, const struct path_row *rows, size_t n)
{
	const struct path_stage *s;

	for (const struct path_row *r = rows; r < rows + n; r++)
		if (!strcmp(r->stage, PATH_TOTAL) &&
		    figure_find_mark(&f->bars, r->block.variant) >= 0 &&
		    figure_find_mark(&f->groups, path_group(f, r)) < 0)
			figure_group(f, path_group(f, r));
	for (size_t i = 0; (s = path_stage_at(i)); i++)
		for (const struct path_row *r = rows; r < rows + n; r++)
			if (path_is_part(r) && !strcmp(r->way, s->way) &&
			    !strcmp(r->stage, s->stage) &&
			    figure_find_mark(&f->parts, s->stage) < 0)
				figure_part(f, s->stage, path_colours[i]);
}

static int path_draw(struct drawing *d, struct figure *f, const struct table *t, struct error *err)
{
	const struct path_row *rows = table_structs(t, struct path_row);

	f->title = "Where a packet spends its time in the kernel";
	f->subtitle =
		"Stacks: mean time by stage; whiskers: the whole way, from its median to its 99th percentile";
	f->axis = "us";
	drawing_bars(d, f);
	path_add_marks(f, rows, t->rows);
	for (const struct path_row *r = rows; r < rows + t->rows; r++) {
		int group = figure_find_mark(&f->groups, path_group(f, r));
		int bar = figure_find_mark(&f->bars, r->block.variant);
		bool total = !strcmp(r->stage, PATH_TOTAL);
		struct estimate whole = {r->mean_us.value, r->p50_us,	   r->p99_us, NAN,
					 r->mean_us.n,	   r->mean_us.used};

		if (group >= 0 && bar >= 0 && (total || path_is_part(r)))
			figure_put(f, group, bar,
				   total ? FIGURE_WHOLE : figure_find_mark(&f->parts, r->stage),
				   total ? whole : estimate_plain(r->mean_us.value));
	}
	if (!f->ndata)
		return error_set(
			err, ENODATA,
			"no variant has a run that followed packets; capture with the pass trace");
	drawing_foot(d, f, FROM_TRACED);
	return 0;
}

const struct chart chart_path = {
	.name = "path",
	.what = "time of a packet in the kernel, stacked by stage, with median and p99",
	.sources = {"path"},
	.options = {CHART_OPTIONS CHART_RUNS "side"},
	.whole = "the packets are those of the workload's sockets already",
	.flags = CHART_OWN,
	.draw = path_draw,
};
