// SPDX-License-Identifier: GPL-2.0-only
/* Names and colours in pictures: cleaned, quoted, cut, wrapped, and told apart. */
#include "plot/label.h"
#include "plot/palette.h"
#include "tests/unit/unit.h"

TEST(label_clean)
{
	freed(arena_free) struct arena a = {0};

	assert_string_equal(label_clean(&a, "a\nb\x01\tc\x7f"), "a b\\x01 c\\x7f");
	assert_string_equal(label_clean(&a, "\xff\xc3(\xc0\x80\xed\xa0\x80"),
			    "\\xff\\xc3(\\xc0\\x80\\xed\\xa0\\x80");
	assert_string_equal(label_clean(&a, "T²/C → µs 漢"), "T²/C → µs 漢");
	assert_string_equal(label_clean(&a, "x\xe2\x80\xaey"),
			    "x\\xe2\\x80\\xaey"); /* turns the direction */
	assert_string_equal(label_clean(&a, "cut\xe2\x80"), "cut\\xe2\\x80");
	assert_string_equal(label_clean(&a, NULL), "");
}

TEST(label_quote)
{
	freed(str_free) struct str s = {0};

	label_quote(&s, "it's `id` \"$(id)\" \\n %s {a}_b^c");
	assert_string_equal(s.buf,
			    "\"it\\047s \\140id\\140 \\042\\044(id)\\042 \\134n %s {a}_b^c\"");
	str_reset(&s);
	label_quote(&s, "#18 $9'x7");
	assert_string_equal(s.buf, "\"\\043\\0618 \\0449\\047x7\"");
	str_reset(&s);
	label_quote_enhanced(&s, "{/=80 @x}_^&~\\'");
	assert_string_equal(
		s.buf, "\"\\134{/=80 \\134\\100x\\134}\\134_\\134^\\134&\\134~\\134\\134\\047\"");
	str_reset(&s);
	str_put_xml(&s, "<a href=\"x\">&</a>");
	assert_string_equal(s.buf, "&lt;a href=\"x\"&gt;&amp;&lt;/a&gt;");
}

TEST(label_fit)
{
	freed(arena_free) struct arena a = {0};
	const char *name = "mlx5e_skb_from_cqe_mpwrq_nonlinear";
	char *cut = label_fit(&a, name, 20, 200);

	assert_true(label_width(cut, 20, false) <= 200);
	assert_non_null(strstr(cut, "…"));
	assert_int_equal(strncmp(cut, name, 4), 0);
	assert_true(str_ends(cut, "near"));
	assert_string_equal(label_fit(&a, "short", 20, 200), "short");
	assert_true(label_width(label_fit(&a, "漢字漢字漢字漢字漢字", 20, 80), 20, false) <= 80);
}

TEST(label_wrap)
{
	struct label_shape shape = {20, 130, 2, false, LABEL_BREAKS_NAMES, true};
	freed(arena_free) struct arena a = {0};
	char *lines[2];

	assert_true(label_wraps("msg-zerocopy", &shape));
	assert_int_equal(label_wrap(&a, "uring-send-zerocopy", &shape, lines), 2);
	assert_string_equal(lines[0], "uring-send-");
	assert_string_equal(lines[1], "zerocopy");
	assert_false(label_wraps("averyveryveryverylongword", &shape));
	assert_int_equal(label_wrap(&a, "averyveryveryverylongwordandthenmore", &shape, lines), 2);
	assert_true(label_width(lines[0], 20, false) <= 130);
	assert_true(label_width(lines[1], 20, false) <= 130);
}

TEST(palette)
{
	for (int i = 0; i < 24; i++)
		for (int k = 0; k < i; k++)
			assert_int_not_equal(palette_variant(i), palette_variant(k));
	assert_int_equal(palette_part("data copy"), palette_part("Data Copy"));
	assert_int_equal(palette_part("a new one"), palette_part("a new one"));
	assert_true(palette_order("data copy") < palette_order("TCP/IP"));
	assert_true(palette_order("a new one") < palette_order("other"));
	assert_true(palette_order("a new one") > palette_order("user"));
	assert_true(palette_dark(0x332288));
	assert_false(palette_dark(0xddcc77));
}

static const double sights[][3][3] = {
	{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	{{0.152286, 1.052583, -0.204868},
	 {0.114503, 0.786281, 0.099216},
	 {-0.003882, -0.048116, 1.051998}},
	{{0.367322, 0.860646, -0.227968},
	 {0.280085, 0.672501, 0.047413},
	 {-0.011820, 0.042940, 0.968881}},
};

static double linear(uint32_t rgb, int shift)
{
	double c = (rgb >> shift & 255) / 255.0;

	return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double lab_part(double t)
{
	return t > 0.008856 ? cbrt(t) : 7.787 * t + 16 / 116.0;
}

static void to_lab(uint32_t rgb, const double sight[3][3], double lab[3])
{
	static const double xyz[3][3] = {
		{0.4339, 0.3762, 0.1899}, {0.2126, 0.7152, 0.0722}, {0.0177, 0.1095, 0.8728}};
	double in[3], seen[3], t[3] = {0};

	for (int i = 0; i < 3; i++)
		in[i] = linear(rgb, 16 - 8 * i);
	for (int i = 0; i < 3; i++) {
		seen[i] = 0;
		for (int k = 0; k < 3; k++)
			seen[i] += sight[i][k] * in[k];
		seen[i] = fmin(1, fmax(0, seen[i]));
	}
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			t[i] += xyz[i][k] * seen[k];
	lab[0] = 116 * lab_part(t[1]) - 16;
	lab[1] = 500 * (lab_part(t[0]) - lab_part(t[1]));
	lab[2] = 200 * (lab_part(t[1]) - lab_part(t[2]));
}

/* The least distance of two colours to anyone, where about 2 is just seen side by side. */
static double apart(uint32_t a, uint32_t b)
{
	double least = 1e9, x[3], y[3];

	for (size_t i = 0; i < array_size(sights); i++) {
		to_lab(a, sights[i], x);
		to_lab(b, sights[i], y);
		least = fmin(least,
			     sqrt(pow(x[0] - y[0], 2) + pow(x[1] - y[1], 2) + pow(x[2] - y[2], 2)));
	}
	return least;
}

TEST(palette_apart)
{
	static const char *const parts[] = {
		"data copy",	"page mapping", "zero copy", "TCP/IP",	   "netdevice",
		"skb",		"memory",	"lock",	     "scheduling", "entry",
		"syscall",	"io_uring",	"interrupt", "user",	   "libraries",
		"page pinning", "splice",	"the rest",  "page_pool"};

	for (size_t i = 0; i < 8; i++)
		for (size_t k = 0; k < i; k++)
			if (apart(palette_variant((int)i), palette_variant((int)k)) < 11)
				fail_msg("variants %zu and %zu", k, i);
	for (size_t i = 0; i < array_size(parts); i++)
		for (size_t k = 0; k < i; k++)
			if (apart(palette_part(parts[i]), palette_part(parts[k])) < 11)
				fail_msg("%s and %s", parts[k], parts[i]);
	for (size_t i = 0; i < array_size(parts); i++) /* pale is neither better nor worse */
		if (apart(palette_part("page_pool"), palette_pale(palette_part(parts[i]))) < 11)
			fail_msg("page_pool and a pale %s", parts[i]);
}
