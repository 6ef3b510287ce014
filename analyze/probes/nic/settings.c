// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/nic/table.h"

#include "lib/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
	{"variant", .type = V_STR},   {"side", .type = V_STR},	  {"netns", .type = V_STR},
	{"interface", .type = V_STR}, {"setting", .type = V_STR}, {"value", .type = V_STR},
};

/*
 * THE TABLE of the note: the text for each key. "%s" is the value of the key. A switch is on or
 * off.
 */
static const struct {
	const char *key, *text, *max;
	bool is_switch;
} shown[] = {
	{"speed_mbps", "%s Mbit/s", NULL, false},
	{"mtu", "mtu %s", NULL, false},
	{"rx_ring", "rx ring %s", "rx_ring_max", false},
	{"tx_ring", "tx ring %s", "tx_ring_max", false},
	{"rx_buf_len", "rx buffers %s B", NULL, false},
	{"combined_channels", "channels %s", "combined_channels_max", false},
	{"rx_channels", "rx channels %s", "rx_channels_max", false},
	{"tx_channels", "tx channels %s", "tx_channels_max", false},
	{"rx_usecs", "rx-usecs %s", NULL, false},
	{"adaptive_rx", "adaptive-rx", NULL, true},
	{"feature:rx-gro", "gro", NULL, true},
	{"feature:rx-gro-hw", "hw-gro", NULL, true},
	{"feature:rx-lro", "lro", NULL, true},
	{"feature:tx-tcp-segmentation", "tso", NULL, true},
	{"feature:tx-generic-segmentation", "gso", NULL, true},
	{"feature:rx-checksum", "rx-checksum", NULL, true},
	{"tcp_data_split", "header split", NULL, true},
	{"hds_thresh", "hds-thresh %s", NULL, false},
	{"gro_max_size", "gro_max_size %s", NULL, false},
	{"gso_max_size", "gso_max_size %s", NULL, false},
};

/* Returns "256", or "256|512" if the runs differ, or NULL if no run has the setting. */
static char *nic_setting_values_of(const struct changes *state, const struct change_row *row,
				   bool is_switch)
{
	struct str s = {0};
	double last = NAN;
	int r;

	for (r = 0; row && r < state->b->n; r++) {
		if (isnan(row->x[r]) || row->x[r] == last)
			continue;
		last = row->x[r];
		if (s.len)
			str_putc(&s, '|');
		if (is_switch)
			str_puts(&s, last != 0 ? "on" : "off");
		else
			str_printf(&s, "%.0f", last);
	}
	return s.len ? str_take(&s) : NULL;
}

static char *nic_setting_value_of(const struct changes *state, const char *interface,
				  const char *key, bool is_switch)
{
	char *name = xasprintf("%s/%s", interface, key), *text;

	text = nic_setting_values_of(state, changes_find(state, name, NO_CPU), is_switch);
	free(name);
	return text;
}

/* Recognises values that say nothing: no channels of that kind, or the default size limit. */
static bool nic_setting_is_idle(const char *key, const char *value)
{
	return (strstr(key, "_channels") && !strcmp(value, "0")) ||
	       (str_ends(key, "_max_size") && !strcmp(value, "65536"));
}

static void nic_setting_add(struct str *s, const struct changes *state, const char *interface,
			    size_t i)
{
	char *value = nic_setting_value_of(state, interface, shown[i].key, shown[i].is_switch);
	char *max =
		shown[i].max ? nic_setting_value_of(state, interface, shown[i].max, false) : NULL;
	char *both = value && max ? xasprintf("%s of %s", value, max) : NULL;

	if (value && !nic_setting_is_idle(shown[i].key, value)) {
		str_puts(s, ", ");
		if (shown[i].is_switch)
			str_printf(s, "%s %s", shown[i].text, value);
		else /* the only conversion is %s */
			str_printf(s, "%.*s%s%s",
				   (int)(strstr(shown[i].text, "%s") - shown[i].text),
				   shown[i].text, both ? both : value,
				   strstr(shown[i].text, "%s") + 2);
	}
	free(both);
	free(max);
	free(value);
}

/* Returns the driver in the first run that has one, or NULL. */
static const char *nic_driver_of(struct block_table *k, const char *interface)
{
	char *name = xasprintf("nic:%s/driver", interface);
	const char *driver = NULL;
	int i;

	for (i = 0; i < k->b->n && !driver; i++)
		driver = store_run_fact(k->s, k->b->runs[i].id, name);
	free(name);
	return driver;
}

static void nic_setting_note_interface(struct block_table *k, const struct changes *state,
				       const char *interface)
{
	const char *driver = nic_driver_of(k, interface);
	struct str s = {0};
	size_t i;

	for (i = 0; i < array_size(shown); i++)
		nic_setting_add(&s, state, interface, i);
	if (driver || s.len)
		note_add_block(&k->t->notes, &state->b->block, nic_settings, interface,
			       driver ? driver : "", s.len ? s.buf + (driver ? 0 : 2) : "");
	str_free(&s);
}

/* Returns true if the interface moved packets and is not loopback. */
static bool nic_is_at_work(const struct changes *c, const char *interface)
{
	static const char *const moved[] = {"rx_packets", "tx_packets"};
	bool busy = false;
	size_t i;

	for (i = 0; i < array_size(moved); i++) {
		char *name = xasprintf("%s/link/%s", interface, moved[i]);
		const struct change_row *row = changes_find(c, name, NO_CPU);

		busy |= row && change_happened(c, row);
		free(name);
	}
	return busy && strcmp(strrchr(interface, '/'), "/lo");
}

/* Returns the key behind the interface: "feature:rx-gro" in "host/eth0/feature:rx-gro". */
static const char *nic_setting_key_of(const char *name)
{
	const char *slash = strchr(name, '/');

	slash = slash ? strchr(slash + 1, '/') : NULL;
	return slash ? slash + 1 : NULL;
}

/* Adds the setting "host/eth0/mtu". */
static void nic_setting_put(struct table *d, const struct block *b, const char *name,
			    const char *value)
{
	const char *key = nic_setting_key_of(name), *slash = strchr(name, '/');
	struct value *row;
	char *netns, *interface;

	if (!key)
		return;
	row = block_row(d, b);
	netns = xstrndup(name, (size_t)(slash - name));
	interface = xstrndup(slash + 1, (size_t)(key - 1 - (slash + 1)));
	table_set(d, row, "netns", value_str(d, netns));
	table_set(d, row, "interface", value_str(d, interface));
	table_set(d, row, "setting", value_str(d, key));
	table_set(d, row, "value", value_str(d, value));
	free(interface);
	free(netns);
}

struct nic_words {
	const char **word; /* names and values in turns */
	size_t n, cap;
};

static int nic_words_compare(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;
	int rc = strverscmp(x[0], y[0]);

	return rc ? rc : strverscmp(x[1], y[1]);
}

static void nic_words_add(struct nic_words *list, const struct fact_row *f)
{
	static const char prefix[] = "nic:";
	const char *name = f->name + sizeof(prefix) - 1;
	size_t i;

	if (!str_starts(f->name, prefix))
		return;
	for (i = 0; i < list->n; i += 2)
		if (!strcmp(list->word[i], name) && !strcmp(list->word[i + 1], f->value))
			return;
	array_add(list->word, list->n, list->cap, name);
	array_add(list->word, list->n, list->cap, f->value);
}

/* Adds the settings that are words, each value of any run once. */
static int nic_setting_put_words(struct block_table *k, struct error *err)
{
	struct nic_words list = {0};
	struct fact_row *rows;
	int r, i, n = 0;
	size_t w;

	for (r = 0; r < k->b->n && n >= 0; r++) {
		n = store_run_facts(k->s, k->b->runs[r].id, &rows, err);
		for (i = 0; i < n; i++)
			nic_words_add(&list, &rows[i]);
		free(rows);
	}
	if (list.n)
		qsort(list.word, list.n / 2, 2 * sizeof(*list.word), nic_words_compare);
	for (w = 0; w < list.n && n >= 0; w += 2)
		nic_setting_put(k->t->detail, &k->b->block, list.word[w], list.word[w + 1]);
	free(list.word);
	return n < 0 ? n : 0;
}

static void nic_setting_put_numbers(const struct changes *list, struct table *d)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		char *value = nic_setting_values_of(list, &list->row[i], false);

		nic_setting_put(d, &list->b->block, list->row[i].name, value);
		free(value);
	}
}

int nic_settings(struct block_table *k, const struct changes *c, struct error *err)
{
	struct changes state;
	int rc = changes_read(&state, k, "nic_state", OF_SIDE, err);
	size_t i;

	if (!rc && state.n && !k->t->detail)
		table_detail(k->t, "interfaces", columns, array_size(columns));
	for (i = 0; i < state.n && !rc; i++) {
		const char *key = nic_setting_key_of(state.row[i].name);
		char *interface;

		if (!key || strcmp(key, "up"))
			continue;
		interface = xstrndup(state.row[i].name, (size_t)(key - 1 - state.row[i].name));
		if (nic_is_at_work(c, interface))
			nic_setting_note_interface(k, &state, interface);
		free(interface);
	}
	if (!rc && state.n)
		rc = nic_setting_put_words(k, err);
	if (!rc && state.n)
		nic_setting_put_numbers(&state, k->t->detail);
	changes_free(&state);
	return rc;
}
