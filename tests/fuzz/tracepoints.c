// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: reads any bytes as a perf.data file with tracepoints and tracing data. */
#include "analyze/perfdata/tracepoints.h"
#include "tests/fuzz/fuzz.h"

static void deliver(void *ctx, const struct tracepoint *t, uint32_t thread)
{
	struct tracepoints *tp = ctx;

	if (!tracepoints_comm(tp, thread))
		abort();
	tracepoints_comm(tp, tracepoints_thread_of(tp, (uint32_t)t->v[0]));
}

static void read_all(struct tracepoints *tp, struct error *err)
{
	static const struct tracepoint_want wants[] = {
		{"raw_syscalls", "sys_enter", {"id"}},
		{"raw_syscalls", "sys_exit", {"id", "ret"}},
		{"sched", "sched_switch", {"prev_pid", "prev_state", "next_pid"}},
		{"sched", "sched_wakeup", {"pid", "prio", "target_cpu"}},
	};
	struct tracepoints_query q = {.wants = wants, .n = 4, .deliver = deliver, .ctx = tp};
	size_t len;

	tracepoints_print_format(tp, "sched", "sched_switch", &len);
	tracepoints_has(tp, "sched", "sched_switch");
	tracepoints_read(tp, &q, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct time_slice all = {0};
	struct tracepoints *tp = NULL;
	struct error err = {0};

	if (!refused(tracepoints_open(&tp, fuzz_file("data", data, size), &all, &err), &err))
		read_all(tp, &err);
	tracepoints_close(tp);
	return 0;
}
