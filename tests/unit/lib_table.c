// SPDX-License-Identifier: GPL-2.0-only
/* Checks text on a narrow page: what is shortened, moved and left out. Figures stay whole. */
#include "lib/str.h"
#include "lib/table.h"
#include "tests/unit/unit.h"

static const struct column columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"symbol", .type = V_STR},
	{"dso", .type = V_STR},
	{"samples", .type = V_INT},
	{"self_ns", "ns", V_REAL, .digits = 1, .spread = SPREAD_HALF},
	{"total_ns", "ns", V_REAL, .digits = 1},
};

static const char *const variants[] = {"baseline", "mmap"};
static const char *const symbols[] = {
	"std::vector<\xc3\xa4ther::frame, std::allocator<\xc3\xa4ther::frame>>::push_back",
	"_copy_to_iter", "tcp_recvmsg"};

static const struct note_kind said = {"said", SEVERITY_INFO, NULL, "note %s"};
static const struct note_kind long_note = {
	"long", SEVERITY_INFO, NULL,
	"a note that is quite long, so that it does not fit into a line of forty"};

#define ROW(t, ...)                                                 \
	memcpy(table_row(t), ((const struct value[]){__VA_ARGS__}), \
	       sizeof((const struct value[]){__VA_ARGS__}))

static void fill(struct table *t)
{
	table_init(t, "functions", columns, 7);
	for (size_t v = 0; v < 2; v++) {
		for (size_t s = 0; s < 3; s++) {
			ROW(t, value_str(t, variants[v]), value_str(t, "receiver"),
			    value_str(t, symbols[s]), value_str(t, "[kernel.kallsyms]"),
			    value_int((int64_t)(1000 * v + s)),
			    value_half(t, 10.5 * (double)(s + 1), 0.25), value_real(1234567.25));
		}
	}
	notes_add(&t->notes, &long_note);
}

static char *written(const struct table *t, enum table_format format)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(table_write(t, format, 0, f), 0);
	fclose(f);
	return text;
}

static char *text_of(const struct table *t, int width)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(table_write(t, FORMAT_TEXT, width, f), 0);
	fclose(f);
	return text;
}

/* Returns the characters, not bytes, of the longest line. */
static int longest_line(const char *text)
{
	int most = 0, n = 0;

	for (; *text; text++) {
		n = *text == '\n' ? 0 : n + (((unsigned char)*text & 0xc0) != 0x80);
		most = n > most ? n : most;
	}
	return most;
}

static void expect(const struct table *t, int width, const char *expected)
{
	autofree char *text = text_of(t, width);

	assert_string_equal(text, expected);
}

TEST(table_that_fits_is_unchanged)
{
	freed(table_free) struct table t;
	autofree char *text;

	fill(&t);
	text = text_of(&t, 0);
	assert_non_null(strstr(text, symbols[0]));
	assert_non_null(strstr(text,
			       "\n# a note that is quite long, so that it does not fit into a "
			       "line of forty\n"));
	expect(&t, 300, text); /* text that fits is unchanged */
}

TEST(long_names_are_shortened)
{
	freed(table_free) struct table t;

	fill(&t);
	expect(&t, 80,
	       "side receiver, dso [kernel.kallsyms]\n"
	       "variant   symbol                                   samples     self_ns  total_ns\n"
	       "baseline  std::vector<\xc3\xa4ther::frame,..>::push_back        0  10.5 +-0.2   "
	       "1234567\n"
	       "baseline  _copy_to_iter                                  1  21.0 +-0.2   1234567\n"
	       "baseline  tcp_recvmsg                                    2  31.5 +-0.2   1234567\n"
	       "mmap      std::vector<\xc3\xa4ther::frame,..>::push_back     1000  10.5 +-0.2   "
	       "1234567\n"
	       "mmap      _copy_to_iter                               1001  21.0 +-0.2   1234567\n"
	       "mmap      tcp_recvmsg                                 1002  31.5 +-0.2   1234567\n"
	       "# a note that is quite long, so that it does not fit into a line of forty\n");
}

TEST(repeated_cells_become_section_heads)
{
	freed(table_free) struct table t;

	fill(&t);
	t.least = "samples total_ns";
	expect(&t, 54,
	       "side receiver, dso [kernel.kallsyms]\n"
	       "variant baseline\n"
	       "symbol                   samples     self_ns  total_ns\n"
	       "std::vector<\xc3\xa4t..sh_back        0  10.5 +-0.2   1234567\n"
	       "_copy_to_iter                  1  21.0 +-0.2   1234567\n"
	       "tcp_recvmsg                    2  31.5 +-0.2   1234567\n"
	       "\n"
	       "variant mmap\n"
	       "symbol                   samples     self_ns  total_ns\n"
	       "std::vector<\xc3\xa4t..sh_back     1000  10.5 +-0.2   1234567\n"
	       "_copy_to_iter               1001  21.0 +-0.2   1234567\n"
	       "tcp_recvmsg                 1002  31.5 +-0.2   1234567\n"
	       "# a note that is quite long, so that it does not fit\n"
	       "#   into a line of forty\n");
}

TEST(less_important_columns_are_left_out)
{
	freed(table_free) struct table t;
	autofree char *text;

	fill(&t);
	t.least = "samples total_ns";
	text = text_of(&t, 45);
	assert_non_null(strstr(text, "\nsymbol"));
	assert_null(strstr(text, "samples  "));
	assert_non_null(strstr(text, "left out at"));
	assert_non_null(strstr(text, "samples")); /* only the list of columns left out has it */
}

/* A column stays if two rows would have the same name without it. */
TEST(columns_that_tell_rows_apart_stay)
{
	freed(table_free) struct table t;
	autofree char *text;

	fill(&t);
	table_cell(&t, 1, 2)->str = table_cell(&t, 2, 2)->str;
	table_cell(&t, 1, 3)->str = "other.so";
	t.least = "dso samples";
	text = text_of(&t, 60);
	assert_non_null(strstr(text, "other.so"));
	assert_null(strstr(text, "left out at 60 columns: dso"));
}

/*
 * If no column can be left out, the columns go on below. Each block repeats the columns that tell
 * rows apart, the number of a repeat among them, and leaves out rows that have nothing in it.
 */
TEST(table_without_spare_columns_breaks_into_blocks)
{
	static const struct column c[] = {{"variant", .type = V_STR},
					  {"repeat", .type = V_INT},
					  {"start", .unit = "ns", .type = V_INT},
					  {"rate", .type = V_REAL, .digits = 1},
					  {"cpus", .type = V_STR, .shape = STAYS_WHOLE}};
	freed(table_free) struct table t;
	autofree char *text;

	table_init(&t, "runs", c, 5);
	for (int i = 0; i < 4; i++) {
		ROW(&t, value_str(&t, variants[i / 2]), value_int(1 + i % 2),
		    value_int(1000000000 + i), value_real(5.5),
		    value_str(&t, i == 3   ? "1: 68 %, 0: 32 %"
				  : i == 1 ? NULL
					   : "0: 95 %, 1: 5 %"));
	}
	expect(&t, 36,
	       "variant   repeat       start  rate\n"
	       "baseline       1  1000000000   5.5\n"
	       "baseline       2  1000000001   5.5\n"
	       "mmap           1  1000000002   5.5\n"
	       "mmap           2  1000000003   5.5\n"
	       "\n"
	       "variant   repeat  cpus\n"
	       "baseline       1  0: 95 %, 1: 5 %\n"
	       "mmap           1  0: 95 %, 1: 5 %\n"
	       "mmap           2  1: 68 %, 0: 32 %\n");
	text = text_of(&t, 26); /* no room beside the keys for a column that must stay whole */
	assert_non_null(strstr(text, "variant baseline, repeat 1\n     start  rate\n"));
	assert_non_null(strstr(text, "1000000001   5.5\n\nvariant mmap"));
	assert_non_null(strstr(text, "\n\ncpus\n1: 68 %, 0: 32 %\n"));
}

/* At any width the lines fit, and every figure is present and whole. */
TEST(lines_fit_and_figures_stay_whole_at_any_width)
{
	freed(table_free) struct table t;
	char *text, *at;
	int figures;

	fill(&t);
	for (int width = 40; width < 200; width++) {
		text = text_of(&t, width);
		assert_in_range(longest_line(text), 20, width);
		for (at = text, figures = 0; (at = strstr(at, "1234567")); at++)
			figures++;
		assert_int_equal(figures, 6);
		for (at = text, figures = 0; (at = strstr(at, "21.0 +-0.2")); at++)
			figures++;
		assert_int_equal(figures, 2);
		free(text);
	}
}

TEST(names_of_4_kib_are_shortened_to_the_page)
{
	char name[4097], *text;
	freed(table_free) struct table t;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fill(&t);
	for (int i = 0; i < 4; i++)
		t.cells[i] = value_str(&t, name);
	for (int width = 60; width <= 120; width += 10) {
		text = text_of(&t, width);
		assert_in_range(longest_line(text), 1, width);
		assert_non_null(strstr(text, "nn..nn"));
		free(text);
	}
	text = text_of(&t, 0);
	assert_non_null(strstr(text, name));
	free(text);
}

struct all_members {
	const char *text;
	int64_t count;
	double maybe, whole;
	struct estimate of_runs;
	struct half_estimate half;
};

static const struct column member_columns[] = {
	{MEMBER(struct all_members, text), .type = V_STR},
	{MEMBER(struct all_members, count), .type = V_INT},
	{MEMBER(struct all_members, maybe), .type = V_REAL},
	{MEMBER(struct all_members, whole), .type = V_INT},
	{MEMBER(struct all_members, of_runs), .type = V_REAL, .spread = SPREAD_RANGE},
	{MEMBER(struct all_members, half), .type = V_REAL, .spread = SPREAD_HALF},
	{"other", .type = V_REAL},
};

TEST(rows_are_made_from_structs)
{
	char name[] = "name";
	struct all_members all = {name,	 7, INFINITY, 3, {.value = 2, .lo = 1, .hi = 3, .n = 6},
				  {5, 1}};
	const struct all_members *rows;
	struct table t;

	table_init(&t, "t", member_columns, (int)array_size(member_columns));
	table_add(&t, struct all_members, &all);
	name[0] = 'g';
	all = (struct all_members){NULL,    0, 1, NAN, {.value = 2, .lo = 1, .hi = 3, .n = 1},
				   {5, NAN}};
	table_set(&t, table_add(&t, struct all_members, &all), "other", value_real(4));
	rows = table_structs(&t, struct all_members);
	assert_string_equal(rows[0].text, "name"); /* the table's own copy */
	assert_string_equal(table_text(&t, 0, "text"), "name");
	assert_true(table_cell(&t, 0, 1)->integer == 7 && table_cell(&t, 0, 3)->integer == 3);
	assert_true(isnan(rows[0].maybe) && isnan(table_real(&t, 0, "maybe")));
	assert_true(table_interval(&t, 0, "of_runs").low == 1 && rows[0].of_runs.hi == 3);
	assert_true(table_interval(&t, 0, "half").half == 1);
	assert_string_equal(rows[1].text, "");
	assert_int_equal(table_cell(&t, 1, 0)->type, V_NONE);
	assert_int_equal(table_cell(&t, 1, 3)->type, V_NONE);
	assert_true(isnan(rows[1].of_runs.lo)); /* a single run has no interval */
	assert_null(table_cell(&t, 1, 4)->interval);
	assert_null(table_cell(&t, 1, 5)->interval);
	table_move_row(&t, 0, 1);
	assert_true(table_real(&t, 0, "other") == 4 &&
		    table_structs(&t, struct all_members)->maybe == 1);
	table_free(&t);
}

TEST(equal_long_strings_share_one_copy)
{
	char name[201];
	struct value a, b, c;
	freed(table_free) struct table t;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	fill(&t);
	a = value_str(&t, name);
	b = value_str(&t, name);
	name[0] = 'm';
	c = value_str(&t, name);
	assert_ptr_equal(a.str, b.str);
	assert_int_equal(*a.str, 'n');
	assert_string_equal(c.str, name);
}

TEST(sentences_wrap)
{
	static const struct column c[] = {{"run", .type = V_STR}, {"why", .type = V_STR}};
	freed(table_free) struct table t;

	table_init(&t, "runs", c, 2);
	ROW(&t, value_str(&t, "mmap"),
	    value_str(&t, "the receiver ended before the window did; its log says why"));
	expect(&t, 40,
	       "run   why\n"
	       "mmap  the receiver ended before the\n"
	       "      window did; its log says why\n");
	t.rows = 0;
	expect(&t, 20, "run  why\n");
}

/* A whole number has whole bounds. A bound may be far from the value. */
TEST(interval_of_whole_numbers_is_whole)
{
	static const struct column c[] = {
		{"delta_ns", .type = V_INT, .spread = SPREAD_HALF, .stem = "delta"},
		{"total", .type = V_INT},
		{"delta_hi", .type = V_INT, .part_of = "delta_ns", .part = PART_HIGH}};
	freed(table_free) struct table t;
	autofree char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	table_init(&t, "t", c, 3);
	ROW(&t, value_with(&t, value_int(10), (struct interval){7, 12, 2.5}), value_int(1));
	table_row(&t)[0] = value_int(4);
	table_write(&t, FORMAT_TSV, 0, f);
	table_write(&t, FORMAT_TEXT, 0, f);
	fclose(f);
	assert_string_equal(text,
			    "delta_ns\tdelta_ci\ttotal\tdelta_hi\n10\t2.5\t1\t12\n4\t\t\t\n"
			    "    delta_ns  total\n10 [7 .. 12]      1\n           4      -\n");
}

/* perf's clock starts with the host, so times range from a second to a year. */
TEST(times_have_nanoseconds)
{
	static const struct column c[] = {{"at_s", "s", V_REAL, .digits = 6},
					  {"ns", "ns", V_REAL, .digits = 1}};
	static const double at[] = {0.5, 945.007948946, 4135.343873001, 864000.123456789};
	freed(table_free) struct table t;
	autofree char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	table_init(&t, "sched", c, 2);
	for (size_t i = 0; i < 4; i++) {
		ROW(&t, value_real(at[i]), value_real(200.0 / 3));
	}
	table_write(&t, FORMAT_TSV, 0, f);
	fclose(f);
	assert_string_equal(text, "at_s\tns\n0.5\t66.66666667\n945.007948946\t66.66666667\n"
				  "4135.343873001\t66.66666667\n864000.123456789\t66.66666667\n");
}

/* Text of an untrusted capture: a colour, C1, DEL, a direction override, invalid UTF-8. */
static const char hostile[] = "\033[31mred \xc2\x9b \x7f \xe2\x80\xae \xff\xc3 end \xc3\xa9";

static char *write_hostile(enum table_format format)
{
	static struct column c[] = {{hostile, .type = V_STR}, {"n", .type = V_INT}};
	freed(table_free) struct table t;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	table_init(&t, "t", c, 2);
	table_title(&t, "title %s\nzcost: forged", hostile);
	notes_add(&t.notes, &said, hostile);
	notes_set_side(&t.notes, hostile, NULL);
	ROW(&t, value_str(&t, hostile), value_int(1));
	ROW(&t, value_str(&t, "a\tb\nc\r,\""), value_int(2));
	table_detail(&t, "detail", c, 1);
	table_row(t.detail)[0] = value_str(t.detail, hostile);
	assert_int_equal(table_write(&t, format, 0, f), 0);
	fclose(f);
	return text;
}

static void assert_harmless(const char *text)
{
	uint32_t code;
	int n;

	assert_non_null(strstr(text, "x1b[31mred"));
	assert_non_null(strstr(text, " end \xc3\xa9"));
	for (; *text; text += n) {
		n = utf8_decode(text, &code);
		assert_true(n > 0);
		assert_true(code == '\t' || code == '\n' || code >= 0x20);
		assert_false(code >= 0x7f && code < 0xa0);
		assert_int_not_equal(code, 0x202e);
	}
}

TEST(hostile_text_is_printable_in_every_format)
{
	for (enum table_format format = FORMAT_TEXT; format <= FORMAT_COMMIT; format++) {
		autofree char *text = write_hostile(format);

		if (format == FORMAT_COMMIT)
			assert_null(strchr(text, '\033'));
		else
			assert_harmless(text);
		assert_null(strstr(text, "\nzcost: forged"));
	}
}

TEST(line_ends_in_cells_are_escaped)
{
	autofree char *tsv = write_hostile(FORMAT_TSV), *csv = write_hostile(FORMAT_CSV),
		      *json = write_hostile(FORMAT_JSON);

	assert_non_null(strstr(tsv, "\na b c\\x0d,\"\t2\n"));
	assert_non_null(strstr(csv, "\n\"a\tb\nc\\x0d,\"\"\",2\n"));
	assert_non_null(strstr(json, "\"a\\tb\\nc\\\\x0d,\\\"\""));
}

/* A text that a spreadsheet would run gets an apostrophe in csv alone. Numbers stay numbers. */
TEST(formulas_are_texts_in_csv)
{
	static const struct column c[] = {{"=name", NULL, V_STR, .digits = 0},
					  {"x", NULL, V_REAL, .digits = 0}};
	static const char *const names[] = {
		"=1+1",	  "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "a=1",
		"-7.5e3", "=\"a,b\"",		"'=1",	""};
	freed(table_free) struct table t;
	autofree char *csv, *tsv;

	table_init(&t, "t", c, 2);
	each (r, names) {
		ROW(&t, value_str(&t, *r), value_real(-1));
	}
	csv = written(&t, FORMAT_CSV);
	tsv = written(&t, FORMAT_TSV);
	assert_string_equal(csv, "'=name,x\n'=1+1,-1\n'+cmd|' /C calc'!A0,-1\n'-2+3,-1\n"
				 "'@SUM(A1),-1\n'\t=1,-1\na=1,-1\n-7.5e3,-1\n"
				 "\"'=\"\"a,b\"\"\",-1\n'=1,-1\n,-1\n");
	assert_non_null(strstr(tsv, "=name\tx\n=1+1\t-1\n"));
}

/* Names of two captures may be patterns, which would end the bold text. */
TEST(a_title_in_markdown_is_escaped)
{
	freed(table_free) struct table t;
	autofree char *md;

	table_init(&t, "t", columns, 1);
	table_title(&t, "zero-copy+* against <plain_a>|b");
	md = written(&t, FORMAT_MD);
	assert_non_null(strstr(md, "**zero-copy+\\* against \\<plain\\_a>\\|b**\n\n"));
}

/* A text of perf trace has three digits, which stay three. tsv is exact. */
TEST(short_times_in_ms_have_three_significant_digits)
{
	static const struct column c[] = {{"avg_ms", "ms", V_REAL, .digits = 3},
					  {"x", "%", V_REAL, .digits = 3}};
	static const double ms[] = {0.000244, 0.00123456, 0.004, 12.3456, 0};
	freed(table_free) struct table t;
	autofree char *text;

	table_init(&t, "t", c, 2);
	each (r, ms) {
		ROW(&t, value_real(*r), value_real(*r));
	}
	text = text_of(&t, 0);
	assert_string_equal(text, "  avg_ms        x\n"
				  "0.000244  0.00024\n"
				  " 0.00123   0.0012\n"
				  "   0.004    0.004\n"
				  "  12.346   12.346\n"
				  "       0        0\n");
}

TEST(small_numbers_have_two_significant_digits)
{
	static const struct column c[] = {{"base", "1/MiB", V_REAL, .digits = 3},
					  {"new", "1/MiB", V_REAL, .digits = 3},
					  {"ns", "ns", V_REAL, .digits = 1}};
	static const double base[] = {0.00041, 0.0000000004, 0.0672, 0};
	static const double new[] = {0.000029, 0.00094, 0.1, -0.0005};
	freed(table_free) struct table t;

	table_init(&t, "small", c, 3);
	for (size_t i = 0; i < array_size(base); i++) {
		ROW(&t, value_real(base[i]), value_real(new[i]), value_real(new[i]));
	}
	expect(&t, 0,
	       "   base       new   ns\n"
	       "0.00041  0.000029  0.0\n"
	       "  0.000   0.00094  0.0\n"
	       "  0.067     0.100  0.1\n"
	       "      0   -0.0005  0.0\n");
}
