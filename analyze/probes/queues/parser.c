// SPDX-License-Identifier: GPL-2.0-only
/*
 * queues.snap: the objects of the kernel's family "netdev", a line for each (lib/netdev.h), with
 * tabs between the fields:
 *
 *	netns 4026531840
 *	link ifindex=4 name=eth0
 *	queue id=0 type=0 ifindex=4 napi-id=257 io-uring=1
 *
 * The ids of NAPI instances and page pools differ between runs. So they have the name of their
 * queue: "eth0/rx-0", a second pool "eth0/rx-0.1". Without a queue they are "eth0/napi-0" and
 * "eth0/pool-0".
 */
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"
#include "lib/netdev.h"
#include "lib/str.h"
#include "lib/zc_uapi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct object {
	double value[NETDEV_ATTRS]; /* by the number of the attribute; NAN: it has none */
	bool of_queue;		    /* an instance that a queue names */
};

struct objects {
	struct object *o;
	size_t n, cap;
};

struct link {
	double index;
	const char *name; /* in the text of the reading */
};

struct queues {
	struct ingest *in;
	uint64_t t_ns, netns;
	struct objects list[NETDEV_QSTATS]; /* objects of the present reading */
	struct link *links;
	size_t nlinks, links_cap;
	struct intern keys, names;	   /* "page-pool 17", and its name under the same number */
	struct gauges owners;		   /* "eth0/rx-0/zcrx": 1 while it owns the queue, else 0 */
	struct gauges pools;		   /* "eth0/rx-0/inflight" */
	struct gauges states, pool_states; /* "eth0/rx-0/irq"; only the last value counts */
	struct deltas stats;		   /* "eth0/rx-0/recycle-ring" */
};

/* --- a line --- */

static bool link_parse(struct queues *q, char *line)
{
	const char *index = str_token(&line, '\t');
	struct link l = {0};

	if (!line || !str_starts(index, "ifindex=") || !str_starts(line, "name=") ||
	    !parse_real(index + strlen("ifindex="), &l.index))
		return false;
	l.name = line + strlen("name=");
	array_add(q->links, q->nlinks, q->links_cap, l);
	return true;
}

/* Attributes that zcost does not know have no number. */
static bool object_parse(struct objects *list, const struct netdev_object *of, char *line)
{
	struct object o = {.of_queue = false};
	char *name, *value;
	double x;

	for (int i = 0; i < NETDEV_ATTRS; i++)
		o.value[i] = NAN;
	while ((name = str_token(&line, '\t'))) {
		value = strchr(name, '=');
		if (!value || !parse_real(value + 1, &x))
			return false;
		*value = '\0';
		for (int i = 0; i < NETDEV_ATTRS; i++)
			if (of->attr[i] && !strcmp(of->attr[i], name))
				o.value[i] = x;
	}
	array_add(list->o, list->n, list->cap, o);
	return true;
}

/* The workload may enter its own namespace after the first readings. */
static bool netns_parse(struct queues *q, const char *line)
{
	uint64_t before = q->netns;
	bool good = parse_u64(line, &q->netns);

	if (good && before && before != q->netns) {
		deltas_restart(&q->stats);
		gauges_restart(&q->owners);
		gauges_restart(&q->pools);
	}
	return good;
}

static bool queues_parse_line(char *line, void *queues)
{
	const char *kind = str_token(&line, '\t');
	struct queues *q = queues;

	if (!line)
		return false;
	for (size_t i = 0; i < NETDEV_QSTATS; i++)
		if (!strcmp(kind, netdev_objects[i].name))
			return object_parse(&q->list[i], &netdev_objects[i], line);
	return !strcmp(kind, "link")	? link_parse(q, line)
	       : !strcmp(kind, "netns") ? netns_parse(q, line)
					: false;
}

/* --- a reading --- */

static struct object *object_find(struct objects *list, int attr, double value)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->o[i].value[attr] == value)
			return &list->o[i];
	return NULL;
}

static const char *link_name(const struct queues *q, double index)
{
	for (size_t i = 0; i < q->nlinks; i++)
		if (q->links[i].index == index)
			return q->links[i].name;
	return NULL;
}

/* Returns "eth0/rx-0", or NULL where the interface or the queue is not known. */
static char *queue_name(const struct queues *q, const struct object *queue)
{
	const double *v = queue ? queue->value : NULL;
	const char *link = v ? link_name(q, v[ZC_NETDEV_A_QUEUE_IFINDEX]) : NULL;
	bool rx = v && v[ZC_NETDEV_A_QUEUE_TYPE] == ZC_NETDEV_QUEUE_TYPE_RX;

	return link ? xasprintf("%s/%s-%.0f", link, rx ? "rx" : "tx", v[ZC_NETDEV_A_QUEUE_ID])
		    : NULL;
}

/* Returns the name of an instance or a pool, which it keeps in all readings. */
static const char *object_name(struct queues *q, const char *kind, double id, double ifindex,
			       double napi)
{
	autofree char *key = xasprintf("%s %.0f", kind, id);
	autofree char *queue = queue_name(
		q, object_find(&q->list[NETDEV_QUEUES], ZC_NETDEV_A_QUEUE_NAPI_ID, napi));
	const char *link = queue ? "" : link_name(q, ifindex);
	freed(str_free) struct str name = {0};
	uint32_t n = intern_find(&q->keys, key, strlen(key));

	if (n != INTERN_NONE)
		return intern_get(&q->names, n);
	if (!link)
		return NULL;
	for (int i = 0; !i || intern_find(&q->names, name.buf, name.len) != INTERN_NONE; i++) {
		str_reset(&name);
		if (!queue)
			str_printf(&name, "%s/%s-%d", link, kind, i);
		else
			str_printf(&name, i ? "%s.%d" : "%s", queue, i);
	}
	intern_str(&q->keys, key);
	return intern_get(&q->names, intern_str(&q->names, name.buf));
}

static const struct gauge *put_gauge(struct gauges *g, const char *name, const char *key,
				     double value)
{
	autofree char *full = xasprintf("%s/%s", name, key);

	return isnan(value) ? NULL : gauges_put(g, full, value);
}

static void put_napi(struct queues *q, const char *name, struct object *napi)
{
	put_gauge(&q->states, name, "napi-id", napi->value[ZC_NETDEV_A_NAPI_ID]);
	for (int i = ZC_NETDEV_A_NAPI_IRQ; netdev_objects[NETDEV_NAPIS].attr[i]; i++)
		put_gauge(&q->states, name, netdev_objects[NETDEV_NAPIS].attr[i], napi->value[i]);
	napi->of_queue = true;
}

static void put_owner(struct queues *q, const char *name, const char *owner, bool owns)
{
	const struct gauge *g = put_gauge(&q->owners, name, owner, owns);
	autofree char *series = xasprintf("queue_owned:%s/%s", name, owner);

	if (g->first_ns && strcmp(owner, "none"))
		ingest_point(q->in, series, q->t_ns, owns);
}

static void put_queue(struct queues *q, const struct object *queue)
{
	static const struct {
		const char *owner;
		int attr;
	} owners[] = {{"zcrx", ZC_NETDEV_A_QUEUE_IO_URING},
		      {"devmem", ZC_NETDEV_A_QUEUE_DMABUF},
		      {"xsk", ZC_NETDEV_A_QUEUE_XSK}};
	struct object *napi = object_find(&q->list[NETDEV_NAPIS], ZC_NETDEV_A_NAPI_ID,
					  queue->value[ZC_NETDEV_A_QUEUE_NAPI_ID]);
	autofree char *name = queue_name(q, queue);
	bool none = true;

	if (!name)
		return;
	for (size_t i = 0; i < array_size(owners); i++) {
		bool owns = !isnan(queue->value[owners[i].attr]);

		put_owner(q, name, owners[i].owner, owns);
		none &= !owns;
	}
	put_owner(q, name, "none", none);
	if (napi)
		put_napi(q, name, napi);
}

/* An instance that no queue names, as those of veth. */
static void put_napi_alone(struct queues *q, struct object *napi)
{
	const char *name = napi->of_queue ? NULL
					  : object_name(q, "napi", napi->value[ZC_NETDEV_A_NAPI_ID],
							napi->value[ZC_NETDEV_A_NAPI_IFINDEX], NAN);

	if (!name)
		return;
	put_gauge(&q->owners, name, "", 1);
	put_napi(q, name, napi);
}

static void put_pool(struct queues *q, const struct object *pool)
{
	const double *v = pool->value;
	const char *name =
		object_name(q, "pool", v[ZC_NETDEV_A_PAGE_POOL_ID],
			    v[ZC_NETDEV_A_PAGE_POOL_IFINDEX], v[ZC_NETDEV_A_PAGE_POOL_NAPI_ID]);
	autofree char *series = name ? xasprintf("page_pool_mem:%s", name) : NULL;

	if (!name)
		return;
	for (int i = 1; netdev_objects[NETDEV_POOLS].attr[i]; i++)
		put_gauge(i == ZC_NETDEV_A_PAGE_POOL_INFLIGHT ||
					  i == ZC_NETDEV_A_PAGE_POOL_INFLIGHT_MEM
				  ? &q->pools
				  : &q->pool_states,
			  name, netdev_objects[NETDEV_POOLS].attr[i], v[i]);
	if (!isnan(v[ZC_NETDEV_A_PAGE_POOL_INFLIGHT_MEM]))
		ingest_point(q->in, series, q->t_ns, v[ZC_NETDEV_A_PAGE_POOL_INFLIGHT_MEM]);
}

static void put_stats(struct queues *q, const struct object *stats)
{
	const char *name =
		object_name(q, "pool", stats->value[ZC_NETDEV_A_PAGE_POOL_STATS_INFO], NAN, NAN);

	for (int i = ZC_NETDEV_A_PAGE_POOL_STATS_FIRST;
	     name && netdev_objects[NETDEV_POOL_STATS].attr[i]; i++) {
		autofree char *key =
			xasprintf("%s/%s", name, netdev_objects[NETDEV_POOL_STATS].attr[i]);

		if (!isnan(stats->value[i]))
			deltas_put(&q->stats, key, NO_CPU, (uint64_t)stats->value[i]);
	}
}

static size_t queues_read_snap(struct ingest *in, void *queues, char *text, uint64_t before_ns,
			       uint64_t t_ns)
{
	struct queues *q = queues;
	size_t bad;

	q->in = in;
	q->t_ns = t_ns;
	q->nlinks = 0;
	for (size_t i = 0; i < NETDEV_QSTATS; i++)
		q->list[i].n = 0;
	gauges_reading(&q->owners, in, before_ns, t_ns);
	gauges_reading(&q->pools, in, before_ns, t_ns);
	deltas_reading(&q->stats, in, t_ns);
	bad = snap_lines(text, queues_parse_line, q);
	for (size_t i = 0; i < q->list[NETDEV_QUEUES].n; i++)
		put_queue(q, &q->list[NETDEV_QUEUES].o[i]);
	for (size_t i = 0; i < q->list[NETDEV_NAPIS].n; i++)
		put_napi_alone(q, &q->list[NETDEV_NAPIS].o[i]);
	for (size_t i = 0; i < q->list[NETDEV_POOLS].n; i++)
		put_pool(q, &q->list[NETDEV_POOLS].o[i]);
	for (size_t i = 0; i < q->list[NETDEV_POOL_STATS].n; i++)
		put_stats(q, &q->list[NETDEV_POOL_STATS].o[i]);
	return bad;
}

/* --- the metrics --- */

static const char *pool_unit(const char *name)
{
	return str_ends(name, "-mem") ? "B" : "1";
}

/* Adds the share of the window that each owner had a queue, and the time between its readings. */
static void add_owners(struct ingest *in, const struct gauges *owners)
{
	uint64_t start = in->run.start_ns, end = in->run.end_ns;
	double window = (double)(end - start) / 1e9;

	for (size_t i = 0; i < owners->n; i++) {
		const struct gauge *g = &owners->gauges[i];
		const char *name = intern_get(&owners->names, (uint32_t)i);

		if (!(g->area > 0))
			continue;
		ingest_metric_of(in, "queue_owner_pct", name, NO_CPU, "%",
				 100 * g->area /
					 (g->seconds > 0.99 * window ? g->seconds : window));
		ingest_metric_of(in, "queue_owner_from_s", name, NO_CPU, "s",
				 g->first_ns < start ? 0 : (double)(g->first_ns - start) / 1e9);
		ingest_metric_of(in, "queue_owner_to_s", name, NO_CPU, "s",
				 ((double)(g->last_ns < end ? g->last_ns : end) - (double)start) /
					 1e9);
	}
}

static void add_states(struct ingest *in, const char *metric, const struct gauges *states)
{
	for (size_t i = 0; i < states->n; i++)
		ingest_metric_of(in, metric, intern_get(&states->names, (uint32_t)i), NO_CPU, "1",
				 states->gauges[i].last);
}

static void queues_finish(struct ingest *in, void *queues, double covered_s)
{
	struct queues *q = queues;

	if (!(covered_s > 0))
		return;
	add_owners(in, &q->owners);
	add_states(in, "queue_state", &q->states);
	add_states(in, "page_pool_state", &q->pool_states);
	gauges_add_metrics(in, &q->pools, "page_pool_mean", "page_pool_max", pool_unit);
	deltas_add_metrics(in, &q->stats, "queues", "page_pool");
}

static void queues_free(void *queues)
{
	struct queues *q = queues;

	for (size_t i = 0; i < NETDEV_QSTATS; i++)
		free(q->list[i].o);
	free(q->links);
	intern_free(&q->keys);
	intern_free(&q->names);
	gauges_free(&q->owners);
	gauges_free(&q->pools);
	gauges_free(&q->states);
	gauges_free(&q->pool_states);
	deltas_free(&q->stats);
}

const struct parser parser_queues = {
	.files = {"queues.snap"},
	.snaps = {"queues", "queues.snap", true, sizeof(struct queues), queues_read_snap,
		  queues_finish, queues_free},
};
