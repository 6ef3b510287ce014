// SPDX-License-Identifier: GPL-2.0-only
/*
 * nic.snap: lines of fields parted by tabs,
 *
 *	n NETNS IFINDEX INTERFACE GROUP name...		the names of a group, from here on
 *	v NETNS IFINDEX INTERFACE GROUP value...
 *
 * GROUP: link (rtnl_link_stats64), ethtool (the driver's counters), rx-0, tx-3 (a queue), qdisc:fq.
 * An interface that is registered again has another number, and its counters begin again.
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/kinds.h"
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"
#include "analyze/scope/changes.h"
#include "analyze/texts/text.h"
#include "lib/file.h"

#include <errno.h>
#include <fnmatch.h>

/* --- nic.snap --- */

struct nic {
	struct deltas d;      /* "IFINDEX NETNS/INTERFACE/GROUP/name" */
	struct intern groups; /* "NETNS IFINDEX GROUP" */
	char **names;	      /* by group: the rest of its line "n" */
	size_t cap;
	struct ingest *in;
};

static char **nic_find_names(struct nic *n, const char *group)
{
	size_t before = n->groups.n;
	uint32_t id = intern_str(&n->groups, group);

	if (n->groups.n > before) {
		array_grow(n->names, id, n->cap);
		n->names[id] = NULL;
	}
	return &n->names[id];
}

/* Adds the rate of a link's bytes to its series. */
static void nic_add_rate(const struct nic *n, const char *interface, const char *name, double bytes)
{
	freed(str_free) struct str series = {0};

	if (isnan(bytes) || !(n->d.span_s > 0) ||
	    (strcmp(name, "rx_bytes") && strcmp(name, "tx_bytes")))
		return;
	str_printf(&series, "nic_%.2s_gbps:%s", name, interface);
	ingest_point(n->in, series.buf, n->d.t_ns, 8 * bytes / n->d.span_s / 1e9);
}

static bool nic_add_values(struct nic *n, const char *index, const char *interface,
			   const char *group, const char *names, char *values)
{
	autofree char *copy = xstrdup(names);
	char *rest = copy, *name, *value;
	freed(str_free) struct str key = {0};
	size_t prefix;
	uint64_t v;
	double change;

	n->d.wraps = str_starts(group, "qdisc:"); /* struct gnet_stats_queue has 32 bits */
	str_printf(&key, "%s %s/%s/", index, interface, group);
	prefix = key.len;

	while ((value = str_token(&values, '\t'))) {
		name = str_token(&rest, '\t');
		if (!name || !parse_u64(value, &v))
			return false;
		key.len = prefix;
		str_puts(&key, name);
		change = deltas_put(&n->d, key.buf, NO_CPU, v);
		if (!strcmp(group, "link"))
			nic_add_rate(n, interface, name, change);
	}
	return true;
}

/* Adds the fact "nic:host/eth0/qdisc" of a group of an interface's outgoing packets. */
static void nic_add_qdisc(struct ingest *in, const char *interface, const char *group)
{
	autofree char *name = xasprintf("nic:%s/qdisc", interface);
	const char *kind = group + strlen("qdisc:");

	if (str_starts(group, "qdisc:") && strcmp(kind, "ingress") && strcmp(kind, "clsact"))
		ingest_fact(in, name, kind);
}

static bool nic_parse_line(char *line, void *nic)
{
	struct nic *n = nic;
	const char *kind = str_token(&line, '\t'), *netns = str_token(&line, '\t');
	const char *index = str_token(&line, '\t'), *name = str_token(&line, '\t');
	const char *group = str_token(&line, '\t');
	autofree char *interface = NULL, *key = NULL;
	char **names;
	bool good = true;

	if (!group || !line || !*index || strspn(index, "0123456789") != strlen(index))
		return false;
	interface = xasprintf("%s/%s", netns, name);
	key = xasprintf("%s %s %s", netns, index, group); /* a rename keeps the names of counters */
	names = nic_find_names(n, key);
	if (!strcmp(kind, "n")) {
		if (!*names)
			nic_add_qdisc(n->in, interface, group);
		free(*names);
		*names = xstrdup(line);
	} else if (!strcmp(kind, "v") && *names) {
		good = nic_add_values(n, index, interface, group, *names, line);
	} else {
		good = false;
	}
	return good;
}

/* --- metrics and notes --- */

/* One counter of one interface name, summed over all numbers of the interface. */
struct total {
	double sum, known_s;
	bool known, partial;
};

static void nic_total_add(struct total *t, const struct deltas *d, const struct delta *c)
{
	t->sum += c->sum;
	t->known_s += c->known_s;
	t->known |= c->known_s > 0;
	t->partial |= c->between || delta_gone(d, c);
}

static void nic_add_total_metric(struct ingest *in, const char *name, const struct total *t,
				 double window_s)
{
	if (!t->known)
		return;
	ingest_metric_of(in, "nic", name, NO_CPU, "1", t->sum);
	if (t->known_s < 0.99 * window_s)
		ingest_metric_of(in, "nic_known_s", name, NO_CPU, "s", t->known_s);
}

/* Notes that an interface did not exist all the time. Each has the counter "link/rx_packets". */
static void nic_note_partial(struct ingest *in, const char *name, const struct total *t,
			     double window_s)
{
	const char *end = strstr(name, "/link/rx_packets");
	autofree char *what =
		end && t->partial ? xasprintf("the interface %.*s", (int)(end - name), name) : NULL;

	if (what)
		note_add(&in->notes, known_partly, "nic", what, t->known_s, window_s);
}

static void nic_add_metrics(struct ingest *in, const struct nic *n)
{
	double window_s = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	autofree struct total *list = xcalloc(n->d.n + 1, sizeof(*list));
	freed(intern_free) struct intern names = {0};
	size_t k;

	for (size_t i = 0; i < n->d.n; i++) {
		k = intern_str(&names, strchr(n->d.d[i].name, ' ') + 1);
		nic_total_add(&list[k], &n->d, &n->d.d[i]);
	}
	for (k = 0; k < names.n; k++) {
		nic_add_total_metric(in, intern_get(&names, (uint32_t)k), &list[k], window_s);
		nic_note_partial(in, intern_get(&names, (uint32_t)k), &list[k], window_s);
	}
}

static void nic_free(void *nic)
{
	struct nic *n = nic;

	array_free(e, n->names, n->groups.n, free(*e));
	intern_free(&n->groups);
	deltas_free(&n->d);
}

static size_t nic_read_snap(struct ingest *in, void *nic, char *text, uint64_t before_ns,
			    uint64_t t_ns)
{
	struct nic *n = nic;

	(void)before_ns;
	n->in = in;
	deltas_reading(&n->d, in, t_ns);
	return snap_lines(text, nic_parse_line, n);
}

static void nic_finish(struct ingest *in, void *nic, double covered_s)
{
	struct nic *n = nic;

	if (covered_s > 0)
		nic_add_metrics(in, n);
	deltas_note_resets(in, &n->d, "nic");
}

const struct parser parser_nic = {
	.files = {"nic.snap"},
	.snaps = {"nic", "nic.snap", false, sizeof(struct nic), nic_read_snap, nic_finish,
		  nic_free},
};

/* --- nic_state.tsv: how interfaces are set up --- */

/* Adds a number as a metric of "host/eth0/rx_ring", and a word as a fact "nic:host/eth0/driver". */
static void nic_state_add(struct ingest *in, const char *object, const char *value)
{
	uint64_t v;
	autofree char *name = NULL;

	if (parse_u64(value, &v)) {
		ingest_metric_of(in, "nic_state", object, NO_CPU, "1", (double)v);
		return;
	}
	name = xasprintf("nic:%s", object);
	ingest_fact(in, name, value);
}

static int nic_state_read_rows(struct ingest *in, struct tsv *t, struct error *err)
{
	(void)err;
	for (size_t row = 0; row < t->rows; row++) {
		autofree char *object =
			xasprintf("%s/%s/%s", tsv_text(t, row, "netns"),
				  tsv_text(t, row, "interface"), tsv_text(t, row, "key"));

		nic_state_add(in, object, tsv_text(t, row, "value"));
	}
	return 0;
}

const struct parser parser_nic_state = {.files = {"nic_state.tsv"},
					.timed = true,
					.collector = "nic",
					.columns = "netns interface key value",
					.rows = nic_state_read_rows};

/* --- net_sysctls: the settings of the workload's network namespace --- */

static char *net_sysctls_of_host(const struct ingest *in, struct error *err)
{
	char *path = in->host_dir ? xasprintf("%s/sysctls", in->host_dir) : NULL, *text = NULL;

	if (path && path_exists(path))
		file_read(path, &text, NULL, err);
	free(path);
	return text;
}

/*
 * Adds the fact "sysctl:net.core.rmem_max" for a line that the host's sysctls do not have. Nearly
 * all lines are the host's. The number of tracked connections is no setting.
 */
static int net_sysctls_read_file(struct ingest *in, const char *path, struct error *err)
{
	autofree char *text = NULL, *host = NULL;
	char *line, *equals, *name;
	struct error bad = {0};
	freed(intern_free) struct intern known = {0};
	int rc = file_read(path, &text, NULL, err);

	host = rc ? NULL : net_sysctls_of_host(in, &bad);
	if (error_of_machine(bad.code))
		rc = error_set(err, bad.code, "%s", bad.text);
	for (char *rest = host; (line = str_token(&rest, '\n'));)
		intern_str(&known, line);
	for (char *rest = rc ? NULL : text; (line = str_token(&rest, '\n'));) {
		equals = strstr(line, " = ");
		if (!equals || intern_find(&known, line, strlen(line)) != INTERN_NONE ||
		    str_starts(line, "net.netfilter.nf_conntrack_count "))
			continue;
		*equals = '\0';
		name = xasprintf("sysctl:%s", line);
		ingest_fact(in, name, equals + 3);
		free(name);
	}
	return rc;
}

const struct parser parser_net_sysctls = {
	.files = {"net_sysctls"}, .timed = true, .read = net_sysctls_read_file};

/* --- the table --- */

/* --- the queue in the name of a counter --- */

/*
 * THE TABLE of sscanf patterns. %u is the queue. A pattern matches if sscanf reaches %n. `of` is
 * the direction; NULL means that the rest of the name gives the direction.
 */
static const struct {
	const char *pattern, *of;
} patterns[] = {
	{"rx%u_%n", "rx"},	  {"tx%u_%n", "tx"},	    /* mlx5, virtio_net */
	{"rx_queue_%u_%n", "rx"}, {"tx_queue_%u_%n", "tx"}, /* ixgbe, igb, ice, veth */
	{"rx-%u.%n", "rx"},	  {"tx-%u.%n", "tx"},	    /* i40e, sfc */
	{"rxq%u_%n", "rx"},	  {"txq%u_%n", "tx"},	    {"rxq%u:%n", "rx"},
	{"txq%u:%n", "tx"},	  {"rx_%u_%n", "rx"},	    {"tx_%u_%n", "tx"},
	{"rxq_%u_%n", "rx"},	  {"txq_%u_%n", "tx"},	    {"rx.%u.%n", "rx"},
	{"tx.%u.%n", "tx"},	  {"queue_%u_%n", NULL}, /* ena */
	{"[%u]: %n", NULL},	  {"[%u]:%n", NULL},	 /* bnxt */
	{"q%u_%n", NULL},	  {"ch%u_%n", "ch"},	 /* mlx5: a channel for both directions */
	{"rx%*[^[][%u]%n", "rx"}, {"tx%*[^[][%u]%n", "tx"}, /* gve */
};

static const char *nic_name_way(const char *rest)
{
	return str_starts(rest, "rx") ? "rx" : str_starts(rest, "tx") ? "tx" : "queue";
}

/* Recognises frame size counters, such as "rx_64_bytes_phy" and "rx_65_to_127_bytes". */
static bool nic_is_size(const char *rest)
{
	return str_starts(rest, "byte") || str_starts(rest, "to_") || str_starts(rest, "Byte");
}

/*
 * Finds the queue in the name of a driver's counter, such as "rx3_cache_reuse",
 * "rx_queue_3_packets", "queue_3_rx_cnt", "[3]: rx_packets", "rx_bytes[3]" or "ch3_poll". Fills
 * `queue` with "rx-3" or "ch-3". Returns false if the name contains no queue.
 */
static bool nic_queue(const char *name, char *queue, size_t size)
{
	unsigned int n;

	for (size_t i = 0; i < array_size(patterns); i++) {
		int end = 0;

		if (sscanf(name, patterns[i].pattern, &n, &end) != 1 || !end ||
		    (str_starts(patterns[i].pattern + 2, "_%u") && nic_is_size(name + end)))
			continue;
		snprintf(queue, size, "%s-%u",
			 patterns[i].of ? patterns[i].of : nic_name_way(name + end), n);
		return true;
	}
	return false;
}

/* The kinds of counters, with the names that drivers use; NULL: none. The first match wins. */
static const struct counter_kind nic_kinds[] = {
	{"*drop*", "drop"},	  {"*discard*", "drop"},    {"*out_of_buffer*", "drop"},
	{"*no_buf*", "drop"},	  {"*nobuf*", "drop"},	    {"*missed*", "drop"},
	{"*overrun*", "drop"},	  {"*overflow*", "drop"},   {"*fifo*", "drop"},
	{"*alloc*fail*", "drop"}, {"*alloc_err*", "drop"},  {"*no_desc*", "drop"},
	{"*no_wqe*", "drop"},	  {"*nodesc*", "drop"},	    {"*interrupt*", NULL},
	{"*excess*", "error"},	  {"*deferr*", NULL},	    {"*err*", "error"},
	{"*crc*", "error"},	  {"*bad*", "error"},	    {"*fail*", "error"},
	{"*timeout*", "error"},	  {"*collision*", "error"}, {"*carrier*", "error"},
	{"*queue_stop*", "busy"}, {"*_xon*", "pause"},	    {"*_xoff*", "pause"},
	{"*pause*", "pause"},
};

const char *nic_kind(const char *name)
{
	return counter_kind_of(nic_kinds, array_size(nic_kinds), name, FNM_CASEFOLD);
}

/* --- what ethtool printed --- */

/* Returns NAN if an output lacks the counter or the counter went backwards. */
static double ethtool_change_of(const struct ethtool_text *e, const struct ethtool_row *row)
{
	if (row->seen != e->outputs || row->last < row->first)
		return NAN;
	return (double)(row->last - row->first);
}

/* Returns a rate that is not finite without --seconds. Its cell stays empty. */
static double ethtool_rate_of(const struct ethtool_text *e, const struct ethtool_row *row,
			      const struct query *q)
{
	return e->rates ? row->sum / e->outputs : ethtool_change_of(e, row) / q->work.seconds;
}

static void ethtool_put_row(const struct ethtool_text *e, const struct ethtool_row *r,
			    const struct query *q, const char *queue, struct table *t)
{
	double count = e->rates ? NAN : ethtool_change_of(e, r), rate = ethtool_rate_of(e, r, q);
	struct value *row = table_row(t);

	table_set(t, row, "interface", value_str(t, r->interface));
	table_set(t, row, "source", value_str(t, "driver"));
	table_set(t, row, "queue", value_str(t, *queue ? queue : NULL));
	table_set(t, row, "name", value_str(t, r->name));
	table_set(t, row, "kind", value_str(t, nic_kind(r->name)));
	table_set(t, row, "count", value_real(count));
	table_set(t, row, "per_s", value_real(rate));
}

static bool ethtool_changed(const struct ethtool_text *e, const struct ethtool_row *r)
{
	return e->rates ? r->sum > 0 : ethtool_change_of(e, r) > 0;
}

static void ethtool_put_rows(const struct ethtool_text *e, const struct query *q, struct table *t)
{
	long left = query_limit(q, LONG_MAX);

	for (size_t i = 0; i < e->n && left; i++) {
		char queue[32] = "";
		bool has_queue = nic_queue(e->rows[i].name, queue, sizeof(queue));

		if ((!q->all && !ethtool_changed(e, &e->rows[i])) || (q->by && !has_queue))
			continue;
		ethtool_put_row(e, &e->rows[i], q, queue, t);
		left--;
	}
}

/* Adds a note with the names of the counters that have no valid change. */
static void ethtool_note_unknown(const struct ethtool_text *e, struct table *t)
{
	freed(str_free) struct str names = {0};
	size_t n = 0;

	for (size_t i = 0; i < e->n && !e->rates; i++)
		if (isnan(ethtool_change_of(e, &e->rows[i])) && n++ < 5)
			str_printf(&names, "%s%s", names.len ? ", " : "", e->rows[i].name);
	if (n) {
		note_add(&t->notes, ethtool_backwards, n, names.buf, n > 5 ? " ..." : "");
		t->lossy = true;
	}
}

static int nic_from_ethtool(const struct ethtool_text *e, const struct query *q, struct table *t,
			    struct error *err)
{
	if (q->by && strcmp(q->by, "queue"))
		return error_set(err, EINVAL, "table nic takes only --by queue with --ethtool");
	if (!e->rates && e->outputs < 2)
		return error_set(
			err, ENODATA,
			"one output of ethtool -S shows no change: append a later one and give the seconds between them with --seconds");
	ethtool_put_rows(e, q, t);
	if (e->rates && e->outputs > 1)
		note_add(&t->notes, table_how, "mean of all rounds");
	else if (!e->rates && e->outputs > 2)
		note_add(&t->notes, table_how, "from the first to the last output");
	if (!e->rates && !(q->work.seconds > 0))
		note_add(&t->notes, table_how, "no rates; --seconds says how long the text spans");
	if (!q->all)
		note_add(&t->notes, counters_changed_only, "only counters that changed");
	ethtool_note_unknown(e, t);
	return 0;
}

/* --- the settings of the interfaces of a block's runs --- */

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

/* Recognises values that say nothing: no channels of that kind, or the default size limit. */
static bool nic_setting_is_idle(const char *key, const char *value)
{
	return (strstr(key, "_channels") && !strcmp(value, "0")) ||
	       (str_ends(key, "_max_size") && !strcmp(value, "65536"));
}

static void nic_setting_add(struct str *s, const struct changes *state, const char *interface,
			    size_t i)
{
	autofree char *value = changes_state(state, interface, shown[i].key, shown[i].is_switch);
	autofree char *max =
		shown[i].max ? changes_state(state, interface, shown[i].max, false) : NULL;
	autofree char *both = value && max ? xasprintf("%s of %s", value, max) : NULL;

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
}

/* Returns the driver in the first run that has one, or NULL. */
static const char *nic_driver_of(struct block_table *k, const char *interface)
{
	autofree char *name = xasprintf("nic:%s/driver", interface);
	const char *driver = NULL;

	for (int i = 0; i < k->b->n && !driver; i++)
		driver = store_run_fact(k->s, k->b->runs[i].id, name);
	return driver;
}

static void nic_setting_note_interface(struct block_table *k, const struct changes *state,
				       const char *interface)
{
	const char *driver = nic_driver_of(k, interface);
	freed(str_free) struct str s = {0};

	for (size_t i = 0; i < array_size(shown); i++)
		nic_setting_add(&s, state, interface, i);
	if (driver || s.len)
		note_add_block(&k->t->notes, &state->b->block, nic_settings, interface,
			       driver ? driver : "", s.len ? s.buf + (driver ? 0 : 2) : "");
}

/* Returns true if the interface moved packets and is not loopback. */
static bool nic_is_at_work(const struct changes *c, const char *interface)
{
	static const char *const moved[] = {"rx_packets", "tx_packets"};
	bool busy = false;

	for (size_t i = 0; i < array_size(moved); i++) {
		autofree char *name = xasprintf("%s/link/%s", interface, moved[i]);
		const struct change_row *row = changes_find(c, name, NO_CPU);

		busy |= row && change_happened(c, row);
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

/*
 * Adds a note with the settings of each interface that moved packets. `c` has the block's
 * counters.
 */
static int nic_settings(struct block_table *k, const struct changes *c, struct error *err)
{
	freed(changes_free) struct changes state;
	int rc = changes_read(&state, k, "nic_state", OF_SIDE, err);

	for (size_t i = 0; i < state.n && !rc; i++) {
		const char *key = nic_setting_key_of(state.row[i].name);
		autofree char *interface = NULL;

		if (!key || strcmp(key, "up"))
			continue;
		interface = xstrndup(state.row[i].name, (size_t)(key - 1 - state.row[i].name));
		if (nic_is_at_work(c, interface))
			nic_setting_note_interface(k, &state, interface);
	}
	return rc;
}

/* --- the table of a capture --- */

/*
 * nic: the counters of the interfaces in the host's and the workload's network namespace. The
 * counters are the kernel's, each queue's and the driver's. --by interface shows only the kernel's
 * counters. --by queue shows only the queues' counters. Notes below the table list the settings of
 * the interfaces.
 */

static const struct column nic_columns[] = {
	SIDE_COLUMNS,
	{"netns", .type = V_STR, .what = "host, or workload if its namespace differs"},
	{"interface", .type = V_STR},
	{"source", .type = V_STR,
	 .what = "kernel, queue (the kernel's counter of a queue or queueing discipline) or driver"},
	{"queue", .type = V_STR, .what = "the queue in the name of a driver's counter"},
	{"name", .type = V_STR},
	{"kind", .type = V_STR, .what = "drop, error, busy or pause, from the counter's name"},
	{"count", .type = V_REAL, .digits = 1,
	 .what = "count in the window; estimate over the runs"},
	{"per_s", "1/s", V_REAL, .digits = 1, .spread = SPREAD_RANGE},
	{"per_mib", "1/MiB", V_REAL, .digits = 4, .what = "per MiB of the workload's bytes"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

enum nic_source { KERNEL, QUEUE, DRIVER };
static const char *const source_names[] = {"kernel", "queue", "driver"};

/* "host/eth0/link/rx_packets" */
struct nic_counter {
	const struct change_row *row;
	char *copy;
	const char *netns, *interface, *name;
	enum nic_source source;
	char queue[32]; /* "" for no queue */
};

static void nic_counter_parse(struct nic_counter *k, const struct change_row *row)
{
	char *rest = k->copy = xstrdup(row->name);
	const char *group;

	k->row = row;
	k->netns = str_token(&rest, '/');
	k->interface = str_token(&rest, '/');
	group = str_token(&rest, '/');
	k->name = rest ? rest : "";
	k->source = group && !strcmp(group, "link")	 ? KERNEL
		    : group && !strcmp(group, "ethtool") ? DRIVER
							 : QUEUE;
	k->queue[0] = '\0';
	if (k->source == QUEUE && group)
		strncat(k->queue, group, sizeof(k->queue) - 1);
	else if (k->source == DRIVER)
		nic_queue(k->name, k->queue, sizeof(k->queue));
}

static int nic_in_order(const void *a, const void *b)
{
	const struct nic_counter *x = a, *y = b;
	int rc = strcmp(x->netns, y->netns);

	rc = rc ?: strverscmp(x->interface ? x->interface : "", y->interface ? y->interface : "");
	rc = rc ?: (int)x->source - (int)y->source;
	if (!rc && x->source == QUEUE)
		rc = strverscmp(x->queue, y->queue);
	return rc ? rc : strverscmp(x->name, y->name);
}

static bool nic_wanted(const struct nic_counter *k, const struct changes *c, const struct query *q)
{
	if (q->by && !strcmp(q->by, "interface") && k->source != KERNEL)
		return false;
	if (q->by && !strcmp(q->by, "queue") && !k->queue[0])
		return false;
	return q->all || change_happened(c, k->row);
}

static void nic_put_row(const struct changes *c, const struct nic_counter *k, struct table *t)
{
	struct value *row = block_row(t, &c->b->block);

	table_set(t, row, "netns", value_str(t, k->netns));
	table_set(t, row, "interface", value_str(t, k->interface));
	table_set(t, row, "source", value_str(t, source_names[k->source]));
	table_set(t, row, "queue", value_str(t, k->queue[0] ? k->queue : NULL));
	table_set(t, row, "name", value_str(t, k->name));
	table_set(t, row, "kind", value_str(t, nic_kind(k->name)));
	changes_put(c, k->row, t, row);
}

static void nic_put_rows(const struct changes *c, const struct query *q, struct table *t)
{
	autofree struct nic_counter *list = xcalloc(c->n + 1, sizeof(*list));
	long left = query_limit(q, LONG_MAX);

	for (size_t i = 0; i < c->n; i++)
		nic_counter_parse(&list[i], &c->row[i]);
	array_sort(list, c->n, nic_in_order);
	for (size_t i = 0; i < c->n && left; i++) {
		if (!nic_wanted(&list[i], c, q))
			continue;
		nic_put_row(c, &list[i], t);
		left--;
	}
	for (size_t i = 0; i < c->n; i++)
		free(list[i].copy);
}

static int nic_put_block(struct block_table *k, struct error *err)
{
	freed(changes_free) struct changes c;
	int rc = changes_read(&c, k, "nic", OF_SIDE, err);

	k->found += c.n;
	rc = rc ?: changes_known(&c, k, "nic_known_s", err);
	if (!rc)
		nic_put_rows(&c, k->q, k->t);
	return rc ?: nic_settings(k, &c, err);
}

static int nic_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	(void)s;
	if (q->bare.ethtool)
		return nic_from_ethtool(q->bare.ethtool, q, t, err);
	return error_set(err, EINVAL, "table nic is made from a capture, or from --ethtool FILE");
}

const struct measure measure_nic = {
	.name = "nic",
	.what = "counters of interfaces and their queues, and interface settings",
	MEASURE_COLUMNS(nic_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "by limit all",
		    [SOURCE_TEXT] = "by limit all seconds"},
	.whole = "a network card counts the packets of all processes",
	.spare = "runs count source",
	.keys = "interface queue",
	.block = nic_put_block,
	.notes = changes_note,
	.how = "counters are interpolated between readings, and the workload's bytes (per_mib) between its points; they differ a little at the window's ends; they are those of the whole interface, for all programs",
	.run = nic_run,
};
