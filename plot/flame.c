// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames of a flame graph: their order, narrow ones folded into one, and the SVG: the picture
 * as it is before anyone zooms, the frames as JSON, and the script. A viewer that runs no script
 * shows the whole picture.
 */
#include "plot/flame.h"

#include "lib/file.h"
#include "plot/label.h"
#include "plot/palette.h"

enum { DEEPEST = 250 };

void flame_free(struct flame *fl)
{
	free(fl->labels);
	free(fl->frames);
	arena_free(&fl->arena);
	*fl = (struct flame){0};
}

uint32_t flame_label(struct flame *fl, struct flame_label label)
{
	array_add(fl->labels, fl->nlabels, fl->labels_cap, label);
	return (uint32_t)fl->nlabels - 1;
}

uint32_t flame_add(struct flame *fl, uint32_t parent, uint32_t label, double width)
{
	array_add(fl->frames, fl->nframes, fl->frames_cap,
		  (struct flame_frame){.parent = parent,
				       .label = label,
				       .rgb = fl->labels[label].rgb,
				       .width = width,
				       .cost = {width}});
	return (uint32_t)fl->nframes - 1;
}

/* --- folding --- */

/* What one frame for several others says. */
struct flame_folded {
	double least;	   /* narrower frames are folded, share of the root */
	double width;	   /* the width of all folded frames together */
	size_t frames, in; /* folded frames, in so many */
};

struct fold {
	struct flame *fl;
	struct flame_frame *out;
	uint32_t *children; /* those of frame i from first[i] on to first[i + 1] */
	uint32_t *first;
	uint32_t *below; /* how many frames a frame and its descendants are */
	size_t n, cap;
	double least; /* width */
	struct flame_folded folded;
};

static int fold_order_names(const void *a, const void *b, void *flame)
{
	const struct flame *fl = flame;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return strcmp(fl->labels[fl->frames[x].label].name, fl->labels[fl->frames[y].label].name)
		       ?: ascending(x, y);
}

static void fold_list_children(struct fold *w)
{
	const struct flame_frame *frames = w->fl->frames;
	size_t n = w->fl->nframes;

	w->children = xcalloc(n + 1, sizeof(*w->children));
	w->first = xcalloc(n + 2, sizeof(*w->first));
	w->below = xcalloc(n + 1, sizeof(*w->below));
	for (size_t i = n; i-- > 1;) {
		w->below[i]++;
		w->below[frames[i].parent] += w->below[i];
		w->first[frames[i].parent + 1]++;
	}
	for (size_t i = 0; i < n; i++)
		w->first[i + 1] += w->first[i];
	for (size_t i = n; i-- > 1;) /* filling from the end: first[i + 1] becomes the start of i */
		w->children[--w->first[frames[i].parent + 1]] = (uint32_t)i;
	memmove(w->first, w->first + 1, n * sizeof(*w->first));
	w->first[n] = n ? (uint32_t)n - 1 : 0;
	for (size_t i = 0; i < n; i++)
		if (w->first[i + 1] > w->first[i] + 1 && !(w->fl->differs && !i))
			qsort_r(w->children + w->first[i], w->first[i + 1] - w->first[i],
				sizeof(*w->children), fold_order_names, w->fl);
}

static void fold_put(struct fold *w, struct flame_frame frame, uint32_t parent, uint32_t depth,
		     double x)
{
	frame.parent = parent;
	frame.depth = depth;
	frame.x = x;
	if (depth > w->fl->depth &&
	    frame.width >= w->fl->frames[0].width * FLAME_SEEN / FLAME_PIXELS)
		w->fl->depth = depth;
	array_add(w->out, w->n, w->cap, frame);
}

static void fold_put_narrow(struct fold *w, const struct flame_frame *sum, uint32_t parent,
			    uint32_t depth, double x, uint32_t count)
{
	char *name = arena_printf(&w->fl->arena, "(%u %s frame%s)", count,
				  depth > DEEPEST ? "deeper" : "narrow", count == 1 ? "" : "s");
	struct flame_frame f = *sum;

	f.label = flame_label(w->fl, (struct flame_label){name, "", "", CTX_UNKNOWN, false, f.rgb});
	fold_put(w, f, parent, depth, x);
	w->folded.width += f.width;
	w->folded.frames += count;
	w->folded.in++;
}

static void fold_put_frame(struct fold *w, uint32_t i, uint32_t parent, uint32_t depth, double x)
{
	struct flame_frame narrow = {.rgb = 0xf2f2f2};
	uint32_t at = (uint32_t)w->n, count = 0;

	fold_put(w, w->fl->frames[i], parent, depth, x);
	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
		const struct flame_frame *child = &w->fl->frames[w->children[k]];

		if (depth < DEEPEST && child->width >= w->least) {
			fold_put_frame(w, w->children[k], at, depth + 1, x);
			x += child->width;
			continue;
		}
		count += w->below[w->children[k]];
		narrow.width += child->width;
		for (uint32_t e = 0; e < 2; e++)
			narrow.cost[e] += child->cost[e];
	}
	if (count)
		fold_put_narrow(w, &narrow, at, depth + 1, x, count);
}

/*
 * Puts the frames in the order of the drawing. Frames that are narrower than `least` of the root,
 * and those too deep to draw, become one frame of their width below their parent.
 */
static struct flame_folded flame_fold(struct flame *fl, double least)
{
	struct fold w = {.fl = fl, .least = least * fl->frames[0].width, .folded.least = least};

	fl->depth = 0;
	fold_list_children(&w);
	fold_put_frame(&w, 0, FLAME_NONE, 0, 0);
	free(fl->frames);
	free(w.children);
	free(w.first);
	free(w.below);
	fl->frames = w.out;
	fl->nframes = w.n;
	fl->frames_cap = w.cap;
	return w.folded;
}

/* --- the SVG --- */

/* Pixels. COLUMN: a character of DejaVu Sans Mono. */
#define COLUMN	    7.25
#define LEGEND_SIZE 15.0
enum { ROW = 18, BASE_LINE = 12, CONTROLS = 62, MARK = 3, MARKED = 6, NAME_MOST = 160 };

enum { FRAMES_MOST = 10000 };
#define NARROW (1.0 / 5000) /* share of the root; narrower frames are folded */

EMBED_TEXT(flame_script, "plot/flame.js");
EMBED_TEXT(flame_style, "plot/flame.css");

/* Returns the bytes of a name that has no more characters than so many columns. */
static size_t name_fit(const char *name, size_t columns, bool *cut)
{
	size_t at = 0, used = 0, before = 0;

	for (; name[at] && used <= columns; used++) {
		before = used == columns - 1 ? at : before;
		do
			at++;
		while (((unsigned char)name[at] & 0xc0) == 0x80);
	}
	*cut = used > columns;
	return *cut ? before : at;
}

/* Appends a JSON string. It has no character that XML or HTML would read as markup. */
static void json_add(struct str *out, const char *s)
{
	str_putc(out, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < ' ' || strchr("\"\\<>&", c))
			str_printf(out, "\\u%04x", c);
		else
			str_putc(out, (char)c);
	}
	str_putc(out, '"');
}

static void json_add_name(struct str *out, const char *name)
{
	bool cut;
	size_t n = name_fit(name, NAME_MOST, &cut);
	autofree char *text = xasprintf("%.*s%s", (int)n, name, cut ? "…" : "");

	json_add(out, text);
}

/* --- labels, colours and tests get numbers when a frame first uses them --- */

struct numbers {
	struct intern ids;
	struct str json;
};

struct flame_json {
	const struct flame *fl;
	struct numbers labels, colors, tests;
	double scale; /* whole numbers in the data per unit */
	struct str out;
};

static uint32_t color_number(struct flame_json *j, uint32_t rgb)
{
	uint32_t before = (uint32_t)j->colors.ids.n;
	uint32_t id = intern_bytes(&j->colors.ids, &rgb, sizeof(rgb));

	if (id == before)
		str_printf(&j->colors.json, "%s[\"#%06x\",\"%s\"]", id ? "," : "", rgb,
			   palette_dark(rgb) ? "#fff" : "#000");
	return id;
}

static bool label_is_marked(const struct flame_label *l)
{
	return l->begins && (l->context == CTX_SYSCALL || l->context == CTX_HARDIRQ ||
			     l->context == CTX_EXCEPTION || context_is_softirq(l->context));
}

static uint32_t label_number(struct flame_json *j, uint32_t label)
{
	const struct flame_label *l = &j->fl->labels[label];
	uint32_t before = (uint32_t)j->labels.ids.n;
	uint32_t id = intern_bytes(&j->labels.ids, &label, sizeof(label));
	struct str *s = &j->labels.json;

	if (id != before)
		return id;
	str_puts(s, id ? ",[" : "[");
	json_add_name(s, l->name);
	str_putc(s, ',');
	json_add_name(s, l->dso);
	str_putc(s, ',');
	json_add(s, l->component);
	str_putc(s, ',');
	json_add(s, l->context == CTX_UNKNOWN ? "" : context_names[l->context]);
	str_printf(s, ",%u", color_number(j, l->rgb));
	if (label_is_marked(l))
		str_printf(s, ",\"#%06x\"", palette_part(context_names[l->context]));
	str_putc(s, ']');
	return id;
}

/* Returns the number of the text + 1; 0: no text. */
static uint32_t test_number(struct flame_json *j, const char *text)
{
	uint32_t before = (uint32_t)j->tests.ids.n, id;

	if (!text)
		return 0;
	id = intern_str(&j->tests.ids, text);
	if (id == before) {
		str_puts(&j->tests.json, id ? "," : "");
		json_add(&j->tests.json, text);
	}
	return id + 1;
}

static void json_add_frame(struct flame_json *j, const struct flame_frame *f)
{
	str_printf(&j->out, "%s%u,%u,%.0f", f->parent == FLAME_NONE ? "" : ",", f->depth,
		   label_number(j, f->label), f->width * j->scale);
	if (j->fl->differs)
		str_printf(&j->out, ",%.0f,%.0f,%u,%u", f->cost[0] * j->scale,
			   f->cost[1] * j->scale, color_number(j, f->rgb), test_number(j, f->test));
}

/* Costs have eight digits in the data, and at least four in texts. */
static int flame_digits(const struct flame *fl)
{
	double total = fl->frames[0].width;

	return total >= 100 ? 1 : total >= 10 ? 2 : total >= 1 ? 3 : 5;
}

static void json_add_ends(struct str *s, const struct flame *fl)
{
	if (!fl->differs)
		return;
	str_puts(s, ",\"ends\":[");
	json_add_name(s, fl->ends[0]);
	str_putc(s, ',');
	json_add_name(s, fl->ends[1]);
	str_putc(s, ']');
}

/* Returns the data of the folded frames, without the members that place the picture. */
static char *flame_make_json(const struct flame *fl)
{
	struct flame_json j = {.fl = fl};
	struct numbers *const lists[] = {&j.labels, &j.colors, &j.tests};
	const char *const names[] = {"labels", "colors", "tests"};
	double total = fl->frames[0].width;

	j.scale = total > 0 ? pow(10, 7 - floor(log10(total))) : 1;
	str_printf(&j.out, "\"scale\":%.0f,\"digits\":%d,\"stride\":%d,\"unit\":", j.scale,
		   flame_digits(fl), fl->differs ? 7 : 3);
	json_add(&j.out, fl->unit);
	json_add_ends(&j.out, fl);
	str_puts(&j.out, ",\n\"frames\":[");
	for (size_t i = 0; i < fl->nframes; i++)
		json_add_frame(&j, &fl->frames[i]);
	str_putc(&j.out, ']');
	for (size_t i = 0; i < array_size(lists); i++) {
		str_printf(&j.out, ",\n\"%s\":[%s]", names[i],
			   lists[i]->json.len ? lists[i]->json.buf : "");
		intern_free(&lists[i]->ids);
		str_free(&lists[i]->json);
	}
	return str_take(&j.out);
}

/* Returns the width of the widest frame, share of the root, that is one too many. */
static double flame_least(const struct flame *fl)
{
	autofree double *widths = xcalloc(fl->nframes + 1, sizeof(*widths));

	for (size_t i = 0; i < fl->nframes; i++)
		widths[i] = fl->frames[i].width / fl->frames[0].width;
	qsort(widths, fl->nframes, sizeof(*widths), stats_by_value);
	return fl->nframes > FRAMES_MOST ? fmax(NARROW, widths[fl->nframes - FRAMES_MOST]) : NARROW;
}

/* --- the picture --- */

struct picture {
	const struct flame *fl;
	struct str *s;
	double left, top, width; /* the place of the frames */
};

static void svg_add_text(struct str *s, const struct page_text *t)
{
	static const char *const anchors[] = {"start", "middle", "end"};

	str_printf(
		s,
		"<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\"%s text-anchor=\"%s\" fill=\"#%06x\">",
		t->x, t->y + t->size * 0.36, t->size, t->bold ? " font-weight=\"bold\"" : "",
		anchors[t->align], t->rgb);
	str_put_xml(s, t->text);
	str_puts(s, "</text>\n");
}

static void svg_add_rect(struct str *s, double x, double y, double width, double height,
			 uint32_t rgb)
{
	str_printf(s, "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" fill=\"#%06x\"/>",
		   x, y, width, height, rgb);
}

static void svg_add_frame_name(const struct picture *p, const struct flame_frame *f, double x,
			       double y, size_t columns)
{
	const struct flame_label *l = &p->fl->labels[f->label];
	bool marked = label_is_marked(l), cut;
	autofree char *text =
		xasprintf("%s%s%s%s", marked ? "[" : "", marked ? context_names[l->context] : "",
			  marked ? "] " : "", l->name);

	text[name_fit(text, columns, &cut)] = 0;
	str_printf(p->s, "<text x=\"%.1f\" y=\"%.0f\"%s>", x + 3, y + BASE_LINE,
		   palette_dark(f->rgb) ? " fill=\"#fff\"" : "");
	str_put_xml(p->s, text);
	str_puts(p->s, cut ? "…</text>" : "</text>");
}

/* Draws what the script draws before anyone zooms. */
static void svg_add_frame(const struct picture *p, const struct flame_frame *f)
{
	const struct flame_label *l = &p->fl->labels[f->label];
	double per = p->width / p->fl->frames[0].width, width = f->width * per;
	double x = p->left + f->x * per;
	double y = p->top + ROW * (p->fl->icicle ? f->depth : p->fl->depth - f->depth);

	if (width < 1 || f->depth > p->fl->depth)
		return;
	svg_add_rect(p->s, x, y, width - 0.5, ROW - 1, f->rgb);
	if (label_is_marked(l) && width >= MARKED)
		svg_add_rect(p->s, x, p->fl->icicle ? y : y + ROW - 1 - MARK, width, MARK,
			     palette_part(context_names[l->context]));
	if (width >= 6 + 3 * COLUMN)
		svg_add_frame_name(p, f, x, y, (size_t)((width - 6) / COLUMN));
	str_putc(p->s, '\n');
}

/* Adds the swatches of the contexts, as they mark frames, and of the colours. Returns the end. */
static double svg_add_legend(struct str *s, const struct figure *f, double y)
{
	const struct figure_marks *const marks[] = {&f->parts, &f->groups};
	const double left = 40, right = PAGE_W - 40;
	double x = left, width;
	size_t k;

	for (k = 0; k < array_size(marks); k++)
		for (int i = 0; i < marks[k]->n; i++) {
			const struct figure_mark *m = &marks[k]->mark[i];

			width = 24 + label_width(m->label, LEGEND_SIZE, false);
			if (x + width > right) {
				x = left;
				y += 22;
			}
			svg_add_rect(s, x, y + (k ? 10 : 2), 16, k ? MARK : 14, m->rgb);
			svg_add_text(s, &(struct page_text){.x = x + 21,
							    .y = y + 9,
							    .size = LEGEND_SIZE,
							    .rgb = INK,
							    .text = m->label});
			x += width + 18;
		}
	return y + (marks[0]->n + marks[1]->n ? 24 : 0);
}

static void svg_add_head(struct str *s, const struct figure *f, double height)
{
	str_printf(
		s,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n<title>",
		PAGE_W, height, PAGE_W, height);
	str_put_xml(s, f->title);
	str_puts(s, "</title>\n<desc>");
	str_put_xml(s, f->subtitle);
	str_printf(s, "</desc>\n<style><![CDATA[\n%s]]></style>\n", flame_style);
	str_printf(s, "<rect width=\"%d\" height=\"%.0f\" fill=\"#ffffff\"/>\n", PAGE_W, height);
}

static void svg_add_data(const struct picture *p, const char *json)
{
	str_printf(
		p->s,
		"<script type=\"application/json\">{\"left\":%.0f,\"width\":%.0f,\"top\":%.0f,\"controls\":%.0f,\"row\":%d,\"base\":%d,\"column\":%.2f,\"mark\":%d,\"depth\":%u,\"icicle\":%s,\n%s}</script>\n",
		p->left, p->width, p->top, p->top - CONTROLS + 16, ROW, BASE_LINE, COLUMN, MARKED,
		p->fl->depth, p->fl->icicle ? "true" : "false", json);
}

static void flame_make_svg(const struct flame *fl, const struct figure *f, const char *json,
			   struct str *s)
{
	freed(str_free) struct str legend = {0};
	freed(page_free) struct page page;
	struct picture p = {fl, s, 0, 0, 0};
	double height, rows = ROW * (fl->depth + 1.0);

	page_make_texts(&page, f, 0);
	p.left = page.left;
	p.width = page.right - page.left;
	p.top = svg_add_legend(&legend, f, page.top + 6) + CONTROLS;
	height = ceil(p.top + rows + 10 - page.bottom);
	page_free(&page);
	page_make_texts(&page, f, height);
	svg_add_head(s, f, height);
	for (int t = 0; t < page.ntexts; t++)
		svg_add_text(s, &page.texts[t]);
	str_printf(s, "%s\n<g class=\"frames\">\n", legend.len ? legend.buf : "");
	for (size_t i = 0; i < fl->nframes; i++)
		svg_add_frame(&p, &fl->frames[i]);
	str_puts(s, "</g>\n");
	svg_add_data(&p, json);
	str_printf(s, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flame_script);
}

int flame_write(struct flame *fl, struct figure *f, const char *dir, struct error *err)
{
	autofree char *path = xasprintf("%s/%s.svg", dir, f->name), *json = NULL;
	struct flame_folded folded;
	freed(str_free) struct str s = {0};

	folded = flame_fold(fl, flame_least(fl));
	json = flame_make_json(fl);
	if (folded.frames)
		f->foot = figure_text(
			f,
			"%zu frames narrower than %.2g %% are drawn together, in %zu places: %.1f %% of the whole · %s",
			folded.frames, 100 * folded.least, folded.in,
			100 * folded.width / fl->frames[0].width, f->foot);
	flame_make_svg(fl, f, json, &s);
	return file_write(path, s.buf, s.len, err);
}
