// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the frame: the reader of frame.tsv and due.tsv, where a sample counts, and that the
 * samples of each place on a CPU, with the row for its rest, add up to the exact time. A sample's
 * period is 1 ms.
 */
#include "analyze/perfdata/fold.h"
#include "tests/unit/ingested.h"
#include "tests/unit/perfdata_stream.h"

enum { OWN = 7, OTHER = 8, MS = 1000000 };
#define IN_USER	  0x1000ULL
#define IN_KERNEL 0xffffffff81000000ULL

static void set_up(void)
{
	ingest_start((struct ingest){0});
	assert_int_equal(cpuset_parse(&in.cpus, "1-2", NULL), 0);
	in.has_cpus = true;
	array_add(in.pids, in.npids, in.pids_cap, OWN);
}

static int read_text(const char *file, const char *text)
{
	freed(str_free) struct str at = {0};

	str_printf(&at, "%s/%s", dir, file);
	assert_int_equal(file_write(at.buf, text, strlen(text), NULL), 0);
	return parse_file(&in, file, at.buf, &err);
}

static void read_times(const char *rows)
{
	freed(str_free) struct str s = {0};

	str_printf(&s, "cpu\tpid\tparent\tcomm\tcontext\tvector\tns\tentries\n%s", rows);
	assert_int_equal(read_text("frame.tsv", s.buf), 0);
}

static void read_due(const char *rows)
{
	freed(str_free) struct str s = {0};

	str_printf(&s, "cpu\tat\tlate\tpid\tcontext\tvector\tchanges\n%s", rows);
	assert_int_equal(read_text("due.tsv", s.buf), 0);
}

static void time_is(size_t i, uint32_t cpu, uint32_t pid, const char *label, enum exact_place place,
		    uint64_t ns)
{
	const struct exact_time *t = &in.exact->times[i];

	assert_true(i < in.exact->ntimes);
	assert_int_equal(t->cpu, cpu);
	assert_int_equal(t->pid, pid);
	assert_string_equal(in.exact->labels[t->label].name, label);
	assert_int_equal(in.exact->labels[t->label].place, place);
	assert_int_equal(t->ns, ns);
}

/* --- the files --- */

TEST_WITH(row_is_the_time_of_a_cpu_process_and_context, set_up())
{
	read_times("1\t7\t1\tw\tuser\t\t100\t\n"
		   "1\t7\t1\tw\tsoftirq_in_syscall\tNET_RX\t200\t\n"
		   "2\t0\t0\t\tsoftirq_in_idle\tNET_RX\t300\t\n"
		   "2\t0\t0\t\thardirq\tlocal_timer\t400\t\n"
		   "2\t0\t0\t\thalt\t\t500\t\n"
		   "2\t7\t1\tw\tuser\t\t600\t\n");
	assert_int_equal(in.exact->ntimes, 6);
	time_is(0, 1, 7, "[user]", PLACE_USER, 100);
	time_is(1, 1, 7, "[softirq NET_RX]", PLACE_SOFTIRQ_IN_SYSCALL, 200);
	time_is(2, 2, 0, "[softirq NET_RX]", PLACE_SOFTIRQ_IN_IDLE, 300);
	time_is(3, 2, 0, "[hardirq local_timer]", PLACE_HARDIRQ, 400);
	time_is(4, 2, 0, "[halt]", PLACE_HALT, 500);
	time_is(5, 2, 7, "[user]", PLACE_USER, 600);
	assert_int_equal(in.exact->nlabels, 5); /* the last row has the label of the first */
	metrics_are(&in,
		    "frame_pct:user:cpu1 = 33.3333333333, frame_pct:softirq:cpu1 = 66.6666666667, "
		    "frame_pct:irq:cpu2 = 30.7692307692, frame_pct:system:cpu2 = 0, "
		    "frame_pct:softirq = 31.25");
}

TEST_WITH(damaged_row_is_left_out_with_a_note, set_up())
{
	read_times("1\t7\t1\tw\tuser\t\t100\t\n"
		   "1\t\t\t\tuser\t\t\t55\n" /* entries */
		   "1\t\t\t\tidle\t\t\t-1\n"
		   "1\t7\t1\tw\tuser\t\t-5\t\n"
		   "1\t7\t1\tw\tuser\t\t12x\t\n"
		   "x\t7\t1\tw\tuser\t\t100\t\n"
		   "4294967297\t7\t1\tw\tuser\t\t100\t\n"
		   "1\t7\t1\tw\twonderland\t\t100\t\n"
		   "1\t7\t1\tw\t\t\t100\t\n"
		   "1\t7\t1\tw\tus");
	assert_int_equal(in.exact->ntimes, 1);
	metrics_are(&in,
		    "frame_entries:user = 55, frame_entries:idle = -, note rows_unreadable = 7");
	notes_free(&in.notes);
	read_due("1\t100\t5\t7\tuser\t\t0\n"
		 "1\t100\t5\t7\tuser\t\t\n"
		 "1\t100\tlate\t7\tuser\t\t0\n"
		 "1\t100\t5\t7\tnowhere\t\t0\n"
		 "1\t100\t5");
	assert_int_equal(in.exact->ndue, 1);
	metrics_are(&in, "note rows_unreadable = 4, notes = 1");
}

TEST_WITH(file_without_a_column_is_refused, set_up())
{
	assert_int_equal(read_text("frame.tsv", "cpu\tpid\tcomm\tcontext\tvector\tns\n"
						"1\t7\tw\tuser\t\t100\n"),
			 -EBADMSG);
	assert_non_null(strstr(err.text, "parent"));
	err = (struct error){0};
	assert_int_equal(
		read_text("due.tsv", "cpu\tat\tlate\tpid\tcontext\tvector\n1\t1\t1\t7\tuser\t\n"),
		-EBADMSG);
	assert_non_null(strstr(err.text, "changes"));
}

TEST_WITH(cpu_of_another_side_is_left_out, set_up())
{
	read_times("0\t7\t1\tw\tuser\t\t100\t\n2\t7\t1\tw\tuser\t\t200\t\n"
		   "3\t7\t1\tw\tuser\t\t300\t\n");
	assert_int_equal(in.exact->ntimes, 1);
	assert_int_equal(in.notes.n, 0);
	time_is(0, 2, 7, "[user]", PLACE_USER, 200);
	read_due("0\t100\t5\t7\tuser\t\t0\n1\t200\t5\t7\tuser\t\t0\n");
	assert_int_equal(in.exact->ndue, 1);
	assert_int_equal(in.exact->due[0].cpu, 1);
}

/* A grandchild may stand before its parent, and have run on a CPU of another side only. */
TEST_WITH(workload_has_its_descendants_and_the_names_of_the_plan, set_up())
{
	in.named = "ngi* redis";
	read_times("0\t30\t20\tgrandchild\tuser\t\t1\t\n"
		   "1\t20\t7\tchild\tuser\t\t1\t\n"
		   "1\t40\t1\tnginx\tuser\t\t1\t\n"
		   "1\t41\t40\thelper\tuser\t\t1\t\n"
		   "1\t50\t1\tother\tuser\t\t1\t\n"
		   "1\t51\t50\tredis-cli\tuser\t\t1\t\n"
		   "1\t0\t0\tnginx\tkthread\t\t1\t\n");
	assert_int_equal(in.npids, 5);
	for (size_t i = 0; i < in.npids; i++)
		assert_true(in.pids[i] == 7 || in.pids[i] == 20 || in.pids[i] == 30 ||
			    in.pids[i] == 40 || in.pids[i] == 41);
}

/* --- where a sample counts --- */

static const struct exact_due *find(uint32_t cpu, uint64_t time)
{
	struct sample s = {.cpu = cpu, .time = time};

	return exact_find(in.exact, &s);
}

TEST_WITH(sample_belongs_to_the_last_timer_of_its_cpu, set_up())
{
	read_due("2\t5000\t1\t7\tuser\t\t0\n1\t9000000\t2\t7\tuser\t\t0\n"
		 "1\t4000\t3\t7\tuser\t\t0\n1\t6000\t4\t7\tuser\t\t0\n");
	assert_int_equal(find(1, 4000)->late, 3);
	assert_int_equal(find(1, 5999)->late, 3);
	assert_int_equal(find(1, 6001)->late, 4);
	assert_int_equal(find(2, 5001)->late, 1);
	assert_int_equal(find(1, 6000 + 1000000)->late, 4);
	assert_null(find(1, 6000 + 1000001)); /* its own row is lost */
	assert_null(find(1, 3999));
	assert_null(find(2, 4999)); /* the row before it is of CPU 1 */
	assert_null(find(3, 5001));
}

static const struct exact_label places[] = {
	{"[user]", PLACE_USER},
	{"[syscall]", PLACE_SYSCALL},
	{"[halt]", PLACE_HALT},
	{"[hardirq local_timer]", PLACE_HARDIRQ},
};
enum { AT_USER, AT_SYSCALL, AT_HALT, AT_TIMER };

static uint32_t mode_of_late_sample(uint64_t late, uint32_t label, uint16_t mode, uint32_t nr)
{
	const struct exact x = {.labels = (struct exact_label *)places};
	const struct exact_due d = {.late = late, .label = label};
	struct stack_head h = {.mode = mode, .nr = nr};
	struct fold_cost c = {.pid = OWN};

	exact_place_sample(&c, &h, &x, &d);
	assert_int_equal(c.place, places[label].place);
	assert_int_equal(c.pid, OWN);
	return h.mode;
}

TEST(late_sample_of_the_kernel_has_interrupts_off)
{
	const uint16_t kernel = PERF_RECORD_MISC_KERNEL, user = PERF_RECORD_MISC_USER;

	assert_int_equal(mode_of_late_sample(50000, AT_SYSCALL, kernel, 3), MODE_INTERRUPTS_OFF);
	assert_int_equal(mode_of_late_sample(49999, AT_SYSCALL, kernel, 3), kernel);
	assert_int_equal(mode_of_late_sample(50000, AT_USER, user, 3), user);
	assert_int_equal(mode_of_late_sample(50000, AT_SYSCALL, kernel, 0), kernel);
	assert_int_equal(mode_of_late_sample(50000, AT_HALT, kernel, 3), kernel);
}

/* The chain is of no use if it is that of another process, or if the sample was due in an
 * interrupt. */
TEST(sample_due_in_another_context_counts_there)
{
	static const struct {
		uint32_t pid, label, nr;
	} rows[] = {
		{OTHER, AT_TIMER, 0}, {OTHER, AT_SYSCALL, 0}, {OWN, AT_TIMER, 0},
		{OWN, AT_SYSCALL, 3}, {0, AT_HALT, 3},
	};
	const struct exact x = {.labels = (struct exact_label *)places};

	each (r, rows) {
		const struct exact_due d = {
			.late = 70000, .pid = r->pid, .label = r->label, .changes = 2};
		struct stack_head h = {
			.mode = PERF_RECORD_MISC_KERNEL, .ip = 5, .nr = 3, .pid = OWN};
		struct fold_cost c = {.pid = OWN, .tid = OWN + 1};

		exact_place_sample(&c, &h, &x, &d);
		assert_int_equal(c.place, places[r->label].place);
		assert_int_equal(c.pid, r->pid);
		assert_int_equal(c.tid, r->pid == OWN ? OWN + 1 : r->pid);
		assert_int_equal(h.mode & STACK_MODE, r->nr ? PERF_RECORD_MISC_KERNEL : MODE_LABEL);
		assert_int_equal(h.ip, r->nr ? 5 : r->label);
		assert_int_equal(h.nr, r->nr);
		assert_int_equal(h.mode >> STACK_DUE, r->nr ? r->label + 1 : 0);
	}
}

/* --- weights --- */

static struct writer records;
static struct str due_rows;

/* Adds samples at 1 ms each of a CPU and process, and their rows of due.tsv. */
static void add_samples(unsigned int n, uint64_t from_ms, uint32_t cpu, uint32_t pid, uint64_t addr,
			const char *due)
{
	const bool kernel = addr >= IN_KERNEL;

	for (unsigned int i = 0; i < n; i++) {
		struct w_sample s = {.time = (from_ms + i) * MS + 500,
				     .period = MS,
				     .pid = pid,
				     .tid = pid,
				     .cpu = cpu,
				     .mode = kernel ? PERF_RECORD_MISC_KERNEL
						    : PERF_RECORD_MISC_USER,
				     .chain = {kernel ? (uint64_t)PERF_CONTEXT_KERNEL
						      : (uint64_t)PERF_CONTEXT_USER,
					       addr}};

		w_sample(&records, &s);
		if (due)
			str_printf(&due_rows, "%u\t%llu\t%s\n", cpu,
				   (unsigned long long)(from_ms + i) * MS, due);
	}
}

/*
 * Reads the samples that were added. Without rows of due.tsv, they are those of cycles. The caller
 * frees the profile.
 */
static struct profile weighed(const char *times)
{
	static const uint32_t workload[] = {OWN};
	struct writer w = {0};
	struct profile p;
	struct perfdata_options o = {
		.threads = 1, .addresses = true, .workload = workload, .nworkload = 1};

	read_times(times);
	o.exact = in.exact;
	w_pipe(&w, &records.out);
	if (due_rows.len)
		read_due(due_rows.buf);
	else
		memset(w.out.buf + 24, 0, 4); /* the type: PERF_TYPE_HARDWARE */
	assert_int_equal(w_read(&p, &w.out, &o, NULL), 0);
	str_free(&w.out);
	str_free(&records.out);
	str_reset(&due_rows);
	return p;
}

/*
 * "weight": of all rows. Otherwise "PID/CONTEXT" or "PID/CONTEXT NAME": the weight in ms of the
 * rows, of those whose leaf has that name.
 */
static struct named_figure weight_figure(const void *from, const char *name)
{
	const struct profile *p = from;
	const char *context = strchr(name, '/'), *leaf;
	struct named_figure sum = {.number = NAN};

	for (size_t i = 0; i < p->ncosts; i++) {
		const struct profile_cost *c = &p->costs[i];
		size_t len = strlen(context_names[c->context]);

		leaf = intern_get(&p->strings, p->symbols[p->frames[c->frame].symbol].name);
		if (strcmp(name, "weight") &&
		    (c->pid != (uint32_t)atoi(name) || !context ||
		     strncmp(context + 1, context_names[c->context], len) ||
		     (context[1 + len] && strcmp(context + 2 + len, leaf))))
			continue;
		sum.number = (isnan(sum.number) ? 0 : sum.number) + (double)c->weight / MS;
	}
	return sum;
}

static void weights_are(const char *times, const char *expected)
{
	struct profile p = weighed(times);
	struct named_figure all = weight_figure(&p, "weight");

	figures_are(weight_figure, &p, expected);
	assert_float_equal(all.number, (double)p.events[0].weight / MS, 1e-9);
	profile_free(&p);
}

/* CPU 1: 20 + 5 samples of user code share 50 ms, 10 of system calls 15 ms. CPU 2 has its own. */
TEST_WITH(samples_divide_the_exact_time_of_their_place, set_up())
{
	add_samples(20, 0, 1, OWN, IN_USER, "9\t7\tuser\t\t0");
	add_samples(5, 20, 1, OWN, IN_USER + 0x100, "9\t7\tuser\t\t0");
	add_samples(10, 30, 1, OWN, IN_KERNEL, "9\t7\tsyscall\t\t0");
	add_samples(10, 0, 2, OWN, IN_USER, "9\t7\tuser\t\t0");
	weights_are("1\t7\t1\tw\tuser\t\t50000000\t\n1\t7\t1\tw\tsyscall\t\t15000000\t\n"
		    "2\t7\t1\tw\tuser\t\t5000000\t\n",
		    "7/user 0x1000 = 45, 7/user 0x1100 = 10, 7/syscall = 15, weight = 70");
}

TEST_WITH(workload_and_other_programs_have_their_own_times, set_up())
{
	add_samples(10, 0, 1, OWN, IN_USER, "9\t7\tuser\t\t0");
	add_samples(10, 10, 1, OTHER, IN_USER, "9\t8\tuser\t\t0");
	weights_are("1\t7\t1\tw\tuser\t\t30000000\t\n1\t8\t1\to\tuser\t\t2000000\t\n",
		    "7/user = 30, 8/user = 2, weight = 32");
}

/* 4 samples of 40 ms stay 4 ms. Other programs' times without a sample have their labels. */
TEST_WITH(rest_of_a_thin_place_has_the_name_of_the_place, set_up())
{
	add_samples(4, 0, 1, OWN, IN_USER, "9\t7\tuser\t\t0");
	weights_are("1\t7\t1\tw\tuser\t\t40000000\t\n"
		    "1\t0\t0\t\thardirq\tdevice\t4000000\t\n"
		    "1\t8\t1\to\thardirq\tlocal_timer\t6000000\t\n",
		    "7/user 0x1000 = 4, 7/user [user] = 36, 0/hardirq [hardirq device] = 4, "
		    "8/hardirq [hardirq local_timer] = 6, weight = 50");
	add_samples(4, 0, 1, OWN, IN_USER, "9\t7\tuser\t\t0");
	set_up();
	weights_are("1\t7\t1\tw\tuser\t\t20000000\t\n", "7/user 0x1000 = 20, weight = 20");
}

/*
 * 10 samples land in user code of the workload. 6 of these were due in the timer's interrupt on top
 * of another program, 2 of them in the one whose end let them land; 2 cannot be joined to a timer.
 */
TEST_WITH(sample_counts_where_it_was_due, set_up())
{
	add_samples(2, 0, 1, OWN, IN_USER, "9\t7\tuser\t\t0");
	add_samples(4, 2, 1, OWN, IN_USER, "60000\t8\thardirq\tlocal_timer\t1");
	add_samples(2, 6, 1, OWN, IN_USER, "60000\t8\thardirq\tlocal_timer\t0");
	add_samples(2, 20, 1, OWN, IN_USER, NULL);
	weights_are("1\t7\t1\tw\tuser\t\t2000000\t\n1\t8\t1\to\thardirq\tlocal_timer\t3000000\t\n",
		    "7/user = 2, 8/hardirq [hardirq local_timer] = 3, weight = 5");
}

/* A sample that was due in another process, and the rest of a place. */
TEST_WITH(row_has_the_command_of_its_process, set_up())
{
	struct profile p;

	w_comm(&records, 0, OWN, OWN, false, "mine");
	w_comm(&records, 0, OTHER, OTHER, false, "theirs");
	add_samples(1, 0, 1, OWN, IN_USER, "9\t8\tuser\t\t1");
	p = weighed("1\t8\t1\to\tuser\t\t1000000\t\n1\t8\t1\to\thardirq\tdevice\t500000\t\n");
	assert_int_equal(p.ncosts, 2);
	for (size_t i = 0; i < p.ncosts; i++)
		assert_string_equal(intern_get(&p.strings, p.costs[i].comm), "theirs");
	profile_free(&p);
}

/* --- where a sample was due, by its chain --- */

/* Adds a sample whose chain, leaf first, has functions of the kernel, or of the process: "user". */
static void add_chain(uint64_t ms, uint32_t pid, const char *chain, const char *due)
{
	static const char *const names[] = {"copy",
					    "entry_SYSCALL_64",
					    "asm_sysvec_reschedule",
					    "handle_softirqs",
					    "cpu_startup_entry",
					    "kthread"};
	struct w_sample s = {.time = ms * MS + 500, .period = MS, .pid = pid, .tid = pid, .cpu = 1};
	autofree char *text = xstrdup(chain);
	char *rest = text, *name;
	size_t n = 0, i;

	for (i = 0; i < array_size(names); i++)
		w_ksymbol(&records, 0, IN_KERNEL + 0x100 * i, 0x100, false, names[i]);
	s.mode = str_starts(chain, "user") ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	s.chain[n++] = (uint64_t)PERF_CONTEXT_KERNEL;
	while ((name = str_token(&rest, ' '))) {
		for (i = 0; i < array_size(names) && strcmp(names[i], name); i++)
			;
		if (i == array_size(names))
			s.chain[s.mode == PERF_RECORD_MISC_USER ? 0 : n++] =
				(uint64_t)PERF_CONTEXT_USER;
		s.chain[n++] = i == array_size(names) ? IN_USER : IN_KERNEL + 0x100 * i + 8;
	}
	w_sample(&records, &s);
	if (due)
		str_printf(&due_rows, "1\t%llu\t%s\n", (unsigned long long)ms * MS, due);
}

/* An interrupt, a softirq and a switch came between a moment in the context and the sample. */
TEST_WITH(chain_tells_the_function_in_which_a_sample_was_due, set_up())
{
#define IN_SOFTIRQ "handle_softirqs asm_sysvec_reschedule "
	static const struct {
		uint32_t pid;
		const char *chain, *due, *times, *expected;
	} rows[] = {
		{OWN, IN_SOFTIRQ "copy entry_SYSCALL_64 user", "7\tsyscall\t", "7\t1\tw\tsyscall\t",
		 "7/syscall copy = 1"},
		{OWN, "handle_softirqs copy entry_SYSCALL_64 user", "7\tsyscall\t",
		 "7\t1\tw\tsyscall\t", "7/syscall copy = 1"},
		{OWN, "copy entry_SYSCALL_64 user", "7\tsyscall\t", "7\t1\tw\tsyscall\t",
		 "7/syscall copy = 1"},
		{OWN, IN_SOFTIRQ "user", "7\tuser\t", "7\t1\tw\tuser\t", "7/user 0x1000 = 1"},
		{OWN, IN_SOFTIRQ "copy entry_SYSCALL_64 user", "7\tuser\t", "7\t1\tw\tuser\t",
		 "7/user 0x1000 = 1"},
		{OWN, "copy handle_softirqs entry_SYSCALL_64 user", "7\tsoftirq_in_syscall\tRCU",
		 "7\t1\tw\tsoftirq_in_syscall\tRCU", "7/softirq in syscall copy = 1"},
		{OTHER, IN_SOFTIRQ "copy kthread", "0\tkthread\t", "0\t0\t\tkthread\t",
		 "8/kthread copy = 1"},
		{0, IN_SOFTIRQ "copy cpu_startup_entry", "0\thalt\t", "0\t0\t\thalt\t",
		 "0/idle copy = 1"},
		{0, "copy cpu_startup_entry", "0\tidle\t", "0\t0\t\tidle\t",
		 "0/idle task [idle] = 1"},
		{OWN, "user", "7\tsyscall\t", "7\t1\tw\tsyscall\t", "7/syscall [syscall] = 1"},
		{OTHER, "copy entry_SYSCALL_64 user", "7\tsyscall\t", "7\t1\tw\tsyscall\t",
		 "7/syscall [syscall] = 1"},
		{OWN, "user", "7\thardirq\tdevice", "7\t1\tw\thardirq\tdevice",
		 "7/hardirq [hardirq device] = 1"},
	};

	each (r, rows) {
		autofree char *due = xasprintf("9\t%s\t1", r->due),
			      *times = xasprintf("1\t%s\t1000000\t\n", r->times),
			      *expected = xasprintf("%s, weight = 1", r->expected);

		set_up();
		add_chain(0, r->pid, r->chain, due);
		weights_are(times, expected);
	}
}

/* 40 samples of cycles share the times, but for the halt. A halted CPU counts no cycles. */
TEST_WITH(samples_of_cycles_divide_the_exact_time_of_their_place, set_up())
{
	for (unsigned int i = 0; i < 10; i++) {
		add_chain(4 * i, OWN, "user", NULL);
		add_chain(4 * i + 1, OWN, "copy entry_SYSCALL_64 user", NULL);
		add_chain(4 * i + 2, 0, "copy cpu_startup_entry", NULL);
		add_chain(4 * i + 3, 0, "copy handle_softirqs cpu_startup_entry", NULL);
	}
	weights_are("1\t7\t1\tw\tuser\t\t600\t\n1\t7\t1\tw\tsyscall\t\t300\t\n"
		    "1\t0\t0\t\tidle\t\t50\t\n1\t0\t0\t\tsoftirq_in_idle\tRCU\t50\t\n"
		    "1\t0\t0\t\thalt\t\t1000\t\n",
		    "7/user = 24, 7/syscall copy = 12, 0/idle task copy = 2, 0/softirq copy = 2, "
		    "weight = 40");
}

/* Interrupts were off in half of the samples of a system call. */
TEST_WITH(time_with_interrupts_off_has_a_name, set_up())
{
	add_samples(10, 0, 1, OWN, IN_KERNEL, "9\t7\tsyscall\t\t0");
	add_samples(10, 10, 1, OWN, IN_KERNEL, "60000\t7\tsyscall\t\t0");
	weights_are("1\t7\t1\tw\tsyscall\t\t40000000\t\n",
		    "7/syscall [interrupts off] = 20, 7/syscall = 40, weight = 40");
}

/* A place that the frame has no time for has no weight either. */
TEST_WITH(sample_without_exact_time_has_no_weight, set_up())
{
	add_samples(3, 0, 1, OWN, IN_USER, "9\t7\tuser\t\t0");
	add_samples(3, 3, 1, OWN, IN_KERNEL, "9\t7\tsyscall\t\t0");
	weights_are("1\t7\t1\tw\tuser\t\t5000000\t\n", "7/user = 5, 7/syscall = 0, weight = 5");
}

/* --- without samples --- */

TEST_WITH(frame_alone_is_a_profile, set_up())
{
	struct profile p;

	read_times("1\t7\t1\tw\tuser\t\t30000000\t\n"
		   "1\t7\t1\tw\tsoftirq_in_syscall\tNET_RX\t5000000\t\n"
		   "1\t0\t0\t\tsoftirq_in_idle\tNET_RX\t3000000\t\n"
		   "1\t0\t0\t\tidle\t\t1000000\t\n"
		   "1\t0\t0\t\thalt\t\t2000000\t\n");
	profile_init(&p);
	exact_fill_profile(in.exact, &p);
	figures_are(weight_figure, &p,
		    "7/user [user] = 30, 7/softirq in syscall [softirq NET_RX] = 5, "
		    "0/softirq [softirq NET_RX] = 3, 0/idle task [idle] = 1, 0/idle [halt] = 2, "
		    "weight = 41");
	assert_int_equal(p.events[0].weight, 41 * MS);
	profile_free(&p);
}
