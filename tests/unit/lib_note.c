// SPDX-License-Identifier: GPL-2.0-only
/* Checks notes: their sentences, which notes become one line, and their order. */
#include "lib/note.h"

#include "lib/table.h"
#include "tests/unit/unit.h"

static const struct note_kind covers = {"covers", SEVERITY_WARNING, "cpu",
					"%s covers %.1f %% of %zu CPUs"},
			      lost = {"lost", SEVERITY_LOSSY, NULL,
				      "%d record{|s} {is|are} missing at %#llx"},
			      sum = {"sum", SEVERITY_RESULT, NULL, "sum %g"},
			      basis = {"basis", SEVERITY_METHOD, NULL,
				       "basis %g ns; over %d run{|s}"},
			      slow = {"slow", SEVERITY_WARNING, NULL,
				      "%d run{|s} {was|were} slow; measure {it|them} again"},
			      about = {"about", SEVERITY_INFO, NULL, "about %s"};

static void expect_line(const struct notes *list, size_t place, const char *text)
{
	freed(note_lines_free) struct note_lines lines;
	autofree char *line;

	note_lines_make(&lines, list);
	assert_in_range(place, 0, lines.n - 1);
	line = note_line_text(&lines.line[place]);
	assert_string_equal(line, text);
}

TEST(note_is_a_sentence_with_numbers)
{
	freed(notes_free) struct notes list = {0};

	notes_add(&list, &covers, "cpu", 93.26, (size_t)4);
	notes_add(&list, &lost, -3, 0x5eedULL);
	expect_line(&list, 0, "lossy: -3 records are missing at 0x5eed");
	expect_line(&list, 1, "warning: cpu covers 93.3 % of 4 CPUs");
}

TEST(marked_text_is_of_zcost)
{
	static const struct note_kind kind = {"own", SEVERITY_INFO, NULL, "%5.1f %% of %s at %-s"};

	assert_false(note_text_is_own(&kind, 0));
	assert_false(note_text_is_own(&kind, 1));
	assert_true(note_text_is_own(&kind, 2));
	assert_false(note_text_is_own(&kind, 3));
}

static void add_run(struct notes *list, const char *variant, const char *side, int repeat,
		    double pct)
{
	struct note *n;

	notes_add(list, &covers, "cpu", pct, (size_t)4);
	n = notes_set_side(list, variant, side);
	n->repeat = repeat;
	n->runs = 6;
}

TEST(runs_become_one_line)
{
	freed(notes_free) struct notes list = {0};

	add_run(&list, "mmap", "receiver", 1, 1.26);
	add_run(&list, "mmap", "receiver", 2, 5.3);
	add_run(&list, "mmap", "sender", 2, 2);
	expect_line(
		&list, 0,
		"warning: mmap receiver, mmap sender (2 of 6 runs): cpu covers 1.3 to 5.3 % of 4 "
		"CPUs");
	add_run(&list, "copy", "sender", 2, 3);
	expect_line(&list, 0,
		    "warning: mmap receiver, mmap sender, copy sender (3 of 12 runs): cpu covers "
		    "1.3 to 5.3 % of 4 CPUs");
}

TEST(run_counts_once_for_notes_of_several_tables_and_sides)
{
	freed(notes_free) struct notes list = {0};

	for (int table = 0; table < 3; table++) {
		add_run(&list, "mmap", "receiver", 1, 2);
		add_run(&list, "mmap", "sender", 1, 2);
	}
	expect_line(
		&list, 0,
		"warning: mmap receiver, mmap sender (1 of 6 runs): cpu covers 2.0 % of 4 CPUs");
}

TEST(run_is_named_where_runs_are_not_counted)
{
	freed(notes_free) struct notes list = {0};
	struct note *n;

	notes_add(&list, &about, "cpu1");
	n = notes_set_side(&list, "mmap", "receiver");
	n->pass = "measure";
	n->repeat = 2;
	expect_line(&list, 0, "mmap receiver (measure-02): about cpu1");
	notes_copy(&list, &list.note[0])->repeat = 4;
	expect_line(&list, 0, "mmap receiver (2 runs, first measure-02): about cpu1");
}

TEST(numbers_of_files_stay_apart)
{
	freed(notes_free) struct notes list = {0};

	notes_add(&list, &sum, 2.0);
	notes_set_side(&list, "b.txt", NULL);
	notes_add(&list, &sum, 1.0);
	notes_set_side(&list, "a.txt", NULL);
	notes_add(&list, &sum, 2.0);
	notes_set_side(&list, "c.txt", NULL);
	expect_line(&list, 0, "b.txt, c.txt: sum 2");
	expect_line(&list, 1, "a.txt: sum 1");
}

TEST(missing_number_is_no_zero)
{
	freed(notes_free) struct notes list = {0};

	notes_add(&list, &sum, (double)NAN);
	expect_line(&list, 0, "sum an unknown number");
}

TEST(other_texts_stay_apart)
{
	freed(notes_free) struct notes list = {0};

	notes_add(&list, &about, "cpu1");
	notes_add(&list, &about, "cpu2");
	notes_add(&list, &about, "cpu1");
	expect_line(&list, 0, "about cpu1");
	expect_line(&list, 1, "about cpu2");
}

TEST(many_sides_are_counted)
{
	static const char *const variants[] = {"a", "b", "c", "d", "e"};
	freed(notes_free) struct notes list = {0};

	for (size_t i = 0; i < 5; i++)
		add_run(&list, variants[i], "sender", 0, 1);
	expect_line(&list, 0,
		    "warning: a sender, b sender, c sender and 2 more: cpu covers 1.0 % of 4 CPUs");
}

/* In tsv all results come first, then the worst five of the other notes. */
TEST(tsv_has_all_results_and_the_worst_five_notes)
{
	freed(table_free) struct table t;
	char **texts, name[8];

	table_init(&t, "x", NULL, 0);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		notes_add(&t.notes, &about, name);
	}
	notes_add(&t.notes, &covers, "cpu", 1.0, (size_t)1);
	notes_add(&t.notes, &lost, 1, 2ULL);
	notes_add(&t.notes, &sum, 2.5);
	texts = table_note_texts(&t);
	assert_string_equal(texts[0], "sum 2.5");
	assert_string_equal(texts[1], "lossy: 1 record is missing at 0x2");
	assert_string_equal(texts[2], "warning: cpu covers 1.0 % of 1 CPUs");
	assert_string_equal(texts[3], "about n0");
	assert_string_equal(texts[5], "about n2");
	assert_string_equal(texts[6], "3 more notes; --verbose prints all");
	assert_null(texts[7]);
	table_note_texts_free(&texts);
	t.verbose = true;
	texts = table_note_texts(&t);
	assert_string_equal(texts[8], "about n5");
	assert_null(texts[9]);
	table_note_texts_free(&texts);
}

TEST(advice_follows_the_statement)
{
	freed(note_lines_free) struct note_lines lines;
	freed(notes_free) struct notes list = {0};
	autofree char *brief;

	notes_add(&list, &slow, 1);
	notes_set_side(&list, "mmap", NULL);
	note_lines_make(&lines, &list);
	assert_string_equal(lines.line[0].whose, "mmap");
	assert_string_equal(lines.line[0].text, "mmap: 1 run was slow; measure it again");
	brief = note_line_brief(&lines.line[0]);
	assert_string_equal(brief, "warning: mmap: 1 run was slow");
}

static void expect_brief(const struct table *t, const char *columns, const char *const *expected)
{
	char **texts = table_note_texts_brief(t, columns);
	size_t i;

	for (i = 0; expected[i]; i++)
		assert_string_equal(texts[i], expected[i]);
	assert_null(texts[i]);
	table_note_texts_free(&texts);
}

/* How the figures are made, the worst doubt, and the number of the others. */
TEST(reader_gets_three_lines_beside_results)
{
	freed(table_free) struct table t;

	table_init(&t, "x", NULL, 0);
	expect_brief(&t, "", (const char *const[]){NULL});
	expect_brief(&t, "not measured: y", (const char *const[]){"not measured: y", NULL});
	notes_add(&t.notes, &slow, 2);
	expect_brief(&t, "",
		     (const char *const[]){"warning: 2 runs were slow; measure them again", NULL});
	notes_add(&t.notes, &about, "n0");
	notes_add(&t.notes, &about, "n1");
	expect_brief(&t, "",
		     (const char *const[]){"about n0", "warning: 2 runs were slow",
					   "1 more: --verbose", NULL});
	notes_add(&t.notes, &basis, 3.0, 6);
	notes_add(&t.notes, &lost, 1, 2ULL);
	notes_add(&t.notes, &sum, 2.5);
	t.notes_command = "zcost report notes";
	expect_brief(&t, "not measured: y",
		     (const char *const[]){"sum 2.5", "basis 3 ns; not measured: y",
					   "lossy: 1 record is missing at 0x2",
					   "3 more: --verbose; zcost report notes has 1 of them",
					   NULL});
	table_free(&t);
	table_init(&t, "x", NULL, 0);
	notes_add(&t.notes, &basis, 3.0, 6);
	notes_add(&t.notes, &about, "n0");
	notes_set_side(&t.notes, "v", "s")->repeat = 1;
	t.notes_command = "zcost report notes";
	expect_brief(&t, "",
		     (const char *const[]){"basis 3 ns", "1 more: zcost report notes, or --verbose",
					   NULL});
}

/* The array of kinds is the order of weight of losses and warnings. Others stay as they were added.
 */
TEST(weightier_warnings_stand_first)
{
	static const struct note_kind kinds[] = {
		{"heavy", SEVERITY_WARNING, NULL, "heavy %s"},
		{"light", SEVERITY_WARNING, NULL, "light %s"},
		{"first", SEVERITY_INFO, NULL, "first %s"},
		{"second", SEVERITY_INFO, NULL, "second %s"},
	};
	static const int order[] = {3, 1, 2, 0, 1};
	freed(notes_free) struct notes list = {0};

	for (size_t i = 0; i < array_size(order); i++)
		notes_add(&list, &kinds[order[i]], i < 4 ? "a" : "b");
	expect_line(&list, 0, "warning: heavy a");
	expect_line(&list, 1, "warning: light a");
	expect_line(&list, 2, "warning: light b");
	expect_line(&list, 3, "second a");
	expect_line(&list, 4, "first a");
}
