// SPDX-License-Identifier: GPL-2.0-only
/*
 * The results of a gate for test runners: KTAP, as the kernel's Documentation/dev-tools/ktap.rst
 * has it, and the XML of JUnit. Both read a table with the columns side, row, result (pass, fail or
 * skip; a row without a result is no test) and why. The first line of the title names the tests.
 */
#include "lib/table_layout.h"

#include <time.h>

/* Returns the number of rows that match: "?*" has every result. */
static size_t gate_count(const struct table *t, const char *result)
{
	size_t n = 0;

	for (size_t row = 0; row < t->rows; row++)
		n += str_matches(result, table_text(t, row, "result"));
	return n;
}

void table_write_ktap(const struct table *t, FILE *out)
{
	char *line;
	size_t n = 0;

	fprintf(out, "KTAP version 1\n1..%zu\n", gate_count(t, "?*"));
	each_part (line, t->title ? t->title : t->name, '\n')
		fprintf(out, "# %s\n", line);
	for (size_t row = 0; row < t->rows; row++) {
		const char *result = table_text(t, row, "result"),
			   *side = table_text(t, row, "side");
		freed(str_free) struct str name = {0};

		if (!*result)
			continue;
		str_printf(&name, "%s%s%s", side, *side ? " " : "", table_text(t, row, "row"));
		str_replace(name.buf, '#', '_'); /* begins a directive */
		fprintf(out, "%s %zu %s # %s%s\n", strcmp(result, "fail") ? "ok" : "not ok", ++n,
			name.buf, strcmp(result, "skip") ? "" : "SKIP ", table_text(t, row, "why"));
	}
}

/* Prints ` name="text"`. */
static void junit_attribute(FILE *out, const char *name, const char *text)
{
	freed(str_free) struct str s = {0};

	str_puts(&s, "");
	str_put_xml(&s, text);
	str_replace(s.buf, '"', '\'');
	fprintf(out, " %s=\"%s\"", name, s.buf);
}

static void junit_row(const struct table *t, size_t row, FILE *out)
{
	const char *result = table_text(t, row, "result"), *side = table_text(t, row, "side");

	fputs("  <testcase", out);
	junit_attribute(out, "classname", *side ? side : t->name);
	junit_attribute(out, "name", table_text(t, row, "row"));
	fputs(" time=\"0\">", out);
	if (strcmp(result, "pass") != 0) {
		fputs(strcmp(result, "fail") ? "<skipped" : "<failure type=\"worse\"", out);
		junit_attribute(out, "message", table_text(t, row, "why"));
		fputs("/>", out);
	}
	fputs("</testcase>\n", out);
}

/* The attributes are all that the schemas of Ant and Jenkins require. No row has a time. */
void table_write_junit(const struct table *t, FILE *out)
{
	freed(str_free) struct str lines = {0};
	time_t now = time(NULL);
	struct tm utc;
	char when[32];

	gmtime_r(&now, &utc);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
	str_puts(&lines, "");
	str_put_xml(&lines, t->title ? t->title : "");
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite", out);
	junit_attribute(out, "name", t->name);
	fprintf(out,
		" id=\"0\" package=\"zcost\" hostname=\"localhost\" timestamp=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"0\">\n  <properties/>\n",
		when, gate_count(t, "?*"), gate_count(t, "fail"), gate_count(t, "skip"));
	for (size_t row = 0; row < t->rows; row++)
		if (*table_text(t, row, "result"))
			junit_row(t, row, out);
	fprintf(out,
		"  <system-out>%s</system-out>\n  <system-err/>\n </testsuite>\n</testsuites>\n",
		lines.buf);
}
