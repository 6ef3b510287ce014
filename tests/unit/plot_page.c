// SPDX-License-Identifier: GPL-2.0-only
/* Pictures of nasty figures: every text lies on the page, none lies on another, bars can be seen.
 */
#include "plot/label.h"
#include "plot/figure.h"
#include "tests/unit/unit.h"

struct box {
	double left, top, right, bottom;
};

/* Returns the place of a text. A line of small letters is lower than its font. */
static struct box text_box(const struct page_text *t)
{
	double w = label_width(t->text, t->size, t->bold), h = t->size * 0.95;
	double left = t->align == ALIGN_LEFT	? t->x
		      : t->align == ALIGN_RIGHT ? t->x - w
						: t->x - w / 2;

	if (t->turn) /* upright, read from below; its end is at y */
		return (struct box){t->x - h / 2, t->y, t->x + h / 2, t->y + w};
	return (struct box){left, t->y - h / 2, left + w, t->y + h / 2};
}

static void assert_texts_apart(const struct page *page)
{
	for (int i = 0; i < page->ntexts; i++) {
		struct box a = text_box(&page->texts[i]);

		if (a.left < 0 || a.right > page->width || a.top < 0 || a.bottom > page->height)
			fail_msg("'%s' leaves the page: %g to %g, %g to %g", page->texts[i].text,
				 a.left, a.right, a.top, a.bottom);
		for (int k = 0; k < i; k++) {
			struct box b = text_box(&page->texts[k]);

			if (*page->texts[i].text && *page->texts[k].text && a.left < b.right &&
			    b.left < a.right && a.top < b.bottom && b.top < a.bottom)
				fail_msg("'%s' lies on '%s'", page->texts[i].text,
					 page->texts[k].text);
		}
	}
}

static const char *const names[] = {
	"v%d",
	"a-variant-with-a-name-of-eighty-characters-that-no-picture-has-any-room-for-number-%02d",
	"e\xcc\x81te\xcc\x81 %d \xe5\x8d\x97\xe7\x8e\x8b\xe3\x82\xbc\xe3\x83\xad\xe3\x82\xb3\xe3\x83\x94\xe3\x83\xbc \xf0\x9f\x9a\x80",
	"zero-copy+size%dk+mtu9000+gro-off",
};

enum kind { UPRIGHT, STACKED, LYING, KINDS };

/* The i-th value: zeros, one decade, or nine. */
static double nasty_value(int range, int i)
{
	return range == 0 ? 0 : range == 1 ? 10 + i % 90 : pow(10, i % 9 - 2);
}

static void nasty_fill(struct figure *f, enum kind kind, int bars, int groups, int name, int range)
{
	struct estimate e;
	char text[256];
	int i = 0;

	figure_init(f, "nasty");
	f->lying = kind == LYING;
	f->title = figure_text(f, "A title of one line");
	f->subtitle = figure_text(f, "What is drawn; higher is better");
	figure_doubt(f, "a, b, c: every byte was copied on the receiver");
	figure_remark(f, "d: 99 %% zero copy");
	f->foot = figure_text(f, "n = 6 measured runs per variant, whiskers: 95 %% interval");
	f->axis = figure_text(f, "ns per KiB");
	for (int g = 0; g < groups; g++) {
		snprintf(text, sizeof(text),
			 kind == LYING ? "a_function_of_the_kernel_%d" : "side%d", g);
		figure_group(f, groups == 1 ? "" : text);
	}
	for (int b = 0; b < bars; b++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), names[name], b);
#pragma GCC diagnostic pop
		figure_bar(f, text, 0x767676);
	}
	for (int p = 0; p < (kind == STACKED ? 8 : 0); p++) {
		snprintf(text, sizeof(text), "component %d", p);
		figure_part(f, text, 0x332288);
	}
	for (int g = 0; g < groups; g++)
		for (int b = 0; b < bars; b++, i++) {
			e = (struct estimate){.value = nasty_value(range, i), .lo = NAN, .hi = NAN};
			for (int p = 0; p < f->parts.n; p++)
				figure_put(f, g, b, p,
					   (struct estimate){e.value / f->parts.n, .lo = NAN,
							     .hi = NAN});
			if (i % 5 != 4) /* some are missing */
				figure_put(f, g, b, FIGURE_WHOLE, e);
		}
	figure_choose_rows(f);
}

static void check_nasty_page(enum kind kind, int bars, int groups, int name, int range)
{
	freed(figure_free) struct figure f;
	struct page page;

	nasty_fill(&f, kind, bars, groups, name, range);
	page_make(&page, &f);
	assert_texts_apart(&page);
	assert_true(page.bottom - page.top > 150);
	assert_true(!f.rows || page.tick <= page.reach);
	page_free(&page);
}

TEST(nasty_pages)
{
	static const int bars[] = {1, 2, 3, 6, 7, 12, 50}, groups[] = {1, 2, 4, 8};
	enum { NAMES = array_size(names), BARS = array_size(bars), GROUPS = array_size(groups) };
	enum { RANGES = 3, CASES = KINDS * BARS * GROUPS * NAMES * RANGES };

	for (int i = 0; i < CASES; i++) {
		enum kind kind = (enum kind)(i / (BARS * GROUPS * NAMES * RANGES));
		int b = bars[i / (GROUPS * NAMES * RANGES) % BARS];
		int g = groups[i / (NAMES * RANGES) % GROUPS];

		/* sides are few, and charts choose no more groups than have room */
		if (kind == LYING ? b <= FIGURE_BARS && b * g > 24 : g > 4)
			continue;
		check_nasty_page(kind, b, g, i / RANGES % NAMES, i % RANGES);
	}
}

static double reach_of_step(double from, struct estimate e)
{
	freed(figure_free) struct figure f;
	double reach;
	bool cut;

	figure_init(&f, "steps");
	figure_group(&f, "");
	figure_bar(&f, "a", 0);
	figure_put_step(&f, 0, 0, from, e);
	reach = page_reach(&f, &cut);
	assert_false(cut);
	return reach;
}

TEST(axis_reaches_the_highest_end_of_a_bar_or_whisker)
{
	assert_float_equal(reach_of_step(0, (struct estimate){10, .lo = 8, .hi = 14}), 14, 0);
	assert_float_equal(reach_of_step(100, (struct estimate){20, .lo = 10, .hi = 30}), 130, 0);
	assert_float_equal(reach_of_step(100, (struct estimate){20, .lo = NAN, .hi = NAN}), 120, 0);
	/* a step down begins at its highest point */
	assert_float_equal(reach_of_step(100, (struct estimate){-40, .lo = -50, .hi = -30}), 100,
			   0);
	assert_float_equal(reach_of_step(100, (struct estimate){-40, .lo = -90, .hi = 10}), 110, 0);
}
