// SPDX-License-Identifier: GPL-2.0-only
/*
 *	NIC statistics:					ethtool -S
 *	     rx_packets: 1172472
 *
 *	Show adapter(s) (mlx5p2) statistics (ONLY that changed!)
 *	Ethtool(mlx5p2) stat:     8179636 (      8,179,636) <= rx3_cache_reuse /sec
 *
 * Names hold blanks and colons, "[0]: rx_packets": the last colon parts name and value.
 */
#include "analyze/texts/text.h"

#include "lib/hash.h"
#include "lib/str.h"

#include <errno.h>

struct reader {
	struct text text;
	struct ethtool_text *e;
	struct map rows; /* maps interface and name to the row's index + 1 */
};

static struct ethtool_row *ethtool_find_row(struct reader *r, const char *interface,
					    const char *name)
{
	struct ethtool_text *e = r->e;
	uint64_t key = hash_bytes(interface, strlen(interface), 0);
	uint64_t *at = map_at(&r->rows, hash_bytes(name, strlen(name), key));

	if (!*at) {
		array_add(
			e->rows, e->n, e->cap,
			(struct ethtool_row){
				.interface = *interface ? arena_strdup(&e->arena, interface) : NULL,
				.name = arena_strdup(&e->arena, name)});
		*at = e->n;
	}
	return &e->rows[*at - 1];
}

/* Begins an output. No row is in the new output yet. */
static void ethtool_begin_output(struct reader *r)
{
	r->e->outputs++;
	for (size_t i = 0; i < r->e->n; i++)
		r->e->rows[i].ended = false;
}

/* Parses "rx_packets: 1172472". */
static int ethtool_parse_count(struct reader *r, char *line)
{
	char *colon = strrchr(line, ':'), *name = str_trim(line);
	struct ethtool_row *row;
	const char *p;
	uint64_t v;

	if (!colon)
		return text_bad(&r->text, "neither a counter nor the beginning of an output");
	p = text_skip(colon + 1);
	if (!text_count(&p, &v) || *text_skip(p))
		return text_bad(&r->text, "the value is not a whole number");
	*colon = '\0';
	row = ethtool_find_row(r, "", str_trim(name));
	if (row->ended)
		return text_bad(&r->text, "the counter is twice in one output");
	if (!row->seen)
		row->first = v;
	row->last = v;
	row->seen++;
	row->ended = true;
	return 0;
}

/* Parses "Ethtool(mlx5p2) stat:     8179636 (      8,179,636) <= rx3_cache_reuse /sec". */
static int ethtool_parse_rate(struct reader *r, char *line)
{
	char *interface = line + strlen("Ethtool("), *close = strchr(interface, ')'), *name;
	const char *p = close ? strstr(close, "stat:") : NULL;
	struct ethtool_row *row;
	uint64_t v;

	name = p ? strstr(p, "<=") : NULL;
	p = p ? text_skip(p + strlen("stat:")) : NULL;
	if (!name || !text_count(&p, &v) || !str_ends(str_trim(name), "/sec"))
		return text_bad(&r->text, "the line is not output of ethtool_stats.pl");
	*close = '\0';
	name = str_trim(name + strlen("<="));
	name[strlen(name) - strlen("/sec")] = '\0';
	row = ethtool_find_row(r, interface, str_trim(name));
	if (!r->e->outputs || row->ended)
		ethtool_begin_output(r);
	row->sum += (double)v;
	row->last = v;
	row->seen++;
	row->ended = true;
	return 0;
}

static int ethtool_parse_line(struct reader *r, char *line)
{
	bool rates = str_starts(line, "Show adapter(s)") || str_starts(line, "Ethtool(");

	if (!*line || str_starts(line, "[...]") || str_starts(line, "no stats available"))
		return 0;
	if (str_starts(line, "NIC statistics") || rates) {
		if (r->e->outputs && r->e->rates != rates)
			return text_bad(
				&r->text,
				"the text holds outputs of two kinds; give one kind at a time");
		r->e->rates = rates;
		if (!rates)
			ethtool_begin_output(r);
		return *line == 'E' ? ethtool_parse_rate(r, line) : 0;
	}
	/* Lines before the first output are ignored, such as a prompt or a command. */
	return r->e->outputs && !r->e->rates ? ethtool_parse_count(r, line) : 0;
}

int ethtool_text_parse(const char *name, char *data, size_t len, struct ethtool_text *e,
		       struct error *err)
{
	struct reader r = {.e = e};
	char *line;
	int rc;

	*e = (struct ethtool_text){0};
	rc = text_open(&r.text, name, data, len, err);
	while (!rc && (line = text_next(&r.text)))
		rc = ethtool_parse_line(&r, str_trim(line));
	if (!rc && !e->n)
		rc = error_set(err, ENODATA,
			       "%s holds no output of ethtool -S or of ethtool_stats.pl",
			       text_name(&r.text));
	text_close(&r.text);
	map_free(&r.rows);
	if (rc)
		ethtool_text_free(e);
	return rc;
}

void ethtool_text_free(struct ethtool_text *e)
{
	free(e->rows);
	arena_free(&e->arena);
	*e = (struct ethtool_text){0};
}
