// SPDX-License-Identifier: GPL-2.0-only
#include "lib/cpuset.h"
#include "lib/cursor.h"
#include "lib/hash.h"
#include "lib/intern.h"
#include "lib/names.h"
#include "lib/words.h"
#include "lib/sha256.h"
#include "lib/snap.h"
#include "lib/spawn.h"
#include "lib/str.h"
#include "lib/table.h"
#include "lib/workers.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

TEST(cpuset_is_read_and_printed)
{
	struct cpuset set;
	char *text;

	assert_int_equal(cpuset_parse(&set, "0-3,8\n", &err), 0);
	assert_int_equal(cpuset_count(&set), 5);
	text = cpuset_format(&set);
	assert_string_equal(text, "0-3,8");
	free(text);
	assert_int_equal(cpuset_parse(&set, "3-1", NULL), -EINVAL);
	assert_int_equal(cpuset_parse(&set, "", NULL), -EINVAL);
	assert_int_equal(cpuset_parse(&set, "1,", NULL), -EINVAL);
	assert_int_equal(cpuset_parse(&set, "4096", NULL), -EINVAL);
	assert_int_equal(cpuset_parse(&set, "1x", &err), -EINVAL);
	assert_non_null(strstr(err.text, "'1x'"));
}

/* The cursor's bytes end at an unmapped page, so a read one byte too far crashes. */
TEST(cursor_stays_inside_its_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = p + page - 7;
	struct cursor c;

	munmap(p + page, page);
	memcpy(at, "\x01\x02\x03\x04\x05\x06\x07", 7);
	c = cursor_of(at, 7, false);
	assert_int_equal(cursor_u32(&c), 0x04030201);
	assert_int_equal(cursor_u32(&c), 0);
	assert_true(c.bad);
	c = cursor_of(at, 7, true);
	assert_int_equal(cursor_u16(&c), 0x0102);
	assert_int_equal(cursor_u32(&c), 0x03040506);
	assert_null(cursor_str(&c, 1));
	assert_true(c.bad);
	munmap(p, page);
}

TEST(intern_and_map_find_what_was_added)
{
	freed(intern_free) struct intern in = {0};
	freed(map_free) struct map m = {0};
	char name[16];

	assert_int_equal(intern_find(&in, "x", 1), INTERN_NONE);
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(intern_str(&in, name), i);
		*map_at(&m, (uint64_t)i << 40) = i;
	}
	assert_int_equal(intern_str(&in, "n42"), 42);
	assert_string_equal(intern_get(&in, 4999), "n4999");
	assert_int_equal(*map_get(&m, 77ULL << 40), 77);
	assert_null(map_get(&m, 1));
}

TEST(sha256_equals_fips_180_2)
{
	struct sha256 h;
	char hex[65];

	/* FIPS 180-2, B.1 and B.2 */
	sha256_begin(&h);
	sha256_add(&h, "abc", 3);
	sha256_hex(&h, hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_begin(&h);
	sha256_add(&h, "abcdbcdecdefdefgefghfghighij", 28);
	sha256_add(&h, "hijkijkljklmklmnlmnomnopnopq", 28);
	sha256_hex(&h, hex);
	assert_string_equal(hex,
			    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(snapshots_are_read_back)
{
	char path[] = "/tmp/zcost-snap-XXXXXX";
	struct snaps s;
	int fd = mkstemp(path);

	assert_int_equal(snap_append(fd, 5, "one\n", 4), 0);
	assert_int_equal(snap_append(fd, 9, "", 0), 0);
	assert_int_equal(snaps_read(&s, path, &err), 0);
	assert_int_equal(s.n, 2);
	assert_string_equal(snaps_text(&s, 0), "one\n");
	assert_string_equal(snaps_text(&s, 1), "");
	assert_string_equal(snaps_text(&s, 0), "one\n");
	assert_int_equal(s.snap[1].mono_ns, 9);
	snaps_free(&s);
	assert_int_equal(write(fd, "@12 50\nshort", 12), 12);
	assert_int_equal(snaps_read(&s, path, &err), -EBADMSG);
	assert_int_equal(s.n, 2);
	assert_non_null(strstr(err.text, "offset"));
	assert_int_equal(ftruncate(fd, 8), 0);
	assert_int_equal(s.failed.code, 0);
	assert_string_equal(snaps_text(&s, 0), "");
	assert_int_equal(s.failed.code, EIO);
	snaps_free(&s);
	close(fd);
	unlink(path);
}

TEST(programs_start_stop_and_time_out)
{
	char *yes[] = {"true", NULL}, *no[] = {"zcost-no-such-program", NULL};
	char *slow[] = {"sleep", "60", NULL};
	int status;
	pid_t pid;

	assert_int_equal(spawn_run(yes, NULL, &err), 0);
	assert_int_equal(spawn_run(no, NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "zcost-no-such-program"));
	assert_int_equal(spawn_start(&pid, slow, NULL, NULL), 0);
	assert_int_equal(spawn_wait(pid, 10, &status), -ETIMEDOUT);
	spawn_stop(pid, 30000, &status);
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

TEST(wait_times_out_without_a_free_descriptor)
{
	char *slow[] = {"sleep", "60", NULL};
	struct rlimit was, none;
	int status;
	pid_t pid;

	assert_int_equal(spawn_start(&pid, slow, NULL, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = (struct rlimit){0, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(spawn_wait(pid, 100, &status), -ETIMEDOUT);
	spawn_stop(pid, 30000, &status);
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

/* Returns a number of the line in /proc/self/stat, by its place in proc(5). */
static unsigned long long stat_field(const char *line, int place)
{
	const char *at = strrchr(line, ')') + 2;

	for (; place > 3; place--)
		at = strchr(at, ' ') + 1;
	return strtoull(at, NULL, 10);
}

/* Says that the environment of this process is that memory, as any process may. */
static int environ_claim(const char *memory, size_t len)
{
	struct prctl_mm_map m;
	char *line;
	int rc;

	if (file_read("/proc/self/stat", &line, NULL, NULL))
		return -1;
	m = (struct prctl_mm_map){.start_code = stat_field(line, 26),
				  .end_code = stat_field(line, 27),
				  .start_data = stat_field(line, 45),
				  .end_data = stat_field(line, 46),
				  .start_brk = stat_field(line, 47),
				  .brk = (uintptr_t)sbrk(0),
				  .start_stack = stat_field(line, 28),
				  .arg_start = stat_field(line, 48),
				  .arg_end = stat_field(line, 49),
				  .env_start = (uintptr_t)memory,
				  .env_end = (uintptr_t)memory + len,
				  .exe_fd = (uint32_t)-1};
	rc = prctl(PR_SET_MM, PR_SET_MM_MAP, &m, sizeof(m), 0);
	free(line);
	return rc;
}

/* Runs in a child and never returns. */
static void environ_wait(const char *mark, size_t at, size_t len, int report)
{
	char *memory = mmap(NULL, len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char failed = memory == MAP_FAILED || environ_claim(memory, len);

	if (!failed)
		strcpy(memory + at, mark);
	if (write(report, &failed, 1) == 1)
		pause();
	_exit(0);
}

/* Looks for a mark that begins at `at` in an environment of `len` bytes. */
static bool finds_mark(size_t at, size_t len, unsigned long long *read_bytes)
{
	static const char mark[] = "ZCOST_TEST=1";
	char pid[16], failed = 1;
	int report[2];
	pid_t child;
	bool found;

	assert_int_equal(pipe(report), 0);
	child = fork();
	if (!child)
		environ_wait(mark, at, len, report[1]);
	assert_int_equal(read(report[0], &failed, 1), 1);
	snprintf(pid, sizeof(pid), "%d", (int)child);
	*read_bytes = bytes_read();
	found = marked_has_mark(pid, mark, false);
	*read_bytes = bytes_read() - *read_bytes;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(report[0]);
	close(report[1]);
	if (failed)
		skip(); /* a kernel without CONFIG_CHECKPOINT_RESTORE */
	return found;
}

TEST(mark_search_reads_two_mib_of_an_environment_at_most)
{
	unsigned long long n;

	assert_true(finds_mark(1000000, 1 << 20, &n));
	assert_false(finds_mark(1000000, (size_t)6 << 30, &n));
	assert_true(n < 2 << 20);
}

/* Text joins a value and its interval in one cell and leaves out empty columns. */
TEST(text_joins_value_and_interval)
{
	static const struct column c[] = {
		{"side", .type = V_STR},
		{"x", .type = V_REAL, .digits = 1, .spread = SPREAD_RANGE},
		{"watt", .type = V_REAL, .digits = 1},
		{"ns", .type = V_REAL, .digits = 1, .spread = SPREAD_HALF}};
	freed(table_free) struct table t;
	struct value *row;
	autofree char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	table_init(&t, "t", c, 4);
	row = table_row(&t);
	row[0] = value_str(&t, "a");
	row[1] = value_estimate(&t, 2, 1, 3);
	row[3] = value_half(&t, 7, 0.5);
	row = table_row(&t);
	row[0] = value_str(&t, "b");
	row[3] = value_real(-0.04); /* no "-0.0" on paper */
	assert_int_equal(table_write(&t, FORMAT_TEXT, 0, f), 0);
	assert_int_equal(table_write(&t, FORMAT_TSV, 0, f), 0);
	fclose(f);
	assert_string_equal(text, "side                 x         ns\n"
				  "a     2.0 [1.0 .. 3.0]  7.0 +-0.5\n"
				  "b                    -        0.0\n"
				  "# not measured: watt\n"
				  "side\tx\tx_lo\tx_hi\twatt\tns\tns_ci\n"
				  "a\t2\t1\t3\t\t7\t0.5\nb\t\t\t\t\t-0.04\t\n");
}

TEST(only_regular_files_are_opened)
{
	char dir[] = "/tmp/zcost-file.XXXXXX", *fifo, *text, hex[65];

	assert_non_null(mkdtemp(dir));
	fifo = xasprintf("%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	alarm(20); /* opening a fifo would block */
	assert_int_equal(file_open(fifo, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "fifo: not a regular file"));
	assert_int_equal(file_read(fifo, &text, NULL, NULL), -EBADMSG);
	assert_int_equal(file_read("/dev/zero", &text, NULL, NULL), -EBADMSG);
	assert_int_equal(file_read("-", &text, NULL, NULL), -ENOENT);
	assert_int_equal(sha256_file(fifo, hex, NULL), -EBADMSG);
	assert_int_equal(file_open(dir, NULL), -EISDIR);
	assert_int_equal(file_read("/proc/self/status", &text, NULL, NULL), 0);
	alarm(0);
	free(text);
	free(fifo);
	assert_int_equal(dir_remove(dir, NULL), 0);
}

/* file_create() replaces a file of the name, but no device and no FIFO. */
TEST(only_files_are_replaced)
{
	char dir[] = "/tmp/zcost-unit.XXXXXX", path[64];
	struct stat st;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x", dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	fd = file_create(path, 0, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(file_create(path, 0, 0600), -EEXIST);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	unlink(path);
	rmdir(dir);
}

/* Writes what it visits, and removes entries while the walk is under way. */
static int walk_note(void *arg, const struct walked *e, struct error *err)
{
	str_printf(arg, "%s:%d%s ", e->name, e->level, e->code == ENOENT ? ":gone" : "");
	if (!strcmp(e->name, "a/file"))
		return unlink("b_gone");
	if (!strcmp(e->name, "d_gone") && !e->code)
		return rmdir("d_gone");
	if (!strcmp(e->name, "z_end"))
		return error_set(err, EILSEQ, "%s", e->path);
	return !strcmp(e->name, "skipped") ? WALK_SKIP : 0;
}

TEST(a_walk_visits_all_entries_and_says_which_are_gone)
{
	char dir[] = "/tmp/zcost-walk.XXXXXX", before[PATH_MAX];
	freed(str_free) struct str seen = {0};

	assert_non_null(getcwd(before, sizeof(before)));
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("a", 0700) | mkdir("d_gone", 0700) | mkdir("skipped", 0700), 0);
	assert_int_equal(symlink("a", "c_link"), 0);
	file_write("a/file", "", 0, &err);
	file_write("b_gone", "", 0, &err);
	file_write("skipped/file", "", 0, &err);
	file_write("z_end", "", 0, &err);
	assert_int_equal(err.code, 0);
	assert_int_equal(dir_walk(".", walk_note, &seen, &err), -EILSEQ);
	assert_string_equal(err.text, "./z_end");
	assert_string_equal(seen.buf, "a:1 a/file:2 b_gone:1:gone c_link:1 d_gone:1 d_gone:1:gone "
				      "skipped:1 z_end:1 ");
	assert_int_equal(chdir(before) | dir_remove(dir, NULL), 0);
	str_reset(&seen);
	assert_int_equal(dir_walk(dir, walk_note, &seen, NULL), 0);
	assert_string_equal(seen.buf, ":0:gone ");
}

static void texts_write(void *arg, size_t number)
{
	const char **shown = arg;

	shown[number] = spawn_status_text(0);
}

TEST(each_thread_has_its_own_texts_of_messages)
{
	const char *shown[2] = {0};

	workers_run(2, texts_write, shown);
	assert_ptr_not_equal(shown[0], shown[1]);
}

static void *number_double(void *number)
{
	*(int *)number *= 2;
	return NULL;
}

TEST(background_work_is_done_after_the_wait)
{
	struct background b = {0};
	int number = 21;

	background_wait(&b); /* none runs */
	background_start(&b, number_double, &number);
	background_wait(&b);
	assert_int_equal(number, 42);
	background_wait(&b);
	assert_int_equal(number, 42);
}

TEST(program_of_a_command_is_found_behind_prefixes)
{
	static const struct {
		const char *command, *program;
	} cases[] = {
		{"/usr/bin/iperf3 -s", "iperf3"},
		{"taskset -c 1 iperf3 -s", "iperf3"},
		{"taskset --cpu-list 0-3 /opt/a/tool x", "tool"},
		{"numactl -N 0 --membind=0 wrk -t 2", "wrk"},
		{"ip netns exec a taskset 3 ./tcpzc --listen", "tcpzc"},
		{"ip link show", "ip"},
		{"timeout -s INT 5 nice -n -5 ab -n 1", "ab"},
		{"A=1 env B=/x/y C=2 prog", "prog"},
		{"sh -c 'exec taskset -c 0 iperf3 -s'", "sh"},
		{"taskset -c 1", "taskset"},
		{"taskset 1 iperf3 -c 'it", "iperf3"}, /* the quote is not closed */
		{"A=1", "A=1"},
	};

	each (c, cases) {
		autofree char *name = program_name(c->command);

		assert_string_equal(name, c->program);
	}
	assert_null(program_name(" "));
}
