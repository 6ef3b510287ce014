// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/meter_unit.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const struct power_unit units[] = {{"W", 1}, {"mW", 1e-3}, {"uW", 1e-6}, {"kW", 1e3}};

/* Anywhere in a heading, in whatever case; the last is in all others. */
static const struct {
	const char *word, *unit;
} words[] = {{"microwatt", "uW"}, {"milliwatt", "mW"}, {"kilowatt", "kW"}, {"watt", "W"}};

/* As a word of its own, or behind small letters: "power_mW", "load mw", "PowermW". */
static const struct {
	const char *text, *unit;
	bool behind;
} symbols[] = {
	{"W", "W", false},   {"w", "W", false},	  {"mW", "mW", true},	   {"mw", "mW", false},
	{"uW", "uW", true},  {"uw", "uW", false}, {"kW", "kW", true},	   {"kw", "kW", false},
	{"KW", "kW", false}, {"MW", NULL, true},  {"\u00b5W", "uW", true}, {"\u03bcW", "uW", true},
};

const struct power_unit *power_unit_named(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(units); i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

/* Of letters, those of UTF-8 included. */
static size_t unit_word_length(const char *text)
{
	size_t n = 0;

	while (isalpha((unsigned char)text[n]) || (unsigned char)text[n] >= 0x80)
		n++;
	return n;
}

static bool unit_word_ends_with(const char *word, size_t n, const char *symbol, bool behind)
{
	size_t len = strlen(symbol);

	if (n < len || memcmp(word + n - len, symbol, len))
		return false;
	return n == len || (behind && islower((unsigned char)word[n - len - 1]));
}

static const struct power_unit *power_unit_of_word(const char *word, size_t n, bool *unclear)
{
	size_t i;

	for (i = 0; i < array_size(symbols); i++) {
		if (!unit_word_ends_with(word, n, symbols[i].text, symbols[i].behind))
			continue;
		*unclear = !symbols[i].unit;
		return *unclear ? NULL : power_unit_named(symbols[i].unit);
	}
	return NULL;
}

const struct power_unit *power_unit_in(const char *heading, bool *unclear)
{
	const struct power_unit *unit = NULL;
	size_t i, n;

	*unclear = false;
	for (i = 0; i < array_size(words); i++)
		if (strcasestr(heading, words[i].word))
			return power_unit_named(words[i].unit);
	for (; *heading && !unit && !*unclear; heading += n ? n : 1) {
		n = unit_word_length(heading);
		unit = power_unit_of_word(heading, n, unclear);
	}
	return unit;
}
