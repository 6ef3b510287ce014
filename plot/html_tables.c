// SPDX-License-Identifier: GPL-2.0-only
/* The tables of the page: those of `compare` for each pair, those of `report`, and the commands. */
#include "plot/html_page.h"

#include "lib/stop.h"
#include "lib/words.h"

void page_add_absent(struct html_page *p, const char *kind, const char *name, const char *why)
{
	html_printf(&p->absent, "<li>%s <b>%s</b>: %s</li>\n", kind, name, why);
}

void page_add_failed(struct html_page *p, const char *kind, const char *name,
		     const struct error *why)
{
	page_add_absent(p, kind, name, why->text);
	if (!error_of_machine(why->code))
		return; /* there is nothing to show */
	warn("the page lacks the %s %s: %s; make it again", kind, name, why->text);
	p->r->lossy = true;
}

char *page_command(const char *word, ...)
{
	char *all[16] = {"zcost"};
	size_t n = 1;
	va_list words;

	va_start(words, word);
	for (; word && n + 1 < array_size(all); word = va_arg(words, const char *))
		if (*word)
			all[n++] = (char *)word;
	va_end(words);
	return words_join(all);
}

/* --- the rows and notes of the page --- */

bool page_has_variant(const struct html_page *p, int store, const char *variant)
{
	if (!p->r->compared)
		return str_matches(p->r->query.variant, variant);
	return array_find(end, p->r->compared->end, ENDS,
			  end->store == p->stores[store] && !strcmp(end->variant, variant));
}

static bool page_has_side(const struct html_page *p, int store, const char *side)
{
	const struct comparison *c = p->r->compared;

	if (!c)
		return !p->r->query.side || !strcmp(p->r->query.side, side);
	for (int e = 0; e < ENDS; e++)
		if (c->end[e].store == p->stores[store] &&
		    (!c->side[e] || !strcmp(c->side[e], side)))
			return true;
	return false;
}

/* Returns whether a row or note is of the page. Without a text it concerns all variants, or sides.
 */
static bool page_has(const struct html_page *p, int store, const char *variant, const char *side)
{
	return (!variant || !*variant || page_has_variant(p, store, variant)) &&
	       (!side || !*side || page_has_side(p, store, side));
}

/* Leaves the rows and notes that are of the page. */
static void page_keep_rows(const struct html_page *p, int store, struct table *t)
{
	bool noted = notes_have(&t->notes, SEVERITY_LOSSY), unknown;
	size_t n = 0;

	for (size_t i = 0; i < t->rows; i++)
		if (page_has(p, store, table_text(t, i, "variant"), table_text(t, i, "side")))
			table_move_row(t, n++, i);
	t->rows = n;
	for (size_t i = n = 0; i < t->notes.n; i++)
		if (page_has(p, store, t->notes.note[i].variant, t->notes.note[i].side))
			t->notes.note[n++] = t->notes.note[i];
	t->notes.n = n;
	/* Tables notes and sweep are lossy for a loss of any variant, costs for an unknown unit. */
	unknown = t->lossy && !noted && (measure_find(t->name)->flags & MEASURE_COSTS);
	t->lossy = unknown || notes_have(&t->notes, SEVERITY_LOSSY);
}

/* Collects all notes but the results and sums, which stand below their table. */
static void page_add_notes(struct html_page *p, const struct table *t)
{
	p->r->lossy |= t->lossy;
	for (size_t i = 0; i < t->notes.n; i++) {
		const struct note *note = &t->notes.note[i];
		struct notes *to = note_is_doubt(note) ? &p->losses
				   : note->variant     ? &p->remarks
						       : &p->methods;

		if (note->severity != SEVERITY_RESULT &&
		    (note->severity != SEVERITY_METHOD || !note->variant) &&
		    !notes_have_note(to, note))
			notes_copy(to, note);
	}
}

/* Runs a measure and leaves the rows and notes of the page's variants and side. */
static int page_measure(struct html_page *p, int store, const char *name, struct table *t,
			struct error *err)
{
	const char *options = measure_find(name)->options[SOURCE_CAPTURE];
	struct query q = p->r->query;
	int rc;

	/* Each table takes the options that it takes on the command line. */
	q.side = strstr(options, "side ") ? p->d.side : NULL;
	q.workload_only &= strstr(options, "workload-only") != NULL;
	q.unit = strstr(options, "unit") ? q.unit : NULL;
	q.basis = strstr(options, "basis") ? q.basis : BASIS_DEFAULT;
	rc = measure_run(name, p->stores[store], &q, t, err);
	if (!rc)
		page_keep_rows(p, store, t);
	return rc;
}

/* --- comparisons --- */

static int pair_read(struct html_pair *pair, struct error *err)
{
	int rc;

	compare_evidence(&pair->c, &pair->first);
	rc = compare_drift(&pair->c, &pair->first, err);
	pair->outcome.figures = &pair->figures;
	rc = rc
		     ?: compare_table_run(&comparison_metrics, &pair->c, &pair->metrics,
					  &pair->outcome, err);
	pair->outcome.figures = NULL;
	return rc ?: compare_limits(&pair->c, &pair->metrics, &pair->outcome, &pair->first, err);
}

static int pairs_read_variants(struct html_page *p, struct error *err)
{
	const char *ends[ENDS];
	struct query q = p->r->query;
	int rc = 0;

	q.variant = q.side = NULL;
	for (int i = 1; (ends[NEW] = drawing_variant(&p->d, i)) && !rc; i++) {
		struct html_pair *pair = &p->pairs[p->npairs];

		if (drawing_all_failed(&p->d, ends[NEW])) {
			html_add_element(
				&p->failed, "li class=alert",
				arena_printf(&p->d.arena, "%s: no run succeeded", ends[NEW]));
			continue;
		}
		p->npairs_all++;
		if (p->npairs == PAGE_WORDS)
			continue;
		ends[BASE] = drawing_variant(&p->d, drawing_base_of(&p->d, i));
		p->npairs++;
		facts_comparison(&pair->c, p->stores[0], ends, &q);
		pair->c.side[BASE] = pair->c.side[NEW] = p->r->query.side;
		rc = compare_estimator(&pair->c, err);
		rc = rc ?: pair_read(pair, err);
		if (!rc)
			drawing_lend_metrics(&p->d, ends[NEW], &pair->metrics);
	}
	return rc;
}

int page_read_pairs(struct html_page *p, struct error *err)
{
	p->pairs = xcalloc(PAGE_WORDS, sizeof(*p->pairs));
	if (!p->r->compared)
		return pairs_read_variants(p, err);
	p->npairs = p->npairs_all = 1;
	p->pairs[0].c = *p->r->compared;
	p->pairs[0].outcome.gate = p->r->outcome.gate;
	return pair_read(&p->pairs[0], err);
}

static void pair_add_table(struct html_page *p, const struct comparison *c, const struct table *t,
			   const struct compare_table *table, const char *side)
{
	autofree char *id = xasprintf("d%d", p->nids++);
	const char *in = p->r->capture;
	autofree char *limit = table->spec ? xasprintf("--limit=%d", PAGE_COSTS) : xstrdup("");
	autofree char *command = page_command("compare", c->end[BASE].label, c->end[NEW].label,
					      in ? "-C" : "", in ? in : "", "--table", table->name,
					      *side ? "--side" : "", side, limit, NULL);
	autofree char *title = t->title && str_starts(t->title, table->name)
				       ? xstrdup(t->title)
				       : xasprintf("%s: %s", table->name, t->title ? t->title : "");

	html_add_table(
		&p->out, t,
		&(struct html_heading){.id = id,
				       .title = title,
				       .what = table->what,
				       .command = command,
				       .most = PAGE_ROWS,
				       .open = table->of_figures || table == compare_table_at(1)});
	page_add_notes(p, t);
}

/* Adds a table of one side, NULL: its default. Returns the side of a list of costs, or NULL. */
static const char *pair_add_side(struct html_page *p, struct comparison c,
				 const struct compare_table *table, const char *side)
{
	struct outcome out = {0};
	struct error why = {0};
	freed(table_free) struct table t = {0};

	if (side)
		c.side[BASE] = c.side[NEW] = side;
	c.limit = table->spec ? PAGE_COSTS : 0;
	if (compare_table_run(table, &c, &t, &out, &why)) {
		page_add_failed(p, "comparison", table->name, &why);
	} else {
		compare_note_sides(&c, &t);
		compare_note_reading(&c, &t);
		pair_add_table(p, &c, &t, table, out.side ? out.side : "");
	}
	return out.side;
}

/* Lists of costs are of one side: each side has its own. */
static int pair_add_sides(struct html_page *p, const struct html_pair *pair,
			  const struct compare_table *table, struct error *err)
{
	const char **names, *of;
	int n = store_sides(pair->c.end[BASE].store, &names, err);

	if (n < 0)
		return n;
	of = pair_add_side(p, pair->c, table, NULL);
	for (int i = 0; i < n && of && !pair->c.side[BASE]; i++)
		if (strcmp(names[i], of))
			pair_add_side(p, pair->c, table, names[i]);
	free(names);
	return compare_failed(&pair->c, err);
}

static int pair_add(struct html_page *p, struct html_pair *pair, struct error *err)
{
	const struct compare_table *table;
	int rc = 0;

	html_printf(&p->out, "<h3>%s against %s</h3>\n", pair->c.end[NEW].label,
		    pair->c.end[BASE].label);
	pair_add_table(p, &pair->c, &pair->metrics, &comparison_metrics, "");
	for (size_t i = 0; (table = compare_table_at(i)) && !rc && !stop_asked(); i++)
		if (!table->of_figures && table->what && table->options[SOURCE_CAPTURE])
			rc = pair_add_sides(p, pair, table, err);
	return rc;
}

int page_add_pairs(struct html_page *p, struct error *err)
{
	size_t i;
	int rc = 0;

	str_puts(&p->out, "<section id=changes><h2>What changed</h2>\n");
	if (!p->npairs)
		html_add_element(&p->out, "p", PAGE_ALONE);
	for (i = 0; i < p->npairs && i < PAGE_PAIRS && !rc && !stop_asked(); i++)
		rc = pair_add(p, &p->pairs[i], err);
	for (; i < p->npairs; i++)
		page_add_notes(p, &p->pairs[i].metrics);
	if (p->npairs_all > PAGE_PAIRS)
		str_printf(&p->out,
			   "<p>The tables are those of %d of %zu comparisons. "
			   "<code>zcost compare BASE NEW -C CAPTURE --html FILE</code> "
			   "makes the page of any other.</p>\n",
			   PAGE_PAIRS, p->npairs_all);
	str_puts(&p->out, "</section>\n");
	return rc;
}

/* --- measures --- */

static void measure_add(struct html_page *p, int store, const struct measure *m,
			const struct table *t)
{
	const char *of = p->nstores > 1 ? store_path(p->stores[store]) : p->capture;
	autofree char *id = xasprintf("t%d-%s", store, m->name);
	autofree char *title = p->nstores > 1 ? xasprintf("%s: %s", m->name, of) : xstrdup(m->name);
	autofree char *command = page_command("report", m->name, of, NULL);

	html_add_table(&p->out, t,
		       &(struct html_heading){.id = id,
					      .title = title,
					      .what = m->what,
					      .command = command,
					      .most = PAGE_ROWS,
					      .open = m == measure_at(0)});
	page_add_notes(p, t);
}

/* The results of table zerocopy are sentences. */
static void measure_add_zero_copy(struct html_page *p, const struct table *t, const char *why)
{
	freed(note_lines_free) struct note_lines lines;

	if (*why)
		html_add_element(&p->zero_copy, "li", why);
	note_lines_make(&lines, &t->notes);
	for (size_t i = 0; i < lines.n; i++)
		if (lines.line[i].severity == SEVERITY_RESULT)
			html_add_element(&p->zero_copy, "li", lines.line[i].text);
}

int page_add_measures(struct html_page *p, struct error *err)
{
	const struct measure *m;
	int rc = 0;

	str_puts(&p->out, "<section id=tables><h2>All tables</h2>\n");
	for (size_t i = 0; (m = measure_at(i)) && !rc && !stop_asked(); i++) {
		if (m->flags & (MEASURE_FUNCTION | MEASURE_RATES))
			continue;
		if (p->d.query.workload_only && m->whole && !(m->flags & MEASURE_FACTS)) {
			page_add_absent(p, "table", m->name, m->whole);
			continue;
		}
		for (int s = 0; s < p->nstores && !rc; s++) {
			freed(table_free) struct table t;
			struct error why = {0};

			if (page_measure(p, s, m->name, &t, &why))
				page_add_failed(p, "table", m->name, &why);
			else if (t.rows)
				measure_add(p, s, m, &t);
			else
				page_add_absent(p, "table", m->name,
						p->d.side ? "no run measured this for the side"
							  : "no run measured this");
			if (!strcmp(m->name, "zerocopy"))
				measure_add_zero_copy(p, &t, why.text);
			rc = store_failed(p->stores[s], err);
		}
	}
	str_puts(&p->out, "</section>\n");
	return rc;
}

/* --- commands --- */

struct commands_row {
	const char *variant, *of, *command;
};

static const struct column command_columns[] = {
	{MEMBER(struct commands_row, variant), .type = V_STR},
	{MEMBER(struct commands_row, of), .type = V_STR,
	 .what = "the side that ran it, or the plan's key"},
	{MEMBER(struct commands_row, command), .type = V_STR, .shape = STAYS_WHOLE},
};

static void commands_add_row(struct table *t, const char *variant, const char *of,
			     const char *command)
{
	const struct commands_row *rows = table_structs(t, struct commands_row);

	for (size_t i = 0; i < t->rows; i++)
		if (!strcmp(rows[i].variant, variant) && !strcmp(rows[i].of, of) &&
		    !strcmp(rows[i].command, command))
			return;
	table_add(t, struct commands_row, &(struct commands_row){variant, of, command});
}

static int commands_add_plan(struct store *store, const char *variant, struct table *t,
			     struct error *err)
{
	static const char *const keys[] = {"before", "after"};
	struct run_filter filter = {.variant = variant};
	autofree struct fact_row *facts = NULL;
	autofree struct run *runs = NULL;
	int n = store_facts(store, NULL, variant, &facts, err);

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < array_size(keys); k++)
			if (!strcmp(facts[i].name, keys[k]) && *facts[i].value)
				commands_add_row(t, variant, facts[i].name, facts[i].value);
	n = store_runs(store, &filter, &runs, err);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		if (runs[i].command)
			commands_add_row(t, variant, runs[i].side, runs[i].command);
	return 0;
}

int page_add_commands(struct html_page *p, struct error *err)
{
	autofree char *words = words_join(p->r->argv + 1);
	freed(table_free) struct table t = {0};
	int n, rc = 0;

	table_init(&t, "commands", command_columns, array_size(command_columns));
	for (int s = 0; s < p->nstores && !rc; s++) {
		autofree const char **names = NULL;

		n = store_variants(p->stores[s], &names, err);
		rc = n < 0 ? n : 0;
		for (int i = 0; i < n && !rc; i++)
			if (page_has_variant(p, s, names[i]))
				rc = commands_add_plan(p->stores[s], names[i], &t, err);
	}
	str_puts(&p->out, "<section id=commands><h2>The commands that made it</h2>\n");
	html_printf(&p->out, "<pre>%s %s</pre>\n", p->r->argv[0], words);
	html_add_table(&p->out, &t,
		       &(struct html_heading){.id = "t-commands",
					      .title = "What the capture ran",
					      .most = t.rows,
					      .open = t.rows < 16});
	str_puts(&p->out, "</section>\n");
	return rc;
}
