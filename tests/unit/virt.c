// SPDX-License-Identifier: GPL-2.0-only
/* The exact times and the entries of contexts: out of frame.tsv, and in the table virt. */
#include "tests/unit/ingested.h"
#include "tests/unit/world.h"

/* CPU 1 is the side's, CPU 0 is not. Two processes and threads of the kernel share CPU 1. */
TEST(contexts_add_up_over_processes_and_the_side_s_cpus)
{
	static const char text[] = "cpu\tpid\tparent\tcomm\tcontext\tvector\tns\tentries\n"
				   "1\t7\t1\ta\tuser\t\t1000\t\n"
				   "1\t8\t1\tb\tuser\t\t500\t\n"
				   "1\t7\t1\ta\thardirq\treschedule\t30\t\n"
				   "1\t0\t0\t\thardirq\treschedule\t10\t\n"
				   "1\t0\t0\t\thalt\t\t460\t\n"
				   "0\t7\t1\ta\tuser\t\t9000\t\n"
				   "1\t\t\t\tuser\t\t\t5\n"
				   "1\t\t\t\thardirq\treschedule\t\t4\n"
				   "1\t\t\t\thardirq\tlocal_timer\t\t1\n"
				   "1\t\t\t\tmsr\t\t\t9\n"
				   "1\t\t\t\tmsr\t0x830\t\t6\n"
				   "1\t\t\t\tdivided\t\t300\t\n"
				   "0\t\t\t\tdivided\t\t9000\t\n"
				   "0\t\t\t\thalt\t\t\t77\n";
	struct error err = {0};

	ingest_start((struct ingest){.has_cpus = true});
	cpuset_add(&in.cpus, 1);
	put_raw(text);
	read_raw(&in, "frame.tsv");
	metrics_are(&in, "frame_ns:user = 1500, frame_entries:user = 5, "
			 "frame_ns:hardirq reschedule = 40, frame_entries:hardirq reschedule = 4, "
			 "frame_ns:hardirq local_timer = -, frame_entries:hardirq local_timer = 1, "
			 "frame_ns:halt = 460, frame_entries:halt = -, frame_ns:total = 2000, "
			 "frame_entries:msr = 9, frame_entries:msr 0x830 = 6, frame_ns:msr = -, "
			 "frame_ns:divided = 300, frame_entries:divided = -, "
			 "frame_pct:irq:cpu1 = 2.5974025974, metrics = 18, notes = 0");
	put_raw("cpu\tpid\tparent\tcomm\tcontext\tvector\tns\n");
	assert_int_equal(parse_file(&in, "frame.tsv", path, &err), -EBADMSG);
}

/* --- the table --- */

/* Adds a profiled run of 2000 KiB and 500 messages in 2 s, with counts of the frame. */
static void add_profiled(struct store *s, int repeat, const char *counts)
{
	int64_t run = add_run(s, "profile", repeat);
	struct world w;

	small_store_metrics(s, run, "rate_kib = 1000, rate_messages = 250, seconds = 2");
	small_store_metrics(s, run, counts);
	start_world(&w);
	add(&w, frame(&w, PROFILE_NONE, "native_write_msr"), 1, CTX_SYSCALL, 3);
	add(&w, frame(&w, PROFILE_NONE, "native_write_msr_safe_as_well"), 1, CTX_SYSCALL, 1);
	add(&w, frame(&w, PROFILE_NONE, "write_msr_of_another_name"), 1, CTX_SYSCALL, 3);
	add(&w, frame(&w, PROFILE_NONE, "[hardirq reschedule]"), 1, CTX_HARDIRQ, 1);
	add(&w, frame(&w, PROFILE_NONE, "pv_native_safe_halt"), 1, CTX_IDLE, 8);
	store_world(s, run, &w);
}

/* The runs of the measure pass have 1000 ns per KiB, and no frame. */
static struct store *counted(void)
{
	struct store *s = small_store();

	small_store_metrics(
		s, add_basis(s, "v"),
		"rate_messages = 500000, seconds = 2, cpu_steal_pct = 5, irq:RES Rescheduling interrupts = 40, "
		"irq:LOC Local timer interrupts = 0, irq:ERR = 7");
	return s;
}

TEST(counts_are_per_unit_of_the_work_of_their_run_and_times_are_costs)
{
	struct store *s = counted();
	struct table t;

	add_profiled(s, 1,
		     "frame_ns:total = 2000000000, frame_ns:hardirq reschedule = 3000, "
		     "frame_entries:hardirq reschedule = 10, "
		     "frame_ns:halt = 7000, frame_entries:halt = 4, frame_entries:user = 9");
	add_profiled(s, 2,
		     "frame_ns:total = 2000000000, frame_ns:hardirq reschedule = 6000, "
		     "frame_entries:hardirq reschedule = 20");
	add_profiled(s, 3, "frame_ns:user = 1");
	small_store_metrics(
		s, add_run(s, "syscalls", 1),
		"rate_kib = 1000, rate_messages = 250, seconds = 2, frame_entries:msr = 60, "
		"frame_entries:msr 0x830 = 50, frame_entries:msr 0x10 = 1");
	t = small_store_table(s, "virt", (struct query){0});
	cells_are(&t, "kind = interrupt msr_write msr_write msr_write halt interrupt interrupt "
		      "steal function function, "
		      "name = reschedule all 0x10 x2apic_icr all local_timer reschedule - "
		      "native_write_msr native_write_msr_safe_as_well");
	/* 10 and 20 of 2000 KiB, 9000 ns for 30; an eighth of the profile, as in the table
	 * functions */
	row_is(&t, 0,
	       "per_unit = 0.0075, ns_per_unit = 125, ns_each = 300, per_message = 0.03, "
	       "per_s = 7.5, source = frame, runs = 2");
	cells_are(&t, "0 per_unit.low = 0.005, 0 per_unit.high = 0.01");
	row_is(&t, 1, "per_unit = 0.03, ns_per_unit = -, ns_each = -, runs = 1");
	row_is(&t, 3, "per_unit = 0.025, per_message = 0.1, per_s = 25");
	/* No entry in run 2, which has the frame. Run 3 has none. */
	row_is(&t, 4, "per_unit = 0.001, ns_per_unit = -, runs = 2");
	row_is(&t, 5, "per_unit = 0, source = /proc/interrupts, runs = 1");
	row_is(&t, 6, "per_unit = 0.00002, ns_per_unit = -, per_message = 0.00004, per_s = 20");
	row_is(&t, 7, "per_unit = -, ns_per_unit = 50, source = /proc/stat");
	row_is(&t, 8, "ns_per_unit = 375, source = profile, runs = 3");
	t = small_store_table(s, "functions", (struct query){.symbol = "[[]hardirq*"});
	cells_are(&t, "symbol = [hardirq reschedule], 0 self_ns = 125");
	t = small_store_table(s, "contexts", (struct query){0});
	cells_are(&t, "hardirq self_ns = 125");
	t = small_store_table(s, "virt", (struct query){.basis = BASIS_WALL});
	cells_are(&t,
		  "native_write_msr ns_per_unit = 187.5, pv_native_safe_halt ns_per_unit = 500");
	small_store_refuses(s, "virt", (struct query){.unit = "syscall"}, -EINVAL, "per syscall");
	t = small_store_table(s, "virt", (struct query){.unit = "message"});
	cells_are(&t, "0 per_unit = 0.03, steal ns_per_unit = 100");
}

TEST(without_the_frame_there_are_interrupts_and_a_reason)
{
	struct store *s = counted();
	struct table t = small_store_table(s, "virt", (struct query){0});

	cells_are(&t, "kind = interrupt interrupt steal");
	small_store_says(&t, "no run has the frame");
	small_store_run(s = small_store(), (struct run){0});
	t = small_store_table(s, "virt", (struct query){0});
	assert_int_equal(t.rows, 0);
	small_store_says(&t, "no run measured this");
}

static void release(void)
{
	ingest_free(&in);
}

AROUND_TESTS(NULL, release)
