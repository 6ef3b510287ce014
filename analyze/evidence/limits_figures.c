// SPDX-License-Identifier: GPL-2.0-only

#include "analyze/evidence/limits.h"

#include "analyze/scope/results.h"

#include <math.h>

/* docs/method.md has the reasons of the thresholds. */
const struct limit_kind limit_kinds[LIMITS + 1] = {
	[LIMIT_CPU] = {"cpu", 90, NULL},
	[LIMIT_SOFTIRQ] = {"softirq", 90, NULL},
	[LIMIT_TAKEN] = {"cpu", 30, NULL},
	[LIMIT_QUOTA] = {"quota", 10, NULL},
	[LIMIT_WIRE] = {"wire", 90, NULL},
	[LIMIT_CWND] = {"cwnd", 30, "acknowledgements"},
	[LIMIT_RWND] = {"rwnd", 30, "the receiver"},
	[LIMIT_SNDBUF] = {"sndbuf", 30, NULL},
	[LIMIT_QUEUE] = {"wire", 30, NULL},
	[LIMIT_APPLICATION] = {"application", 30, NULL},
	[LIMIT_NONE] = {.name = "none"},
};

static const double window_full = 0.9;	  /* unacked / cwnd of a sender that cwnd stops */
static const double active_socket = 0.01; /* part of the bytes of the busiest socket */
static const double sending_side = 0.1;	  /* part of the bytes that the busiest side sends */

static double limits_figure(const struct limits_variant *v, const struct limits_side *side,
			    figure_fn figure, const void *arg)
{
	return scope_estimate(v->s, side->b->runs, side->b->n, v->estimator, figure, arg).value;
}

/* Keeps the larger figure. Takes the text over. */
static void limit_found_keep(struct limit_found *f, double share, char *text)
{
	if (isnan(share) || share <= f->share) {
		free(text);
		return;
	}
	free(f->text);
	*f = (struct limit_found){share, text};
}

/* --- CPUs and threads --- */

static void limits_add_cpu(const struct limits_variant *v, struct limits_side *side, int cpu)
{
	double busy = limits_figure(v, side, figure_metric_of,
				    &(struct metric_key){"cpu_pct", NULL, cpu});
	double others = limits_figure(v, side, figure_metric, "others_user_pct");
	double user = busy_part(v->s, v->q, side->b, v->estimator, CPU_APP, cpu);
	double interrupts = busy_part(v->s, v->q, side->b, v->estimator, CPU_SOFT, cpu) +
			    busy_part(v->s, v->q, side->b, v->estimator, CPU_IRQ, cpu);
	struct str s = {0};

	str_printf(&s, "CPU %d is %.1f %% busy", cpu, busy);
	if (interrupts >= 1)
		str_printf(&s, " (%.0f %% in softirqs and interrupts)", interrupts);
	/* The time of other programs is known in user mode only. */
	others = others > user ? user : others >= 1 ? others : 0;
	if (others > 0)
		str_printf(&s, ", less %.1f %% of other programs", others);
	limit_found_keep(&side->found[2 * interrupts > busy - others ? LIMIT_SOFTIRQ : LIMIT_CPU],
			 busy - others, str_take(&s));
}

static int limits_add_cpus(const struct limits_variant *v, struct limits_side *side,
			   struct error *err)
{
	freed(metric_keys_free) struct metric_keys cpus = {0};
	int rc = metric_keys_add(&cpus, v->s, side->b, "cpu_pct", OF_EACH_CPU, err);

	for (size_t i = 0; i < cpus.n; i++)
		limits_add_cpu(v, side, cpus.m[i].key.cpu);
	return rc;
}

struct limits_thread {
	const char *comm;
	double share, wait; /* percent of the window */
};

/* Finds the thread that ran or waited for a CPU the longest. Its share is NAN without threads. */
static struct limits_thread limits_busiest_thread(struct store *s, const struct run *r)
{
	struct limits_thread most = {NULL, NAN, 0};
	double percent = figure_metric(s, r, "seconds") * 1e7, share, wait;
	autofree struct thread_row *rows = NULL;
	int n = store_threads(s, r->id, &rows, NULL);

	for (int i = 0; i < n; i++) {
		if (!rows[i].tid) /* the sum of threads or processes that ended */
			continue;
		wait = isnan(rows[i].wait_ns) ? 0 : rows[i].wait_ns / percent;
		share = rows[i].run_ns / percent + wait;
		share = share > 100 ? 100 : share; /* interpolated between readings */
		if (!isnan(share) && !(share <= most.share))
			most = (struct limits_thread){rows[i].comm, share, wait};
	}
	return most;
}

/* Returns the time in which the busiest thread waited, or also that in which it ran. */
static double limits_thread_figure(struct store *s, const struct run *r, const void *only_wait)
{
	struct limits_thread busiest = limits_busiest_thread(s, r);

	return *(const bool *)only_wait ? busiest.wait : busiest.share;
}

/*
 * A thread that moves between CPUs may run all the time while none of them is busy, and a thread
 * that other programs preempt waits for its CPU.
 */
static void limits_add_thread(const struct limits_variant *v, struct limits_side *side)
{
	double share = limits_figure(v, side, limits_thread_figure, &(bool){false});
	double wait = limits_figure(v, side, limits_thread_figure, &(bool){true});
	struct limits_thread first = limits_busiest_thread(v->s, side->b->runs);

	if (!(share >= limit_kinds[LIMIT_CPU].least))
		limit_found_keep(
			&side->found[LIMIT_TAKEN], wait,
			xasprintf(
				"a thread (%s) waits for %.1f %% of the window for a CPU that other work holds",
				first.comm ? first.comm : "?", wait));
	if (!(share >= limit_kinds[LIMIT_CPU].least) ||
	    side->found[LIMIT_SOFTIRQ].share >= limit_kinds[LIMIT_SOFTIRQ].least ||
	    side->found[LIMIT_CPU].share >= limit_kinds[LIMIT_CPU].least)
		return;
	limit_found_keep(
		&side->found[LIMIT_CPU], share,
		xasprintf(
			"a thread (%s) is running or ready to run for %.1f %% of the window; in the first run it waits %.1f %% of it for a CPU",
			first.comm ? first.comm : "?", share, first.wait));
}

static double limits_quota(struct store *s, const struct run *r, const void *arg)
{
	double waits = figure_metric(s, r, "throttled_quota_s") / figure_metric(s, r, "seconds");
	double cpus = ceil(figure_metric(s, r, "workload_cpu_pct") / 100 + waits), share;

	(void)arg;
	/* Each CPU that the workload wants counts its own wait. NAN stays NAN. */
	share = 100 * waits / (cpus > 1 ? cpus : 1);
	return share > 100 ? 100 : share;
}

/* --- the link --- */

/* These have no wire, so their speed is only a number. */
static const char *const virtual_drivers[] = {"veth",	 "tun",	    "bridge", "dummy",	   "ifb",
					      "bonding", "macvlan", "ipvlan", "virtio_net"};

bool limits_driver_is_virtual(const char *driver)
{
	return str_index(virtual_drivers, array_size(virtual_drivers), driver) >= 0;
}

/* An Ethernet frame takes 24 more bytes: checksum, preamble and the gap to the next frame. */
enum { FRAME_MORE = 24 };

struct limits_link {
	const char *name; /* "host/eth0" */
	const char *way;  /* "rx" or "tx" */
};

static double limits_link_metric(struct store *s, const struct run *r, const char *metric,
				 const char *link, const char *way, const char *key)
{
	autofree char *object = xasprintf("%s/%s%s", link, way, key);

	return run_metric(s, r, metric, object, NO_CPU);
}

/* Returns the bits on the wire in percent of the link's speed. */
static double limits_link_share(struct store *s, const struct run *r, const void *link)
{
	const struct limits_link *l = link;
	const char *way = !strcmp(l->way, "rx") ? "link/rx" : "link/tx";
	double n = limits_link_metric(s, r, "nic", l->name, way, "_bytes") +
		   FRAME_MORE * limits_link_metric(s, r, "nic", l->name, way, "_packets");

	return 100 * 8 * n /
	       (figure_metric(s, r, "seconds") * 1e6 *
		limits_link_metric(s, r, "nic_state", l->name, "", "speed_mbps"));
}

static bool limits_link_is_virtual(const struct limits_variant *v, const struct limits_side *side,
				   const char *link)
{
	autofree char *name = xasprintf("nic:%s/driver", link);
	const char *driver;
	bool is = false;

	for (int i = 0; i < side->b->n; i++) {
		driver = store_run_fact(v->s, side->b->runs[i].id, name);
		is |= driver && limits_driver_is_virtual(driver);
	}
	return is;
}

static void limits_add_link(const struct limits_variant *v, struct limits_side *side,
			    const char *name)
{
	static const char *const ways[] = {"rx", "tx"};
	autofree char *object = xasprintf("%s/speed_mbps", name);
	double speed = limits_figure(v, side, figure_metric_of,
				     &(struct metric_key){"nic_state", object, NO_CPU}),
	       share;

	if (limits_link_is_virtual(v, side, name))
		return;
	for (size_t i = 0; i < array_size(ways); i++) {
		struct limits_link l = {name, ways[i]};

		share = limits_figure(v, side, limits_link_share, &l);
		limit_found_keep(&side->found[LIMIT_WIRE], share,
				 xasprintf("%s %s: %.2f of %g Gbit/s", strchr(name, '/') + 1,
					   ways[i], share * speed / 1e5, speed / 1e3));
	}
}

static int limits_add_links(const struct limits_variant *v, struct limits_side *side,
			    struct error *err)
{
	static const char end[] = "/speed_mbps";
	freed(metric_keys_free) struct metric_keys states = {0};
	int rc = metric_keys_add(&states, v->s, side->b, "nic_state:*/speed_mbps", OF_SIDE, err);

	for (size_t i = 0; i < states.n; i++) {
		const char *object = states.m[i].key.object;
		autofree char *name = xstrndup(object, strlen(object) - strlen(end));

		limits_add_link(v, side, name);
	}
	return rc;
}

/* --- sockets --- */

/* What the sockets that send did, as means over the sockets. Times are percent of the window. */
struct limits_sockets {
	double busy, rwnd, sndbuf;
	double cwnd;		/* waiting for acknowledgements */
	double queue;		/* data wait although cwnd has room */
	double unacked, window; /* segments, of the busiest socket */
	int n;
};

static void limits_add_socket(struct limits_sockets *all, const struct socket_row *r,
			      double window_us)
{
	double busy = r->f[SOCKET_busy_us] / window_us,
	       rwnd = r->f[SOCKET_rwnd_limited_us] / window_us,
	       sndbuf = r->f[SOCKET_sndbuf_limited_us] / window_us, rest;

	busy = busy > 1 ? 1 : busy; /* interpolated between readings */
	if (!all->n++) {
		all->unacked = r->f[SOCKET_unacked];
		all->window = r->f[SOCKET_cwnd];
	}
	all->busy += 100 * busy;
	all->rwnd += 100 * rwnd;
	all->sndbuf += 100 * sndbuf;
	rest = busy - rwnd - sndbuf;
	if (r->f[SOCKET_notsent] > 0 || isnan(rest))
		*(r->f[SOCKET_unacked] >= window_full * r->f[SOCKET_cwnd] ? &all->cwnd
									  : &all->queue) +=
			100 * (rest < 0 ? 0 : rest);
}

/* Adds up the sockets of a run that are not idle. The busiest socket is the first row. */
static struct limits_sockets limits_read_sockets(struct store *s, const struct run *r)
{
	struct limits_sockets all = {0};
	double window_us = 1e6 * figure_metric(s, r, "seconds"), most = 0;
	autofree struct socket_row *rows = NULL;
	int n = store_sockets(s, r->id, &rows, NULL);

	for (int i = 0; i < n; i++)
		most = fmax(most, rows[i].f[SOCKET_bytes_acked]);
	for (int i = 0; i < n; i++)
		if (rows[i].f[SOCKET_bytes_acked] >= active_socket * most && most > 0)
			limits_add_socket(&all, &rows[i], window_us);
	return all;
}

static double limits_socket_figure(struct store *s, const struct run *r, const void *member)
{
	struct limits_sockets all = limits_read_sockets(s, r);
	double sum = *(const double *)((const char *)&all + *(const size_t *)member);

	return all.n ? sum / all.n : NAN;
}

#define SOCKETS_MEAN(v, side, member)                \
	limits_figure(v, side, limits_socket_figure, \
		      &(size_t){offsetof(struct limits_sockets, member)})

static void limits_add_waits(const struct limits_variant *v, struct limits_side *side)
{
	double busy = SOCKETS_MEAN(v, side, busy), rwnd = SOCKETS_MEAN(v, side, rwnd),
	       sndbuf = SOCKETS_MEAN(v, side, sndbuf), cwnd = SOCKETS_MEAN(v, side, cwnd),
	       queue = SOCKETS_MEAN(v, side, queue);
	struct limits_sockets first = limits_read_sockets(v->s, side->b->runs);

	limit_found_keep(
		&side->found[LIMIT_RWND], rwnd,
		xasprintf("waits for the receiver for %.1f %% of the window (rwnd_limited)", rwnd));
	limit_found_keep(
		&side->found[LIMIT_SNDBUF], sndbuf,
		xasprintf("its send buffer is full for %.1f %% of the window (sndbuf_limited)",
			  sndbuf));
	limit_found_keep(
		&side->found[LIMIT_CWND], cwnd,
		xasprintf(
			"cwnd is full with data waiting: %.0f of %.0f segments in flight in the first run",
			first.unacked, first.window));
	limit_found_keep(
		&side->found[LIMIT_QUEUE], queue,
		xasprintf(
			"data wait below TCP (link, qdisc or pacing): %.0f of %.0f segments in flight in the first run",
			first.unacked, first.window));
	limit_found_keep(&side->found[LIMIT_APPLICATION], 100 - busy,
			 xasprintf("the sockets have nothing to send for %.1f %% of the window",
				   100 - busy));
}

/* --- all figures of a variant --- */

static int limits_read_side(const struct limits_variant *v, struct limits_side *side,
			    struct error *err)
{
	double stopped = limits_figure(v, side, limits_quota, NULL);
	int rc = limits_add_cpus(v, side, err);

	side->acked = limits_figure(v, side, figure_metric, "tcp_socket_bytes_acked");
	limits_add_thread(v, side);
	limit_found_keep(
		&side->found[LIMIT_QUOTA], stopped,
		xasprintf("a cgroup's CPU quota stopped the workload for %.1f %% of the window",
			  stopped));
	return rc ?: limits_add_links(v, side, err);
}

int limits_read_figures(struct limits_variant *v, struct error *err)
{
	double most = 0;
	int rc = 0;

	for (int i = 0; i < v->n && !rc; i++)
		rc = limits_read_side(v, &v->sides[i], err);
	for (int i = 0; i < v->n; i++)
		most = fmax(most, v->sides[i].acked);
	/* Only a side that sends can wait for windows, buffers or its application. */
	for (int i = 0; i < v->n && !rc; i++)
		if (most > 0 && v->sides[i].acked >= sending_side * most)
			limits_add_waits(v, &v->sides[i]);
	return rc;
}

void limits_free_figures(struct limits_variant *v)
{
	for (int i = 0; i < v->n; i++)
		for (int k = 0; k < LIMITS; k++) {
			free(v->sides[i].found[k].text);
			v->sides[i].found[k] = (struct limit_found){0};
		}
}
