// SPDX-License-Identifier: GPL-2.0-only
/* The summary: what all flows did, and each of them, as docs/formats.md says. */
#include "run.h"
#include "summary.h"

#include <jansson.h>

#define CALL_NAME(id, name) name,
static const char *const call_names[] = {CALLS(CALL_NAME)};
#undef CALL_NAME

static json_t *number(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static json_t *calls_json(const uint64_t *calls)
{
	json_t *o = json_object();
	unsigned int i;

	for (i = 0; i < CALL_COUNT; i++)
		if (calls[i])
			json_object_set_new(o, call_names[i], number(calls[i]));
	return o;
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static json_t *cpu_time(const struct worker *w)
{
	const struct rusage *u = w->usage;

	return json_pack("{s:f,s:f}", "user_s", seconds(u[1].ru_utime) - seconds(u[0].ru_utime),
			 "system_s", seconds(u[1].ru_stime) - seconds(u[0].ru_stime));
}

static const char *verdict(const struct flow *f)
{
	if (!f->opt->verify || (f->tx && !f->opt->rr)) /* a sender has nothing to compare */
		return "off";
	return f->bad_bytes ? "failed" : "ok";
}

/* Of one flow, or of the sum of all. */
static void put_figures(json_t *o, const struct flow *f, uint64_t messages)
{
	uint64_t known = f->sends_zero_copy + f->sends_copied;

	json_object_set_new(o, "bytes", number(f->bytes));
	json_object_set_new(o, "messages", number(messages));
	json_object_set_new(o, "seconds", json_real((double)(f->end_ns - f->start_ns) / 1e9));
	json_object_set_new(o, "start_ns", number(f->start_ns));
	json_object_set_new(o, "end_ns", number(f->end_ns));
	json_object_set_new(o, "verify", json_string(verdict(f)));
	json_object_set_new(o, "sends",
			    json_pack("{s:I,s:I,s:I,s:I}", "total", (json_int_t)f->sends,
				      "zero_copy", (json_int_t)f->sends_zero_copy, "copied",
				      (json_int_t)f->sends_copied, "unknown",
				      (json_int_t)(f->sends - known)));
	json_object_set_new(o, "receive",
			    json_pack("{s:I,s:I,s:I}", "calls", (json_int_t)f->receives,
				      "mapped_bytes", (json_int_t)f->mapped_bytes, "copied_bytes",
				      (json_int_t)f->copied_bytes));
	json_object_set_new(o, "send_retries",
			    json_pack("{s:I,s:I}", "optmem_max",
				      (json_int_t)f->retries[LIMIT_OPTMEM], "memlock",
				      (json_int_t)f->retries[LIMIT_MEMLOCK]));
	json_object_set_new(o, "ring_overflow", number(f->ring_overflow));
}

/* THE TABLE of what is simply added up. */
static const struct {
	size_t at, n; /* of 64-bit counters */
} sums[] = {
#define SUM_OF(member)                                                                \
	{                                                                             \
		offsetof(struct flow, member), sizeof(((struct flow *)0)->member) / 8 \
	}
	SUM_OF(bytes),	       SUM_OF(sends),	     SUM_OF(sends_zero_copy), SUM_OF(sends_copied),
	SUM_OF(receives),      SUM_OF(mapped_bytes), SUM_OF(copied_bytes),    SUM_OF(retries),
	SUM_OF(ring_overflow), SUM_OF(calls),	     SUM_OF(bad_bytes),
};

static void add(struct flow *total, const struct flow *f)
{
	size_t i, k;

	for (i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		uint64_t *to = (uint64_t *)((char *)total + sums[i].at);
		const uint64_t *from = (const uint64_t *)((const char *)f + sums[i].at);

		for (k = 0; k < sums[i].n; k++)
			to[k] += from[k];
	}
	if (f->start_ns && (!total->start_ns || f->start_ns < total->start_ns))
		total->start_ns = f->start_ns;
	if (f->end_ns > total->end_ns)
		total->end_ns = f->end_ns;
}

static json_t *rr_json(const struct options *o, uint64_t requests, uint64_t responses)
{
	json_t *j = json_pack("{s:I,s:I,s:I}", "response_size", (json_int_t)o->response, "requests",
			      (json_int_t)requests, "responses", (json_int_t)responses);

	if (!o->listen)
		json_object_set_new(j, "outstanding", json_integer(o->outstanding));
	return j;
}

/* Both ways of a connection added up, but the bytes are the requests'. */
static void add_flow(struct flow *total, const struct flow *f)
{
	add(total, f);
	if (!f->back)
		return;
	add(total, f->back);
	total->bytes -= f->back->bytes;
}

static uint64_t responses(const struct flow *f)
{
	return f->back ? f->back->bytes / f->back->size : 0;
}

static json_t *flow_json(const struct flow *f)
{
	json_t *o = json_pack("{s:i,s:i}", "flow", (int)f->index, "thread", (int)f->worker->index);
	struct flow both = {.opt = f->opt, .tx = f->tx};

	add_flow(&both, f);
	put_figures(o, &both, f->bytes / f->size);
	if (f->back)
		json_object_set_new(o, "rr", rr_json(f->opt, f->bytes / f->size, responses(f)));
	json_object_set_new(o, "tcp_info", tcp_info_json(f, 1));
	if (f->error)
		json_object_set_new(o, "error", json_string(f->what));
	return o;
}

static void add_calls(uint64_t *calls, const struct worker *w)
{
	unsigned int i;

	for (i = 0; i < CALL_COUNT; i++)
		calls[i] += w->calls[i];
}

static json_t *flows_json(const struct run *r)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < r->n_flows; i++)
		json_array_append_new(list, flow_json(&r->flows[i]));
	return list;
}

static json_t *threads_json(const struct run *r)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < r->n_workers; i++) {
		json_t *o = cpu_time(&r->workers[i]);

		json_object_set_new(o, "flows", json_integer((json_int_t)r->workers[i].n));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *summary_json(struct run *r)
{
	const struct options *o = r->opt;
	struct flow total = {.opt = o, .tx = !o->listen};
	uint64_t messages = 0, n_responses = 0;
	unsigned int i;
	json_t *line;

	for (i = 0; i < r->n_flows; i++) {
		add_flow(&total, &r->flows[i]);
		messages += r->flows[i].bytes / r->flows[i].size;
		n_responses += responses(&r->flows[i]);
	}
	for (i = 0; i < r->n_workers; i++)
		add_calls(total.calls, &r->workers[i]);
	if (r->boss != r->workers)
		add_calls(total.calls, r->boss);
	line = json_pack("{s:s,s:s,s:s,s:I}", "type", "summary", "side",
			 o->listen ? "receiver" : "sender", "mode", o->mode->name, "size",
			 (json_int_t)o->size);
	put_figures(line, &total, messages);
	json_object_set_new(line, "recv_hist", recv_log2(r->flows, r->n_flows));
	json_object_set_new(line, "histograms", hists_json(r->flows, r->n_flows));
	json_object_set_new(line, "syscalls", calls_json(total.calls));
	json_object_set_new(line, "tcp_info", tcp_info_json(r->flows, r->n_flows));
	json_object_set_new(line, "cpu", cpu_time(r->boss));
	if (o->rr)
		json_object_set_new(line, "rr", rr_json(o, messages, n_responses));
	if (r->n_flows > 1) {
		json_object_set_new(line, "flows", flows_json(r));
		json_object_set_new(line, "threads", threads_json(r));
	}
	return line;
}
