// SPDX-License-Identifier: GPL-2.0-only
/*
 * nic.snap: lines of fields parted by tabs,
 *
 *	n NETNS IFINDEX INTERFACE GROUP name...		the names of a group, from here on
 *	v NETNS IFINDEX INTERFACE GROUP value...
 *
 * GROUP: link (rtnl_link_stats64), ethtool (the driver's counters), rx-0, tx-3 (a queue). An
 * interface that is registered again has another number, and its counters begin again.
 */
#include "analyze/probes/ingest.h"

#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/intern.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	struct str series = {0};

	if (isnan(bytes) || !(n->d.span_s > 0) ||
	    (strcmp(name, "rx_bytes") && strcmp(name, "tx_bytes")))
		return;
	str_printf(&series, "nic_%.2s_gbps:%s", name, interface);
	ingest_point(n->in, series.buf, n->d.t_ns, 8 * bytes / n->d.span_s / 1e9);
	str_free(&series);
}

static bool nic_add_values(struct nic *n, const char *index, const char *interface,
			   const char *group, const char *names, char *values)
{
	char *copy = xstrdup(names), *rest = copy, *name, *value;
	struct str key = {0};
	size_t prefix;
	bool good = true;
	uint64_t v;
	double change;

	str_printf(&key, "%s %s/%s/", index, interface, group);
	prefix = key.len;

	while (good && (value = str_token(&values, '\t'))) {
		name = str_token(&rest, '\t');
		good = name && parse_u64(value, &v);
		if (!good)
			break;
		key.len = prefix;
		str_puts(&key, name);
		change = deltas_put(&n->d, key.buf, NO_CPU, v);
		if (!strcmp(group, "link"))
			nic_add_rate(n, interface, name, change);
	}
	str_free(&key);
	free(copy);
	return good;
}

static bool nic_parse_line(char *line, void *nic)
{
	struct nic *n = nic;
	const char *kind = str_token(&line, '\t'), *netns = str_token(&line, '\t');
	const char *index = str_token(&line, '\t'), *name = str_token(&line, '\t');
	const char *group = str_token(&line, '\t');
	char *interface, *key, **names;
	bool good = true;

	if (!group || !line || !*index || strspn(index, "0123456789") != strlen(index))
		return false;
	interface = xasprintf("%s/%s", netns, name);
	key = xasprintf("%s %s %s", netns, index, group); /* a rename keeps the names of counters */
	names = nic_find_names(n, key);
	if (!strcmp(kind, "n")) {
		free(*names);
		*names = xstrdup(line);
	} else if (!strcmp(kind, "v") && *names) {
		good = nic_add_values(n, index, interface, group, *names, line);
	} else {
		good = false;
	}
	free(key);
	free(interface);
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
	char *what =
		end && t->partial ? xasprintf("the interface %.*s", (int)(end - name), name) : NULL;

	if (what)
		note_add(&in->notes, known_partly, "nic", what, t->known_s, window_s);
	free(what);
}

static void nic_add_metrics(struct ingest *in, const struct nic *n)
{
	double window_s = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	struct total *list = xcalloc(n->d.n + 1, sizeof(*list));
	struct intern names = {0};
	size_t i, k;

	for (i = 0; i < n->d.n; i++) {
		k = intern_str(&names, strchr(n->d.d[i].name, ' ') + 1);
		nic_total_add(&list[k], &n->d, &n->d.d[i]);
	}
	for (k = 0; k < names.n; k++) {
		nic_add_total_metric(in, intern_get(&names, (uint32_t)k), &list[k], window_s);
		nic_note_partial(in, intern_get(&names, (uint32_t)k), &list[k], window_s);
	}
	intern_free(&names);
	free(list);
}

static void nic_free(void *nic)
{
	struct nic *n = nic;
	size_t i;

	for (i = 0; i < n->groups.n; i++)
		free(n->names[i]);
	free(n->names);
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
	char *name;

	if (parse_u64(value, &v)) {
		ingest_metric_of(in, "nic_state", object, NO_CPU, "1", (double)v);
		return;
	}
	name = xasprintf("nic:%s", object);
	ingest_fact(in, name, value);
	free(name);
}

static int nic_state_read_file(struct ingest *in, const char *path, struct error *err)
{
	struct tsv t;
	int rc = tsv_read(&t, path, '\t', err);
	size_t row;

	if (rc)
		return rc;
	rc = tsv_require(&t, err, "netns", "interface", "key", "value", NULL);
	for (row = 0; row < t.rows && !rc; row++) {
		char *object = xasprintf("%s/%s/%s", tsv_text(&t, row, "netns"),
					 tsv_text(&t, row, "interface"), tsv_text(&t, row, "key"));

		nic_state_add(in, object, tsv_text(&t, row, "value"));
		free(object);
	}
	if (!rc && t.short_rows)
		note_add(&in->notes, rows_unreadable, "nic", t.short_rows, "nic_state.tsv");
	tsv_free(&t);
	return rc;
}

const struct parser parser_nic_state = {
	.files = {"nic_state.tsv"}, .timed = true, .read = nic_state_read_file};

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
	char *text = NULL, *host = NULL, *rest, *line, *equals, *name;
	struct error bad = {0};
	struct intern known = {0};
	int rc = file_read(path, &text, NULL, err);

	host = rc ? NULL : net_sysctls_of_host(in, &bad);
	if (error_of_machine(bad.code))
		rc = error_set(err, bad.code, "%s", bad.text);
	for (rest = host; (line = str_token(&rest, '\n'));)
		intern_str(&known, line);
	for (rest = rc ? NULL : text; (line = str_token(&rest, '\n'));) {
		equals = strstr(line, " = ");
		if (!equals || intern_find(&known, line, strlen(line)) != INTERN_NONE ||
		    str_starts(line, "net.netfilter.nf_conntrack_count "))
			continue;
		*equals = '\0';
		name = xasprintf("sysctl:%s", line);
		ingest_fact(in, name, equals + 3);
		free(name);
	}
	intern_free(&known);
	free(host);
	free(text);
	return rc;
}

const struct parser parser_net_sysctls = {
	.files = {"net_sysctls"}, .timed = true, .read = net_sysctls_read_file};
