// SPDX-License-Identifier: GPL-2.0-only
/*
 * queues.snap: a line for each object that the kernel lists, with tabs between the fields:
 *
 *	link ifindex=4 name=eth0
 *	queue id=0 type=0 ifindex=4 napi-id=257 io-uring=1
 *
 * The ids of NAPI instances and page pools differ between runs. So they have the name of their
 * queue: "eth0/rx-0", a second pool "eth0/rx-0.1". Without a queue they are "eth0/napi" and
 * "eth0/pool".
 */
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"
#include "lib/str.h"

enum { ATTRS = 16 };

/* A line, cut up in place. */
struct object {
	const char *kind, *link; /* link: the name of an interface */
	struct {
		const char *name;
		double value;
	} attr[ATTRS];
	size_t n;
};

struct queues {
	struct ingest *in;
	uint64_t t_ns;
	struct object *list; /* the present reading */
	size_t n, cap;
	struct intern keys, names; /* "pool 17", and its name under the same number */
	struct gauges gauges;	   /* METRIC:OBJECT */
	struct deltas stats;	   /* "eth0/rx-0/recycle-ring" */
};

static bool queues_parse_line(char *line, void *queues)
{
	struct object o = {.kind = str_token(&line, '\t')};
	struct queues *q = queues;
	char *name, *value;

	for (; o.n < ATTRS && (name = str_token(&line, '\t')); o.n++) {
		value = strchr(name, '=');
		if (!value)
			return false;
		*value++ = '\0';
		o.attr[o.n].name = name;
		if (!strcmp(name, "name"))
			o.link = value;
		else if (!parse_real(value, &o.attr[o.n].value))
			return false;
	}
	array_add(q->list, q->n, q->cap, o);
	return o.n > 0;
}

static double object_get(const struct object *o, const char *name)
{
	for (size_t i = 0; o && i < o->n; i++)
		if (!strcmp(o->attr[i].name, name))
			return o->attr[i].value;
	return NAN;
}

static const struct object *queues_find(const struct queues *q, const char *kind, const char *attr,
					double value)
{
	return array_find(o, q->list, q->n, !strcmp(o->kind, kind) && object_get(o, attr) == value);
}

/* Returns "eth0/" and a queue, such as rx-0, or else the kind; NULL for an unknown interface. */
static char *object_base(const struct queues *q, const struct object *o, const char *kind,
			 const struct object *queue)
{
	const struct object *link = queues_find(q, "link", "ifindex", object_get(o, "ifindex"));

	if (!link || !link->link)
		return NULL;
	if (!queue)
		return xasprintf("%s/%s", link->link, kind);
	return xasprintf("%s/%s-%.0f", link->link, object_get(queue, "type") == 0 ? "rx" : "tx",
			 object_get(queue, "id"));
}

/* Returns the name of an instance or a pool, which it keeps in all readings, or NULL. */
static const char *object_name(struct queues *q, const char *kind, double id,
			       const struct object *o)
{
	const struct object *queue = queues_find(q, "queue", "napi-id", object_get(o, "napi-id"));
	autofree char *key = xasprintf("%s %.0f", kind, id), *base = object_base(q, o, kind, queue);
	autofree char *name = base ? xstrdup(base) : NULL;
	uint32_t n = intern_find(&q->keys, key, strlen(key));

	if (n != INTERN_NONE || !base)
		return n == INTERN_NONE ? NULL : intern_get(&q->names, n);
	for (int i = 1; intern_find(&q->names, name, strlen(name)) != INTERN_NONE; i++) {
		free(name);
		name = xasprintf("%s.%d", base, i);
	}
	intern_str(&q->keys, key);
	return intern_get(&q->names, intern_str(&q->names, name));
}

static const struct gauge *put(struct queues *q, const char *metric, const char *object,
			       double value)
{
	autofree char *full = xasprintf("%s:%s", metric, object);

	return gauges_put(&q->gauges, full, value);
}

/* Puts the attributes of an object. Without a metric they are counters. */
static void put_attrs(struct queues *q, const struct object *o, const char *metric,
		      const char *name)
{
	for (size_t i = 0; i < o->n; i++) {
		autofree char *key = xasprintf("%s/%s", name, o->attr[i].name);
		double value = o->attr[i].value;

		if (metric)
			put(q, metric, key, value);
		else if (value >= 0 && value < 1e18)
			deltas_put(&q->stats, key, NO_CPU, (uint64_t)value);
	}
}

static void put_owner(struct queues *q, const char *name, const char *owner, bool owns)
{
	autofree char *object = xasprintf("%s/%s", name, owner);
	autofree char *series = xasprintf("queue_owned:%s", object);
	const struct gauge *g = put(q, "queue_owner_pct", object, owns);

	if (g->first_ns && *owner && strcmp(owner, "none"))
		ingest_point(q->in, series, q->t_ns, owns);
}

static void put_queue(struct queues *q, const struct object *queue)
{
	static const char *const owners[][2] = {
		{"zcrx", "io-uring"}, {"devmem", "dmabuf"}, {"xsk", "xsk"}};
	const struct object *napi = queues_find(q, "napi", "id", object_get(queue, "napi-id"));
	autofree char *name = object_base(q, queue, NULL, queue);
	bool none = true, owns;

	if (!name)
		return;
	for (size_t i = 0; i < array_size(owners); i++) {
		owns = !isnan(object_get(queue, owners[i][1]));
		put_owner(q, name, owners[i][0], owns);
		none &= !owns;
	}
	put_owner(q, name, "none", none);
	if (napi)
		put_attrs(q, napi, "queue_state", name);
}

static void put_pool(struct queues *q, const struct object *pool, const char *name)
{
	autofree char *series = xasprintf("page_pool_mem:%s", name);

	put_attrs(q, pool, "page_pool_mean", name);
	if (!isnan(object_get(pool, "inflight-mem")))
		ingest_point(q->in, series, q->t_ns, object_get(pool, "inflight-mem"));
}

static void put_object(struct queues *q, const struct object *o)
{
	bool napi = !strcmp(o->kind, "napi"), stats = !strcmp(o->kind, "page-pool-stats");
	const char *name = NULL;

	if (napi && queues_find(q, "queue", "napi-id", object_get(o, "id")))
		return; /* its queue has it */
	if (napi || stats || !strcmp(o->kind, "page-pool"))
		name = object_name(q, napi ? "napi" : "pool", object_get(o, stats ? "info" : "id"),
				   o);
	if (name && napi) {
		put_owner(q, name, "", true);
		put_attrs(q, o, "queue_state", name);
	} else if (name && stats) {
		put_attrs(q, o, NULL, name);
	} else if (name) {
		put_pool(q, o, name);
	}
}

static size_t queues_read_snap(struct ingest *in, void *queues, char *text, uint64_t before_ns,
			       uint64_t t_ns)
{
	struct queues *q = queues;
	size_t bad;

	q->in = in;
	q->t_ns = t_ns;
	q->n = 0;
	gauges_reading(&q->gauges, in, before_ns, t_ns);
	deltas_reading(&q->stats, in, t_ns);
	bad = snap_lines(text, queues_parse_line, q);
	for (size_t i = 0; i < q->n; i++)
		if (!strcmp(q->list[i].kind, "queue"))
			put_queue(q, &q->list[i]);
		else
			put_object(q, &q->list[i]);
	return bad;
}

/* --- the metrics --- */

static void add_owner(struct ingest *in, const char *name, const struct gauge *g)
{
	double start = (double)in->run.start_ns, window = (double)in->run.end_ns - start;

	if (!(g->area > 0))
		return;
	ingest_metric_of(in, "queue_owner_pct", name, NO_CPU, "%", 100 * g->area / g->seconds);
	ingest_metric_of(in, "queue_owner_from_s", name, NO_CPU, "s",
			 fmax((double)g->first_ns - start, 0) / 1e9);
	ingest_metric_of(in, "queue_owner_to_s", name, NO_CPU, "s",
			 fmin((double)g->last_ns - start, window) / 1e9);
}

/* Adds the part of the returned pages that each pool kept, from the last five of its statistics. */
static void add_recycled(struct ingest *in, const struct deltas *stats)
{
	static const char first[] = "recycle-cached", last[] = "recycle-released-refcnt";

	for (size_t i = 0; i + 4 < stats->n; i++) {
		const struct delta *d = &stats->d[i];
		int len = (int)(strlen(d->name) - strlen(first));
		autofree char *name = xasprintf("%.*srecycled_pct", len, d->name);
		double kept = d[0].sum + d[2].sum, gone = d[3].sum + d[4].sum;

		if (str_ends(d->name, first) && str_ends(d[4].name, last))
			ingest_metric_of(in, "page_pool_mean", name, NO_CPU, "%",
					 100 * kept / (kept + gone));
	}
}

static void queues_finish(struct ingest *in, void *queues, double covered_s)
{
	struct queues *q = queues;

	for (size_t i = 0; i < q->gauges.n && covered_s > 0; i++) {
		autofree char *name = xstrdup(intern_get(&q->gauges.names, (uint32_t)i));
		const struct gauge *g = &q->gauges.gauges[i];
		char *object = name;
		const char *metric = str_token(&object, ':');

		if (!strcmp(metric, "queue_owner_pct"))
			add_owner(in, object, g);
		else
			ingest_metric_of(
				in, metric, object, NO_CPU, str_ends(object, "-mem") ? "B" : "1",
				strcmp(metric, "queue_state") ? g->area / g->seconds : g->last);
	}
	if (covered_s > 0) {
		deltas_add_metrics(in, &q->stats, "queues", "page_pool");
		add_recycled(in, &q->stats);
	}
}

static void queues_free(void *queues)
{
	struct queues *q = queues;

	free(q->list);
	intern_free(&q->keys);
	intern_free(&q->names);
	gauges_free(&q->gauges);
	deltas_free(&q->stats);
}

const struct parser parser_queues = {
	.files = {"queues.snap"},
	.snaps = {"queues", "queues.snap", true, sizeof(struct queues), queues_read_snap,
		  queues_finish, queues_free},
};
