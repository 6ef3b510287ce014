// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON lines on standard output: points, the summary of all flows and of each flow, and an error.
 * docs/reference/tcpzc.md describes them. A point is printed while data flows, so it is one
 * write(2) and allocates no memory.
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* --- histograms --- */

uint64_t hist_floor(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 2 * HIST_SUB)
		return bucket;
	shift = bucket / HIST_SUB - 1;
	return (uint64_t)(bucket - shift * HIST_SUB) << shift;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	if (!from || !from->count)
		return;
	if (!to->count || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count += from->count;
	to->sum += from->sum;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
}

uint64_t hist_quantile(const struct hist *h, double p)
{
	uint64_t want = (uint64_t)ceil(p * (double)h->count), below = 0, v;
	unsigned int i;

	if (!h->count)
		return 0;
	for (i = 0; i < HIST_BUCKETS - 1 && below + h->buckets[i] < want; i++)
		below += h->buckets[i];
	v = hist_floor(i) + (hist_floor(i + 1) - 1 - hist_floor(i)) / 2;
	return v < h->min ? h->min : v > h->max ? h->max : v;
}

static const char *const hist_names[HIST_COUNT] = {
	[HIST_RECV_BYTES] = "recv_bytes",   [HIST_FRAGS] = "frags",
	[HIST_TOKENS] = "tokens",	    [HIST_RETURNS] = "returns",
	[HIST_NOTIFY_NS] = "notify_ns",	    [HIST_BATCH] = "batch",
	[HIST_COMPLETIONS] = "completions", [HIST_LATENCY_NS] = "latency_ns",
	[HIST_OUTSTANDING] = "outstanding", [HIST_RETURN_NS] = "return_ns",
};

/* Returns {"<floor(log2(value))>": count}. */
static json_t *hist_log2_json(const struct hist *h)
{
	uint64_t n[64] = {0};
	json_t *o = json_object();
	char key[8];

	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		n[63 - __builtin_clzll(hist_floor(i) | 1)] += h->buckets[i];
	for (unsigned int i = 0; i < 64; i++) {
		snprintf(key, sizeof(key), "%u", i);
		if (n[i])
			json_object_set_new(o, key, json_integer((json_int_t)n[i]));
	}
	return o;
}

static json_t *hist_quantiles_json(const struct hist *h)
{
	return json_pack("{s:I,s:I,s:f,s:I,s:I,s:I,s:I,s:I}", "count", (json_int_t)h->count, "min",
			 (json_int_t)h->min, "mean", (double)h->sum / (double)h->count, "p50",
			 (json_int_t)hist_quantile(h, 0.5), "p90",
			 (json_int_t)hist_quantile(h, 0.9), "p99",
			 (json_int_t)hist_quantile(h, 0.99), "p999",
			 (json_int_t)hist_quantile(h, 0.999), "max", (json_int_t)h->max);
}

/* Sums up the histograms of n flows and their responses. */
static json_t *summary_hists(const struct flow *flows, unsigned int n, bool buckets)
{
	json_t *o = json_object();

	for (unsigned int which = 0; which < HIST_COUNT; which++) {
		struct hist all = {0};
		json_t *j;

		for (unsigned int i = 0; i < n; i++) {
			hist_merge(&all, flows[i].hist[which]);
			if (flows[i].back)
				hist_merge(&all, flows[i].back->hist[which]);
		}
		if (!all.count)
			continue;
		j = hist_quantiles_json(&all);
		if (buckets)
			json_object_set_new(j, "log2", hist_log2_json(&all));
		json_object_set_new(o, hist_names[which], j);
	}
	return o;
}

static const char *const buffer_names[] = {
	[BUFFERS_REGISTERED] = "registered",
	[BUFFERS_PLAIN] = "plain",
};

/* Reports the memory of one direction of all flows. */
static void summary_put_memory(json_t *o, const struct flow *total)
{
	if (total->buffers != BUFFERS_NONE)
		json_object_set_new(o, "buffers", json_string(buffer_names[total->buffers]));
}

#define CALL_NAME(id, name) name,
static const char *const call_names[] = {CALLS(CALL_NAME)};
#undef CALL_NAME

static json_t *json_number(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static double timeval_seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static json_t *summary_cpu_time(const struct worker *w)
{
	const struct rusage *u = w->usage;

	return json_pack("{s:f,s:f}", "user_s",
			 timeval_seconds(u[1].ru_utime) - timeval_seconds(u[0].ru_utime),
			 "system_s",
			 timeval_seconds(u[1].ru_stime) - timeval_seconds(u[0].ru_stime));
}

/* The counters of a flow in the summary: an object (NULL: the line itself) and its member. */
static const struct {
	const char *object, *key;
	size_t at;
	unsigned int flags; /* only modes with these have it */
} counters[] = {
#define AT(member) offsetof(struct flow, member)
	{"sends", "total", AT(sends), 0},
	{"sends", "zero_copy", AT(sends_zero_copy), 0},
	{"sends", "copied", AT(sends_copied), 0},
	{"pages", "pinned", AT(pinned_pages), MODE_NOTIFIES},
	{"pages", "needed", AT(needed_pages), MODE_NOTIFIES},
	{"waits", "count", AT(waits), MODE_NOTIFIES},
	{"waits", "ns", AT(waited_ns), MODE_NOTIFIES},
	{"waits", "of_ns", AT(flow_ns), MODE_NOTIFIES},
	{"receive", "calls", AT(receives), 0},
	{"receive", "mapped_bytes", AT(mapped_bytes), 0},
	{"receive", "copied_bytes", AT(copied_bytes), 0},
	{"receive", "unknown_bytes", AT(unknown_bytes), 0},
	{"receive", "dropped_bytes", AT(dropped_bytes), 0},
	{"unmapped", "short_queue", AT(unmapped[UNMAPPED_SHORT]), MODE_MAPS},
	{"unmapped", "remainder", AT(unmapped[UNMAPPED_REMAINDER]), MODE_MAPS},
	{"unmapped", "fragment", AT(unmapped[UNMAPPED_FRAGMENT]), MODE_MAPS},
	{"send_retries", "optmem_max", AT(retries[LIMIT_OPTMEM]), 0},
	{"send_retries", "memlock", AT(retries[LIMIT_MEMLOCK]), 0},
	{NULL, "ring_overflow", AT(ring_overflow), MODE_RING},
	{NULL, "dropped_completions", AT(dropped_completions), MODE_RING},
	{"uring", "sqes", AT(sqes), MODE_RING},
	{"uring", "cqes", AT(cqes), MODE_RING},
	{NULL, "refill_empty", AT(refill_empty), MODE_RING | MODE_NIC},
	{"rearmed", "ring_full", AT(rearmed[REARM_RING_FULL]), MODE_RING},
	{"rearmed", "no_buffers", AT(rearmed[REARM_NO_BUFFERS]), MODE_RING},
	{"rearmed", "interrupted", AT(rearmed[REARM_INTERRUPTED]), MODE_RING},
#undef AT
};

/* Reports what the mode asked for and what became of the bytes of one direction. */
static void summary_put_way(json_t *o, const struct flow *f)
{
	enum asks asks = f->mode->asks;

	json_object_set_new(o, "asks_zero_copy",
			    asks == ASKS_UNSAID ? json_null()
						: json_boolean(asks == ASKS_ZERO_COPY));
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		const char *object = counters[i].object;
		const void *from = (const char *)f + counters[i].at;

		if (counters[i].flags & ~f->mode->flags)
			continue;
		if (object && !json_object_get(o, object))
			json_object_set_new(o, object, json_object());
		json_object_set_new(object ? json_object_get(o, object) : o, counters[i].key,
				    json_number(*(const uint64_t *)from));
	}
	json_object_set_new(json_object_get(o, "sends"), "unknown",
			    json_number(f->sends - f->sends_zero_copy - f->sends_copied));
}

/* Reports the figures of one flow, or of the sum of all flows. */
static void summary_put_figures(json_t *o, const struct flow *f, uint64_t messages)
{
	/* A sender without responses has no data to compare. */
	bool verified = f->opt->verify && (!f->tx || f->opt->rr);
	bool bad = f->bad_bytes || (f->back && f->back->bad_bytes);

	json_object_set_new(o, "bytes", json_number(f->bytes));
	json_object_set_new(o, "messages", json_number(messages));
	json_object_set_new(o, "seconds", json_real((double)(f->end_ns - f->start_ns) / 1e9));
	json_object_set_new(o, "start_ns", json_number(f->start_ns));
	json_object_set_new(o, "end_ns", json_number(f->end_ns));
	json_object_set_new(o, "verify", json_string(!verified ? "off" : bad ? "failed" : "ok"));
	summary_put_way(o, f);
}

static void totals_add_flow(struct flow *total, const struct flow *f)
{
	const size_t first = offsetof(struct flow, bytes) / sizeof(uint64_t);
	const size_t end =
		first + (offsetof(struct flow, first_bad) - offsetof(struct flow, bytes)) /
				sizeof(uint64_t);

	for (size_t i = first; i < end; i++)
		((uint64_t *)total)[i] += ((const uint64_t *)f)[i];
	if (f->start_ns && (!total->start_ns || f->start_ns < total->start_ns))
		total->start_ns = f->start_ns;
	if (f->end_ns > total->end_ns)
		total->end_ns = f->end_ns;
	if (f->buffers > total->buffers) /* a kernel has registered buffers for all flows or none */
		total->buffers = f->buffers;
}

/* Reports the responses of one connection, or of all. */
static json_t *summary_rr(const struct flow *back, uint64_t requests, uint64_t responses)
{
	const struct options *o = back->opt;
	json_t *j = json_pack("{s:s,s:I,s:I,s:I,s:I}", "mode", o->back_mode->name, "response_size",
			      (json_int_t)o->response, "requests", (json_int_t)requests,
			      "responses", (json_int_t)responses, "bytes", (json_int_t)back->bytes);

	if (!o->listen)
		json_object_set_new(j, "outstanding", json_integer(o->outstanding));
	summary_put_way(j, back);
	return j;
}

static json_t *summary_flow(const struct flow *f)
{
	json_t *o = json_pack("{s:i,s:i}", "flow", (int)f->index, "thread", (int)f->worker->index);
	const struct flow *b = f->back;

	summary_put_figures(o, f, f->bytes / f->size);
	json_object_set_new(o, "histograms", summary_hists(f, 1, false));
	if (b)
		json_object_set_new(o, "rr", summary_rr(b, f->bytes / f->size, b->bytes / b->size));
	if (f->error)
		json_object_set_new(o, "error", json_string(f->what));
	return o;
}

static void totals_add_calls(uint64_t *to, const uint64_t *calls)
{
	for (unsigned int i = 0; i < CALL_COUNT; i++)
		to[i] += calls[i];
}

static void summary_put_flows(json_t *line, const struct run *r)
{
	json_t *flows = json_array(), *threads = json_array();

	for (unsigned int i = 0; i < r->n_flows; i++)
		json_array_append_new(flows, summary_flow(&r->flows[i]));
	for (unsigned int i = 0; i < r->n_workers; i++) {
		json_t *o = summary_cpu_time(&r->workers[i]);

		json_object_set_new(o, "flows", json_integer((json_int_t)r->workers[i].n));
		json_array_append_new(threads, o);
	}
	json_object_set_new(line, "flows", flows);
	json_object_set_new(line, "threads", threads);
}

/* Puts the buckets of a histogram of `line` beside it, or none where it is empty. */
static void summary_put_log2(json_t *line, const char *key, unsigned int which)
{
	const json_t *all = json_object_get(line, "histograms");
	json_t *log2 = json_object_get(json_object_get(all, hist_names[which]), "log2");

	json_object_set_new(line, key, log2 ? json_incref(log2) : json_object());
}

struct totals {
	struct flow all, back; /* the sums of both directions */
	uint64_t messages, responses;
};

static void totals_add_run(struct totals *t, const struct run *r)
{
	t->all.opt = t->back.opt = r->opt;
	t->all.mode = r->opt->mode;
	t->back.mode = r->opt->back_mode;
	t->all.tx = !r->opt->listen;
	for (unsigned int i = 0; i < r->n_flows; i++) {
		const struct flow *f = &r->flows[i];

		totals_add_flow(&t->all, f);
		t->messages += f->bytes / f->size;
		if (!f->back)
			continue;
		totals_add_flow(&t->back, f->back);
		t->responses += f->back->bytes / f->back->size;
	}
	for (unsigned int i = 0; i < r->n_workers; i++)
		totals_add_calls(t->all.calls, r->workers[i].calls);
	if (r->boss != r->workers)
		totals_add_calls(t->all.calls, r->boss->calls);
	totals_add_calls(t->all.calls, t->back.calls);
}

static json_t *summary_json(struct run *r)
{
	const struct options *o = r->opt;
	struct totals t = {0};
	json_t *line, *calls = json_object();

	totals_add_run(&t, r);
	t.all.bad_bytes += t.back.bad_bytes;
	line = json_pack("{s:s,s:s,s:s,s:I}", "type", "summary", "side",
			 o->listen ? "receiver" : "sender", "mode", o->mode->name, "size",
			 (json_int_t)o->size);
	summary_put_figures(line, &t.all, t.messages);
	if (o->udp)
		json_object_set_new(line, "udp", json_true());
	summary_put_memory(line, &t.all);
	json_object_set_new(line, "histograms", summary_hists(r->flows, r->n_flows, true));
	summary_put_log2(line, "recv_hist", HIST_RECV_BYTES);
	if (r->flows->hist[HIST_TOKENS]) {
		summary_put_log2(line, "token_hist", HIST_TOKENS);
		summary_put_log2(line, "return_hist", HIST_RETURNS);
	}
	for (unsigned int i = 0; i < CALL_COUNT; i++)
		if (t.all.calls[i])
			json_object_set_new(calls, call_names[i], json_number(t.all.calls[i]));
	json_object_set_new(line, "syscalls", calls);
	json_object_set_new(line, "cpu", summary_cpu_time(r->boss));
	if (o->rr) {
		json_t *rr = summary_rr(&t.back, t.messages, t.responses);

		summary_put_memory(rr, &t.back);
		json_object_set_new(line, "rr", rr);
	}
	if (r->n_flows > 1)
		summary_put_flows(line, r);
	return line;
}

/* --- lines --- */

static int report_write(struct run *r, const char *text, size_t n)
{
	while (n) {
		ssize_t k = CALL(r->boss, WRITE, write(STDOUT_FILENO, text, n));

		if (k < 0 && errno != EINTR) {
			r->out_error = errno;
			stop_requested = 1;
			return -errno;
		}
		text += k < 0 ? 0 : k;
		n -= k < 0 ? 0 : (size_t)k;
	}
	return 0;
}

void report_point(struct run *r, uint64_t t_ns)
{
	uint64_t bytes = 0, messages = 0;
	char line[160];
	int n;

	for (unsigned int i = 0; t_ns != r->start_ns && i < r->n_flows; i++) {
		uint64_t done = __atomic_load_n(&r->flows[i].bytes, __ATOMIC_RELAXED);

		bytes += done;
		messages += done / r->flows[i].size;
	}
	n = snprintf(line, sizeof(line),
		     "{\"type\":\"point\",\"t_ns\":%" PRIu64 ",\"bytes\":%" PRIu64
		     ",\"messages\":%" PRIu64 "}\n",
		     t_ns, bytes, messages);
	report_write(r, line, (size_t)n);
}

/* Prints the line and frees it. */
static void report_write_json(struct run *r, json_t *line)
{
	autofree char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
	size_t n = text ? strlen(text) : 0;

	json_decref(line);
	if (!text) {
		r->out_error = ENOMEM;
		return;
	}
	text[n] = '\n'; /* replaces the NUL */
	report_write(r, text, n + 1);
}

void report_summary(struct run *r)
{
	report_write_json(r, summary_json(r));
}

void report_error(struct run *r)
{
	unsigned int failed = 0;
	char what[1200] = "";

	for (unsigned int i = 0; i < r->n_flows; i++)
		if (r->flows[i].error && !failed++)
			snprintf(what, sizeof(what), "%s", r->flows[i].what);
	if (failed > 1)
		snprintf(what + strlen(what), sizeof(what) - strlen(what),
			 " (and %u more flows failed)", failed - 1);
	fprintf(stderr, "tcpzc: %s\n", what);
	report_write_json(r, json_pack("{s:s,s:s}", "type", "error", "what", what));
}
