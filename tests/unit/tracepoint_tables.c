// SPDX-License-Identifier: GPL-2.0-only
/* The tables of system calls and of waits for a CPU, of recordings made by hand. */
#include "analyze/perfdata/tracepoints.h"
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/small_store.h"

#define NUMBER(name, at) "\tfield:long " name ";\toffset:" at ";\tsize:8;\tsigned:1;\n"

/* The events of a recording. An event has the index as its id in formats, and 77 + index in perf.
 */
struct recorded {
	const char *system, *name, *fields, *print;
};

/* A sample of the event with this index. */
struct sampled {
	int event;
	uint64_t time;
	uint32_t cpu, tid;
	uint64_t v[4];
};

static void w_formats(struct writer *w, const struct recorded *events, size_t n)
{
	freed(str_free) struct str text = {0};

	w_tracing_head(w, "0.6");
	w32(w, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		w_bytes(w, events[i].system, strlen(events[i].system) + 1);
		w32(w, 1);
		str_reset(&text);
		str_printf(&text, "name: %s\nID: %zu\n" W_COMMON_FIELDS "%s\nprint fmt: %s\n",
			   events[i].name, i + 1, events[i].fields,
			   events[i].print ? events[i].print : "\"\"");
		w_block(w, text.buf);
	}
	w32(w, 0);
	w32(w, 0);
	w64(w, 0);
}

static void w_tracepoint(struct writer *w, const struct sampled *s)
{
	size_t at = w_begin(w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);

	w64(w, W_EVENT_ID + (uint64_t)s->event);
	w32(w, 7);
	w32(w, s->tid);
	w64(w, s->time);
	w32(w, s->cpu);
	w32(w, 0);
	w32(w, 44);
	w16(w, (uint64_t)s->event + 1);
	w16(w, 0);
	w32(w, s->tid);
	for (size_t i = 0; i < 4; i++)
		w64(w, s->v[i]);
	w32(w, 0);
	w_end(w, at);
}

/* Threads 20 and 21 of process 7 are called "a", thread 22 is called "b". */
static struct tracepoints *recording(const struct recorded *events, size_t nevents,
				     const struct sampled *samples, size_t n)
{
	freed(writer_free) struct writer w = {0}, formats = {0};
	const struct time_slice whole = {0};
	struct w_event list[8];
	struct tracepoints *tp;

	for (size_t i = 0; i < nevents; i++)
		list[i] = (struct w_event){.type = PERF_TYPE_TRACEPOINT,
					   .config = i + 1,
					   .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
							  PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
							  PERF_SAMPLE_RAW,
					   .read_format = PERF_FORMAT_ID,
					   .flags = W_ID_ALL,
					   .id = W_EVENT_ID + i};
	w_stream_head(&w, list, nevents);
	w_formats(&formats, events, nevents);
	w_tracing_record(&w, &formats.out);
	for (size_t i = 20; i <= 22; i++)
		w_comm(&w, 1, 7, (uint32_t)i, false, i < 22 ? "a" : "b");
	for (size_t i = 0; i < n; i++)
		w_tracepoint(&w, &samples[i]);
	assert_int_equal(file_write(path, w.out.buf, w.out.len, NULL), 0);
	if (tracepoints_open(&tp, path, &whole, &err))
		fail_msg("%s", err.text);
	return tp;
}

static struct table table_of(const char *name, struct query q, const struct recorded *events,
			     size_t nevents, const struct sampled *samples, size_t n)
{
	struct table t;

	q.bare.tracepoints = recording(events, nevents, samples, n);
	t = small_store_table(NULL, name, q);
	tracepoints_close(q.bare.tracepoints);
	return t;
}

#define RAW_ID	    NUMBER("id", "8")
#define WITH_RESULT NUMBER("ret", "16")
#define ARGUMENTS   "\tfield:unsigned long args[3];\toffset:16;\tsize:24;\tsigned:0;\n"

static const struct recorded raw[] = {
	{"raw_syscalls", "sys_enter", RAW_ID ARGUMENTS, NULL},
	{"raw_syscalls", "sys_exit", RAW_ID WITH_RESULT, NULL},
};
enum { ENTER, EXIT };

static const struct sampled calls[] = {
	{EXIT, 50, 1, 20, {0, 0}}, /* its entry was before the recording */
	{ENTER, 100, 1, 20, {0}},
	{ENTER, 120, 2, 21, {0}},
	{EXIT, 200, 1, 20, {0, 70}}, /* 100 ns */
	{ENTER, 250, 1, 20, {0}},
	{EXIT, 320, 2, 21, {0, (uint64_t)-11}}, /* 200 ns, an error */
	{EXIT, 550, 1, 20, {0, 30}},		/* 300 ns */
	{ENTER, 600, 1, 22, {4}},
	{EXIT, 600, 1, 22, {4, 0}},	     /* 0 ns */
	{ENTER, 650, 1, 22, {(uint64_t)-1}}, /* a tracer cancelled it */
	{EXIT, 660, 1, 22, {(uint64_t)-1, 5}},
	{ENTER, 700, 1, 22, {15}},
	{EXIT, 710, 1, 22, {(uint64_t)-1, (uint64_t)-5}}, /* rt_sigreturn: no number, no error */
	{ENTER, 720, 1, 22, {4}},
	{ENTER, 730, 1, 22, {4}},    /* the one before did not return */
	{EXIT, 740, 1, 22, {15, 0}}, /* another call: 4 did not return either */
	{ENTER, 800, 1, 21, {0}},    /* open at the end */
};

/* The mean of 100, 200 and 300 ns is 200. Their standard error is 100 / sqrt(3), 28.8675 %. */
TEST(calls_are_measured_from_entry_to_return)
{
	struct table t = table_of("syscalls", (struct query){.work.units = 2048, .unit = "KiB"},
				  raw, 2, calls, array_size(calls));

	cells_are(&t, "comm = a b b, syscall = syscall_0 syscall_15 syscall_4, 0 calls = 3, "
		      "0 errors = 1, 1 errors = 0, 0 total_ms = 0.0006, 0 min_ms = 0.0001, "
		      "0 max_ms = 0.0003, 0 stddev_pct = 28.8675134595");
	assert_true(table_column(&t, "variant") < 0);
	/* The middle of 1.5 calls: the first is in 64 to 128 ns, the second in 128 to 256. */
	cells_are(&t, "0 p50_ms = 0.000192, 0 calls_per_mib = 1.5, 1 total_ms = 1e-5, "
		      "2 calls = 1, 2 min_ms = 0");
	small_store_says(&t, "5 calls in all, 0.001 ms; 3 of 3 rows");
	small_store_says(&t, "calls that had not returned at the end: syscall_0 1, syscall_4 2");
	small_store_says(&t, "returns without an entry, which do not count: 2 ");
	small_store_says(&t, "the names of calls are not known for a recording that does not name");
}

TEST(calls_are_split_by_thread_and_chosen_by_cpu_and_command)
{
	struct cpuset cpus = {0};
	struct table t = table_of("syscalls", (struct query){.by = "tid", .comm = "a"}, raw, 2,
				  calls, array_size(calls));

	cells_are(&t, "rows = 2, 0 tid = 20, 1 tid = 21, 0 pid = 7, 0 calls = 2, 1 calls = 1");
	cpuset_add(&cpus, 2);
	t = table_of("syscalls", (struct query){.cpus = &cpus, .by = "syscall"}, raw, 2, calls,
		     array_size(calls));
	row_is(&t, 0, "calls = 1, total_ms = 0.0002");
}

TEST(recording_without_returns_is_refused)
{
	static const struct sampled samples[] = {{ENTER, 100, 1, 20, {3}}};
	struct query q = {.bare.tracepoints = recording(raw, 1, samples, 1)};

	small_store_refuses(NULL, "syscalls", q, -ENOENT, "has no system calls");
	tracepoints_close(q.bare.tracepoints);
}

static const struct recorded sched[] = {
	{"sched", "sched_switch",
	 NUMBER("prev_pid", "8") NUMBER("next_pid", "16") NUMBER("prev_state", "24"),
	 "\"%s\", REC->prev_state & 2048 ? \"+\" : \"\""},
	{"sched", "sched_wakeup", NUMBER("pid", "8"), NULL},
	{"sched", "sched_wakeup_new", NUMBER("pid", "8"), NULL},
	{"sched", "sched_stat_runtime", NUMBER("pid", "8") NUMBER("runtime", "16"), NULL},
	{"sched", "sched_waking", NUMBER("pid", "8"), NULL},
};
enum { SWITCH, WAKEUP, WAKEUP_NEW, RUNTIME };

static const struct sampled switches[] = {
	{WAKEUP, 1000, 1, 0, {20}},
	{SWITCH, 3000, 1, 0, {0, 20, 0}}, /* 20 waited for 2000 ns */
	{WAKEUP, 4000, 1, 0, {20}},	  /* it runs already */
	{RUNTIME, 8999, 1, 0, {20, 6000}},
	{SWITCH, 9000, 1, 0, {20, 21, 0}},    /* 20 stays runnable; 21 is new here */
	{SWITCH, 14000, 1, 0, {21, 20, 1}},   /* 20 waited for 5000 ns, 21 sleeps */
	{SWITCH, 16000, 1, 0, {20, 0, 2048}}, /* preempted */
	{RUNTIME, 16001, 1, 0, {20, 2000}},
	{SWITCH, 17000, 2, 0, {0, 20, 0}}, /* 1000 ns, on CPU 2 */
	{WAKEUP_NEW, 20000, 2, 0, {22}},
	{SWITCH, 24000, 2, 0, {20, 22, 4096}}, /* 4000 ns */
};

TEST(waits_go_from_wakeup_or_preemption_to_the_cpu)
{
	struct cpuset cpus = {0};
	struct table t = table_of("sched", (struct query){.by = "tid"}, sched, 4, switches,
				  array_size(switches));

	cells_are(&t, "comm = b a a, 0 tid = 22, 1 tid = 20, 1 switches = 3, "
		      "1 runtime_ms = 0.008, 1 avg_delay_ms = 0.00266666666667, "
		      "1 max_delay_ms = 0.005, 1 max_start_s = 9e-06, 1 max_end_s = 1.4e-05, "
		      "2 switches = 1, 2 avg_delay_ms = 0, 2 max_start_s = -");
	small_store_says(&t, "5 switches, 0.008 ms of runtime in all; 3 of 3 tasks");
	small_store_says(&t, "a delay begins when a task is woken or preempted");
	assert_false(small_store_noted(&t, "missing"));
	t = table_of("sched", (struct query){.comm = "a"}, sched, 4, switches,
		     array_size(switches));
	cells_are(&t, "comm = a, 0 threads = 2, 0 switches = 4, 0 avg_delay_ms = 0.002");
	cpuset_add(&cpus, 2);
	t = table_of("sched", (struct query){.cpus = &cpus, .comm = "a", .limit = 1}, sched, 4,
		     switches, array_size(switches));
	row_is(&t, 0, "switches = 1, max_delay_ms = 0.001");
}

/* Threads 20 and 21 of one name each wait once for 1000 ns; 21 runs longer. */
TEST(equal_waits_are_in_order_of_runtime)
{
	static const struct sampled equal[] = {
		{WAKEUP, 1000, 1, 0, {20}},	   {SWITCH, 2000, 1, 0, {0, 20, 0}},
		{RUNTIME, 2999, 1, 0, {20, 500}},  {SWITCH, 3000, 1, 0, {20, 0, 1}},
		{WAKEUP, 4000, 1, 0, {21}},	   {SWITCH, 5000, 1, 0, {0, 21, 0}},
		{RUNTIME, 6999, 1, 0, {21, 2000}}, {SWITCH, 7000, 1, 0, {21, 0, 1}},
	};
	struct table t =
		table_of("sched", (struct query){.by = "tid"}, sched, 4, equal, array_size(equal));

	cells_are(&t, "0 tid = 21, 1 tid = 20");
	assert_float_equal(table_real(&t, 0, "avg_delay_ms"), table_real(&t, 1, "avg_delay_ms"), 0);
}

TEST(waits_begin_with_the_chosen_event)
{
	static const struct {
		const char *event, *says;
		double delay_ns; /* mean of thread 20 and 21 */
	} events[] = {
		{NULL, "a delay begins when", 1500},
		{"sched_wakeup", "a delay begins when", 2000},
		{"sched:sched_wakeup", "a delay begins when", 2000},
		{"sched_other", "the recording has no sched:sched_other", 1500},
	};

	for (size_t i = 0; i < array_size(events); i++) {
		struct table t = table_of("sched", (struct query){.event = events[i].event}, sched,
					  5, switches, array_size(switches));

		small_store_says(&t, events[i].says);
		assert_int_equal(small_store_noted(&t, "ignores sched_waking"), i == 0);
		assert_float_equal(table_real(&t, 1, "avg_delay_ms"), events[i].delay_ns / 1e6,
				   1e-12);
	}
}

/* Thread 20 enters CPU 2 although it did not leave CPU 1, and 21 leaves twice. */
TEST(missing_switches_are_counted)
{
	static const struct sampled lost[] = {
		{SWITCH, 1000, 1, 0, {0, 20, 0}},  {SWITCH, 2000, 2, 0, {0, 20, 0}},
		{SWITCH, 3000, 2, 0, {20, 21, 1}}, {SWITCH, 4000, 2, 0, {21, 0, 1}},
		{SWITCH, 5000, 2, 0, {21, 0, 1}},  {SWITCH, 6000, 2, 0, {21, 0, 1}},
	};
	struct table t = table_of("sched", (struct query){0}, sched, 1, lost, array_size(lost));

	assert_true(isnan(table_real(&t, 0, "runtime_ms")));
	small_store_says(&t, "the recording has no sched:sched_wakeup");
	small_store_says(&t, "switches are missing (1 switch to a task that never left a CPU, 2 "
			     "switches from a task that never came onto its CPU)");
}
