// SPDX-License-Identifier: GPL-2.0-only
/* What a command offers of the table of options: --help, parsing, and refusing. */
#include "analyze/commands/options.h"

#include "analyze/compare/compare.h"
#include "analyze/costs/tally.h"
#include "lib/command.h"

#include <assert.h>
#include <unistd.h>

static const char *const headings[OPTION_GROUPS] = {
	[GROUP_RUNS] = "Which runs:",
	[GROUP_SAMPLES] = "Which samples:",
	[GROUP_RECORDING] = "A bare perf.data instead of a capture:",
	[GROUP_TEXTS] = "Texts of other tools instead of a capture ('-' is standard input):",
	[GROUP_ROWS] = "Which rows, and how samples add up to rows:",
	[GROUP_WORK] = "What a unit of work costs:",
	[GROUP_SCORES] = "Scores, and how repeats become one figure:",
	[GROUP_OUTPUT] = "Output:",
};

/* --- what a command offers --- */

static bool option_is(const struct option_row *o, const char *name, size_t len)
{
	return !strncmp(o->name, name, len) && !o->name[len];
}

/* Returns the row with that name, and adds it if the command does not offer it yet. */
static struct option_row *option_offer(struct options *o, const char *name, size_t len)
{
	for (int k = 0; k < o->nrows; k++)
		if (option_is(&o->rows[k], name, len))
			return &o->rows[k];
	assert(o->nrows < OPTIONS_MAX);
	for (size_t i = 0; option_table[i].name; i++)
		if (option_is(&option_table[i], name, len))
			o->rows[o->nrows] = option_table[i];
	return &o->rows[o->nrows++];
}

static void options_offer_own(struct options *o, const struct option_row *own)
{
	for (; own && own->name; own++) {
		struct option_row *row = option_offer(o, own->name, strlen(own->name));

		row->name = own->name;
		row->key = own->key ? own->key : row->key;
		row->arg = own->arg ? own->arg : row->arg;
		row->group = own->group ? own->group : row->group;
		row->help = own->help ? own->help : row->help;
		row->at = own->parse ? own->at : row->at;
		row->parse = own->parse ? own->parse : row->parse;
	}
}

static void options_offer_words(struct options *o, const char *words)
{
	const struct option_row *row;
	size_t len;

	for (; words && *words; words += len + strspn(words + len, " ")) {
		len = strcspn(words, " ");
		row = option_offer(o, words, len);
		assert(row->parse); /* a feature names an option that there is not */
		(void)row;
	}
}

static void options_offer(struct options *o, const struct command *c)
{
	struct feature f;

	options_offer_own(o, c->own);
	options_offer_words(o, c->offers);
	for (size_t i = 0; (f = c->feature(i)).name; i++)
		for (int s = 0; s < SOURCES; s++)
			options_offer_words(o, f.options[s]);
}

enum { KEY_FIRST = 0x100 };

static int option_key(const struct options *o, int i)
{
	return o->rows[i].key ? o->rows[i].key : KEY_FIRST + i;
}

/* Lists the rows by group, because argp puts a row without a group into the group before it. */
static void options_list(const struct options *o, struct argp_option *list)
{
	bool headed;

	for (int g = 0; g < OPTION_GROUPS; g++) {
		headed = !headings[g];
		for (int i = 0; i < o->nrows; i++) {
			if ((int)o->rows[i].group != g)
				continue;
			if (!headed)
				*list++ = (struct argp_option){.doc = headings[g], .group = g};
			headed = true;
			*list++ = (struct argp_option){.name = o->rows[i].name,
						       .key = option_key(o, i),
						       .arg = o->rows[i].arg,
						       .doc = o->rows[i].help,
						       .group = g};
		}
	}
	*list = (struct argp_option){0};
}

static error_t options_parse_key(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	for (int i = 0; i < o->nrows; i++) {
		if (option_key(o, i) != key)
			continue;
		o->given[i] = true;
		o->rows[i].parse(&(struct option_given){state, &o->rows[i], o, arg});
		return 0;
	}
	return o->command->argp.parser(key, arg, state);
}

/* Puts the features before the text at the end of --help. */
static char *options_help(int key, const char *text, void *input)
{
	const struct options *o = input;
	struct str s = {0};

	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	options_help_features(&s, o->command);
	str_printf(&s, "\n%s", text);
	return str_take(&s);
}

/* --- completion --- */

/* Returns the store in the folder, or NULL. */
static struct store *options_open_store(const char *folder)
{
	struct store *store = NULL;
	autofree char *db = xasprintf("%s/zcost.db", folder);

	if (!access(db, R_OK))
		store_open(&store, folder, NULL);
	return store;
}

/* Returns the store of the last word that is a folder with one, else of this folder, else NULL. */
static struct store *options_find_store(char **words, int n)
{
	struct store *store = NULL;

	while (n > 0 && !store)
		store = options_open_store(words[--n]);
	return store ? store : options_open_store(".");
}

/*
 * Adds names in the capture on the command line, or in the CAPTURE of CAPTURE:VARIANT if `start`
 * begins so.
 */
static void options_add_store_names(struct str *lines, char **words, int n, const char *start,
				    enum store_names what)
{
	const char *colon = start ? strrchr(start, ':') : NULL;
	autofree char *folder = xstrndup(start ? start : "", colon ? (size_t)(colon - start) : 0);
	struct store *store = colon ? options_open_store(folder) : options_find_store(words, n);
	autofree const char **names = NULL;
	int count = store ? store_names(store, what, &names, NULL) : 0;

	for (int i = 0; i < count; i++) {
		autofree char *name = xasprintf("%s%s%s", folder, colon ? ":" : "", names[i]);

		complete_add(lines, name, NULL);
	}
	if (store_close(store, 0, NULL))
		str_reset(lines);
}

/* What names the argument of an option, or one that help calls `what`, in the capture. */
static const struct {
	const char *option, *what;
	enum store_names names;
} options_in_store[] = {
	{NULL, "VARIANT", NAMES_VARIANT},   {NULL, "BASE", NAMES_VARIANT},
	{NULL, "NEW", NAMES_VARIANT},	    {NULL, "SIDE", NAMES_SIDE},
	{NULL, "FUNCTION", NAMES_FUNCTION}, {"symbol", NULL, NAMES_FUNCTION},
	{"comm", NULL, NAMES_COMM},	    {"dso", NULL, NAMES_DSO},
	{"event", NULL, NAMES_EVENT},	    {"name", NULL, NAMES_SERIES},
	{"setting", NULL, NAMES_SETTING},
};

static void options_names(struct str *lines, const char *option, const char *what, char **words,
			  int n, const void *of)
{
	const struct command *c = of;
	bool features = !strcmp(what, "TABLE") || str_starts(what, "CHART") ||
			(!option && !strcmp(what, "FORMAT"));
	struct feature f;

	for (size_t i = 0; features && (f = c->feature(i)).name; i++)
		if (f.what)
			complete_add(lines, f.name, f.what);
	for (size_t i = 0; str_starts(what, "KEY") && i < TALLY_KEYS; i++)
		complete_add(lines, tally_key_name((enum tally_key)i), NULL);
	for (size_t i = 0; i < array_size(options_in_store); i++) {
		enum store_names names = options_in_store[i].names;

		if (options_in_store[i].what
			    ? str_starts(what, options_in_store[i].what)
			    : option && !strcmp(option, options_in_store[i].option))
			options_add_store_names(lines, words, n,
						!option && names == NAMES_VARIANT ? words[n] : NULL,
						names);
	}
}

void options_parse(struct options *o, const struct command *c, int argc, char **argv)
{
	struct argp_option list[OPTIONS_MAX + OPTION_GROUPS + 1];
	struct argp argp = c->argp;

	o->command = c;
	profile_init(&o->profile);
	options_offer(o, c);
	options_list(o, list);
	argp.options = list;
	argp.parser = options_parse_key;
	if (!argp.help_filter)
		argp.help_filter = options_help;
	complete_run(&argp, argc, argv, options_names, c);
	args_parse(&argp, argc, argv, 0, o);
}

/* --- the options that a feature accepts --- */

enum data_source options_source(const struct options *o, const char *capture)
{
	return capture				? SOURCE_CAPTURE
	       : !o->input			? SOURCE_NUMBERS
	       : o->input->group == GROUP_TEXTS ? SOURCE_TEXT
						: SOURCE_PERF;
}

static bool option_has_word(const char *words, const char *word)
{
	return words && str_matches_any(words, word);
}

static void option_add_name(struct str *list, const char *name)
{
	str_printf(list, "%s%s", list->len ? ", " : "", name);
}

/* Adds where the option works: other sources, else other features, else both are others. */
static void option_add_places(struct str *list, const struct command *c, const struct feature *of,
			      enum data_source source, const char *option)
{
	struct feature f;

	for (int s = 0; s < SOURCES; s++)
		if (option_has_word(of->options[s], option))
			option_add_name(list, c->sources[s]);
	if (list->len)
		return;
	for (size_t i = 0; (f = c->feature(i)).name; i++)
		if (option_has_word(f.options[source], option))
			option_add_name(list, f.name);
	for (size_t i = 0; !list->len && (f = c->feature(i)).name; i++)
		for (int s = 0; s < SOURCES && !list->len; s++)
			if (option_has_word(f.options[s], option))
				str_printf(list, "%s of %s", f.name, c->sources[s]);
}

/*
 * Ends with the reasons why the features have no figure of the workload alone. Returns where one of
 * them says none.
 */
static void option_refuse_whole(const struct argp_state *state, const struct feature *features,
				size_t n)
{
	freed(str_free) struct str reasons = {0};
	size_t i;

	for (i = 0; i < n && features[i].whole; i++)
		str_printf(&reasons, "%s'%s' has no figure of the workload alone: %s",
			   i ? "; " : "", features[i].name, features[i].whole);
	if (i == n && reasons.buf)
		argp_error(state, "--" WORKLOAD_ONLY ": %s", reasons.buf);
}

static void option_refuse(const struct argp_state *state, const struct command *c,
			  const struct feature *features, size_t n, enum data_source source,
			  const struct option_row *row)
{
	const char *option = row->name;
	freed(str_free) struct str names = {0}, places = {0};
	const char *instead;

	if (!strcmp(option, WORKLOAD_ONLY) && source == SOURCE_CAPTURE)
		option_refuse_whole(state, features, n);
	for (size_t i = 0; i < n; i++)
		str_printf(&names, "%s'%s'", i ? ", " : "", features[i].name);
	option_add_places(&places, c, &features[0], source, option);
	instead = source == SOURCE_CAPTURE ? row->of_capture : NULL;
	argp_error(state, "--%s does not apply to %s of %s; it applies to %s%s%s", option,
		   names.buf, c->sources[source], places.buf ? places.buf : "",
		   instead ? "; for a capture: " : "", instead ? instead : "");
}

/* Returns false for an option of the command itself, which no feature names. */
static bool option_is_of_features(const struct command *c, const char *option)
{
	struct feature f;

	for (size_t i = 0; (f = c->feature(i)).name; i++)
		for (int s = 0; s < SOURCES; s++)
			if (option_has_word(f.options[s], option))
				return true;
	return false;
}

static bool option_is_taken(const struct feature *features, size_t n, enum data_source source,
			    const char *option)
{
	for (size_t i = 0; i < n; i++)
		if (!features[i].options[source] ||
		    option_has_word(features[i].options[source], option))
			return true;
	return false;
}

void options_check_source(const struct argp_state *state, const struct options *o, const char *kind,
			  const struct feature *f, enum data_source source)
{
	const struct command *c = o->command;
	freed(str_free) struct str made = {0};

	for (int s = 0; s < SOURCES; s++)
		if (f->options[s])
			option_add_name(&made, c->sources[s]);
	if (!f->options[source] && source == SOURCE_NUMBERS)
		argp_error(state, "of what? %s '%s' is made from %s", kind, f->name, made.buf);
	if (!f->options[source])
		argp_error(state, "%s '%s' is made from %s, not from %s", kind, f->name, made.buf,
			   c->sources[source]);
}

void options_check(const struct argp_state *state, const struct options *o,
		   const struct feature *features, size_t n, enum data_source source)
{
	if (o->q.workload_only && o->q.system_load > 0)
		argp_error(state,
			   "--system-load PCT is the load of all programs; with --" WORKLOAD_ONLY
			   " give --system-load measured");
	for (int i = 0; i < o->nrows; i++)
		if (o->given[i] && option_is_of_features(o->command, o->rows[i].name) &&
		    !option_is_taken(features, n, source, o->rows[i].name))
			option_refuse(state, o->command, features, n, source, &o->rows[i]);
}

const char *options_untaken(const struct options *o, const struct feature *f,
			    enum data_source source)
{
	for (int i = 0; i < o->nrows; i++)
		if (o->given[i] && o->rows[i].group == GROUP_SAMPLES &&
		    !option_is_taken(f, 1, source, o->rows[i].name))
			return o->rows[i].name;
	return NULL;
}

void options_ignore(struct options *o, const char *name)
{
	for (int i = 0; i < o->nrows; i++)
		o->given[i] &= strcmp(o->rows[i].name, name) != 0;
}

void options_help_features(struct str *s, const struct command *c)
{
	struct feature f;
	size_t width = 0;

	for (size_t i = 0; (f = c->feature(i)).name; i++)
		if (f.what && strlen(f.name) > width)
			width = strlen(f.name);
	str_printf(s, "%s\n", c->heading);
	for (size_t i = 0; (f = c->feature(i)).name; i++)
		if (f.what)
			args_help_line(s, width + 4, f.name, f.what);
}

char *options_feature_names(const struct command *c)
{
	struct feature f;
	struct str s = {0};

	for (size_t i = 0; (f = c->feature(i)).name; i++)
		if (f.what)
			str_printf(&s, "%s%s", i ? " " : "", f.name);
	return str_take(&s);
}

bool options_is_capture(const char *path)
{
	return !access(path, F_OK) && !bare_is(path);
}

void options_refuse_name(const struct argp_state *state, const struct command *c, const char *kind,
			 const char *name)
{
	autofree char *names = options_feature_names(c);

	if (options_is_capture(name))
		argp_error(state, "'%s' is a capture; the %s comes first: %s %s %s", name, kind,
			   state->name, c->feature(0).name, name);
	else
		arg_error(state, "no %s '%s'; %s'%s --help' lists the %ss", kind, name,
			  did_you_mean(names, name), state->name, kind);
}
