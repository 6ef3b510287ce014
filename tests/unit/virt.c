// SPDX-License-Identifier: GPL-2.0-only
/* The exact times and the entries of contexts: out of frame.tsv, and in the table virt. */
#include "tests/unit/ingested.h"
#include "tests/unit/small_store.h"

static void put(const char *text)
{
	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
}

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
				   "0\t\t\t\thalt\t\t\t77\n";
	struct error err = {0};

	ingest_start((struct ingest){.has_cpus = true});
	cpuset_add(&in.cpus, 1);
	put(text);
	read_raw(&in, "frame.tsv");
	metrics_are(&in, "frame_ns:user = 1500, frame_entries:user = 5, "
			 "frame_ns:hardirq reschedule = 40, frame_entries:hardirq reschedule = 4, "
			 "frame_ns:hardirq local_timer = -, frame_entries:hardirq local_timer = 1, "
			 "frame_ns:halt = 460, frame_entries:halt = -, frame_ns:total = 2000, "
			 "frame_entries:msr = 9, frame_entries:msr 0x830 = 6, frame_ns:msr = -, "
			 "metrics = 9, notes = 0");
	put("cpu\tpid\tparent\tcomm\tcontext\tvector\tns\n");
	assert_int_equal(parse_file(&in, "frame.tsv", path, &err), -EBADMSG);
	ingest_free(&in);
}
