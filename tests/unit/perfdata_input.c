// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks where a recording comes from: a file, a pipe, standard input or a folder; and which of its
 * records and files are known.
 */
#include "analyze/perfdata/objects.h"
#include "analyze/perfdata/recording.h"
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void check_bytes(const struct input *in, const char *text)
{
	assert_int_equal(in->len, strlen(text));
	assert_memory_equal(in->data, text, in->len);
}

TEST(file_is_mapped)
{
	const struct timespec times[] = {{1000, 7}, {2000, 9}};
	int standard = dup(STDIN_FILENO);
	struct recording r = {.spool.fd = -1};
	autofree char *path = path_of("file"), *empty = path_of("empty"), *none = path_of("none");

	put_text("file", "bytes");
	put_text("empty", "");
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(input_open(&r, path, true, &err), 0);
	assert_int_equal(r.ninputs, 1);
	check_bytes(&r.inputs[0], "bytes");
	assert_string_equal(r.inputs[0].path, path);
	assert_int_equal(r.recorded_by_ns, 2000 * 1000000000LL + 9);
	assert_int_equal(input_open(&r, empty, false, &err), 0);
	assert_int_equal(r.inputs[1].len, 0);
	assert_null(r.inputs[1].data);
	assert_int_equal(input_open(&r, none, false, &err), -ENOENT);
	assert_non_null(strstr(err.text, none));
	input_close(&r);
	r = (struct recording){.spool.fd = -1};
	close(STDIN_FILENO); /* the file gets the number 0 */
	assert_int_equal(input_open(&r, path, false, &err), 0);
	check_bytes(&r.inputs[0], "bytes");
	input_close(&r);
	dup2(standard, STDIN_FILENO);
	close(standard);
}

/* Opens a folder's files, of `perf record --threads`. */
TEST(folder_has_its_files_up_to_the_first_gap)
{
	struct recording r = {.spool.fd = -1};
	autofree char *path = path_of("threads"), *other = path_of("other");

	put_text("threads/data", "head");
	put_text("threads/data.0", "zero");
	put_text("threads/data.1", "one");
	put_text("threads/data.3", "three");
	put_text("other/data.0", "zero");
	assert_int_equal(input_open(&r, path, false, &err), 0);
	assert_int_equal(r.ninputs, 3);
	check_bytes(&r.inputs[0], "head");
	check_bytes(&r.inputs[1], "zero");
	check_bytes(&r.inputs[2], "one");
	input_close(&r);
	r = (struct recording){.spool.fd = -1};
	assert_int_equal(input_open(&r, other, false, &err), -ENOENT);
	assert_non_null(strstr(err.text, "has no file 'data'"));
	assert_int_equal(r.ninputs, 0);
	input_close(&r);
}

/* Returns the reading end of a pipe in which a process writes n bytes. */
static int pipe_of(size_t n, pid_t *writer)
{
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	*writer = fork();
	assert_true(*writer >= 0);
	if (!*writer) {
		close(fd[0]);
		for (size_t i = 0; i < n; i++)
			if (write(fd[1], &"0123456789"[i % 10], 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(fd[1]);
	return fd[0];
}

static void check_pipe(size_t n, bool standard)
{
	struct recording r = {.spool.fd = -1};
	int old = dup(STDIN_FILENO), fd, status, rc;
	int64_t before = (int64_t)time(NULL) * 1000000000;
	struct error err = {0};
	char name[40] = "-";
	pid_t writer;

	fd = pipe_of(n, &writer);
	if (standard)
		dup2(fd, STDIN_FILENO);
	else
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	rc = input_open(&r, name, false, &err);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	dup2(old, STDIN_FILENO);
	close(old);
	close(fd);
	assert_int_equal(rc, n || !standard ? 0 : -ENODATA);
	assert_int_equal(r.inputs[0].len, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(r.inputs[0].data[i], '0' + i % 10);
	assert_true(r.recorded_by_ns >= before && r.recorded_by_ns < before + 100 * 1000000000LL);
	assert_string_equal(r.inputs[0].path, standard ? "standard input" : name);
	if (standard)
		assert_string_equal(r.path, "standard input");
	input_close(&r);
}

TEST(pipe_is_copied)
{
	check_pipe(100000, false); /* more than it holds, and than one read takes */
	check_pipe(100000, true);
	check_pipe(0, false);
	check_pipe(0, true);
}

TEST(pipe_that_cannot_be_read_is_an_error)
{
	struct recording r = {.spool.fd = -1};
	int old = dup(STDIN_FILENO), fd[2];

	assert_int_equal(pipe(fd), 0);
	dup2(fd[1], STDIN_FILENO); /* the end to write to */
	assert_int_equal(input_open(&r, "-", false, &err), -EBADF);
	assert_non_null(strstr(err.text, "standard input: reading"));
	dup2(old, STDIN_FILENO);
	close(old);
	close(fd[0]);
	close(fd[1]);
	input_close(&r);
}

/* Reads standard input from a place in a file on. */
static void check_standard(const char *text, off_t at, int expected)
{
	struct recording r = {.spool.fd = -1};
	int old = dup(STDIN_FILENO), fd, rc;
	struct error err = {0};
	autofree char *path = path_of("standard");

	put_text("standard", text);
	fd = open(path, O_RDONLY);
	assert_int_equal(lseek(fd, at, SEEK_SET), at);
	dup2(fd, STDIN_FILENO);
	close(fd);
	rc = input_open(&r, "-", false, &err);
	dup2(old, STDIN_FILENO);
	close(old);
	assert_int_equal(rc, expected);
	if (rc)
		assert_string_equal(err.text, "standard input is empty");
	else
		check_bytes(&r.inputs[0], text + at);
	input_close(&r);
}

TEST(standard_input_is_read_from_its_place)
{
	check_standard("bytes", 0, 0);
	check_standard("bytes", 2, 0);
	check_standard("bytes", 5, -ENODATA);
	check_standard("", 0, -ENODATA);
}

TEST(chunk_is_a_part_of_a_file)
{
	struct chunk_reader reader = {0};
	struct chunk chunk = {.at = 2, .len = 3, .order = 77};
	autofree char *path = path_of("chunks");

	put_text("chunks", "0123456789");
	chunk.fd = open(path, O_RDONLY);
	assert_true(chunk_read(&reader, &chunk, true));
	assert_int_equal(cursor_left(&reader.c), 3);
	assert_memory_equal(reader.c.at, "234", 3);
	assert_true(reader.c.swap);
	assert_int_equal(reader.order, 77);
	assert_ptr_equal(reader.start, reader.c.at);
	chunk = (struct chunk){.fd = chunk.fd, .at = 4, .len = 6};
	assert_true(chunk_read(&reader, &chunk, false));
	assert_memory_equal(reader.c.at, "456789", 6);
	chunk.at = 5; /* the file ends before the chunk */
	assert_false(chunk_read(&reader, &chunk, false));
	assert_int_equal(cursor_left(&reader.c), 5);
	chunk.at = 11;
	assert_false(chunk_read(&reader, &chunk, false));
	assert_int_equal(cursor_left(&reader.c), 0);
	close(chunk.fd);
	assert_false(chunk_read(&reader, &chunk, false));
	assert_int_equal(cursor_left(&reader.c), 0);
	free(reader.buf);
}

/* Opens a stream of n samples, with a round behind one of them. The caller closes it. */
static void open_samples(struct recording *r, struct profile *p, size_t n, size_t round,
			 size_t *sample_size)
{
	struct writer records = {0}, w = {0};
	autofree char *path = path_of("samples");

	w_end(&records, w_begin(&records, 68, 0)); /* a round before the first sample */
	for (size_t i = 0; i < n; i++) {
		size_t at = records.out.len;

		w_add_sample(&records, 1, i + 1, 1, 0x1000);
		*sample_size = records.out.len - at;
		if (i + 1 == round)
			w_end(&records, w_begin(&records, 68, 0));
	}
	w_pipe(&w, &records.out);
	assert_int_equal(file_write(path, w.out.buf, w.out.len, NULL), 0);
	profile_init(p);
	assert_int_equal(recording_open(r, p, path, false, NULL), 0);
	str_free(&records.out);
	str_free(&w.out);
}

/* A round that ends where a chunk is full belongs to that chunk. Others lie inside a chunk. */
TEST(round_behind_a_full_chunk_belongs_to_it)
{
	enum { SAMPLES = 8000 };
	size_t size, first, len = 0, round;
	struct recording r;
	struct profile p;

	open_samples(&r, &p, SAMPLES, 0, &size);
	assert_true(r.nchunks > 1);
	first = r.chunks[0].len;
	assert_in_range(first, 1 << 18, (1 << 18) + (1 << 16) + size);
	for (size_t i = 0; i < r.nchunks; i++) {
		assert_false(r.chunks[i].round);
		assert_int_equal(r.chunks[i].at, r.chunks[0].at + len);
		assert_int_equal(r.chunks[i].order, r.chunks[i].at);
		len += r.chunks[i].len;
	}
	assert_int_equal(r.chunks[0].at + len, r.inputs[0].len);
	recording_close(&r);
	profile_free(&p);
	round = SAMPLES - (len - first) / size; /* the first chunk has other records, too */
	for (size_t i = 0; i < 3; i++) {
		open_samples(&r, &p, SAMPLES, i ? round + i - 1 : round - 100, &size);
		assert_int_equal(r.chunks[0].round, i == 1);
		assert_false(r.chunks[1].round);
		recording_close(&r);
		profile_free(&p);
	}
}

TEST(payloads_follow_some_records)
{
	static const uint8_t size[] = {9, 1, 0, 0, 0, 0, 0, 0};
	struct cursor body = cursor_of(size, sizeof(size), false);

	assert_int_equal(record_payload(REC_AUXTRACE, body), 256 + 9);
	assert_int_equal(record_payload(REC_HEADER_TRACING_DATA, body), 256 + 16);
	assert_int_equal(record_payload(PERF_RECORD_MMAP, body), 0);
}

/* The header has a build-id for a name. It does not help where two files have that name. */
TEST(files_of_one_name_are_told_apart)
{
	enum { A, B, C, D, E, F, G };
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "/lib/net-x.ko.xz"};
	static struct side_dso dsos[] = {
		{A, UINT32_MAX, 8, 1, 1}, {A, UINT32_MAX, 8, 1, 2}, {B, UINT32_MAX, 8, 1, 5},
		{B, B, 8, 1, 5},	  {C, UINT32_MAX, 8, 1, 5}, {C, UINT32_MAX, 9, 1, 5},
		{D, UINT32_MAX, 8, 1, 5}, {D, UINT32_MAX, 8, 2, 5}, {E, UINT32_MAX, 0, 0, 0},
		{E, UINT32_MAX, 8, 1, 7}, {F, UINT32_MAX, 8, 1, 7}, {F, F, 8, 1, 7},
		{F, A, 8, 1, 8},	  {G, UINT32_MAX, 0, 0, 0}, {G, B, 0, 0, 0},
	};
	static const bool ambiguous[] = {true,	true,  false, false, true, true,  true, true,
					 false, false, true,  true,  true, false, false};
	static struct build_id_row rows[] = {
		{"unknown", "00", false}, {"b", "kb", true},	  {"a", "ha", false},
		{"b", "hb", false},	  {"b", "hb2", false},	  {"f", "hf", false},
		{"[net_x]", "u", false},  {"[other]", "o", true}, {"[net_x]", "m", true},
		{"e", "he", false},
	};
	static const char *const ids[] = {NULL, NULL, "hb", "b", NULL, NULL, NULL, NULL,
					  "he", "he", NULL, "f", "a",  NULL, "b"};
	struct intern strings = {0};
	struct recording r = {
		.build_ids = rows,
		.nbuild_ids = array_size(rows),
		.osrelease = "6.1",
		.recorded_by_ns = 77,
		.side = {.dsos = dsos, .ndsos = array_size(dsos), .strings = &strings}};
	struct identities all;

	each (c, names)
		intern_str(&strings, *c);
	identities_init(&all, &r);
	for (size_t i = 0; i < array_size(dsos); i++) {
		struct dso_identity id = identity_of(&all, (uint32_t)i);

		assert_string_equal(id.name, names[dsos[i].name]);
		assert_int_equal(id.ambiguous, ambiguous[i]);
		if (ids[i])
			assert_string_equal(id.build_id, ids[i]);
		else
			assert_null(id.build_id);
		assert_int_equal(id.inode, dsos[i].inode);
		assert_int_equal(id.major, dsos[i].major);
		assert_int_equal(id.minor, dsos[i].minor);
		assert_int_equal(id.recorded_by_ns, 77);
		assert_false(id.module);
		id = identity_of_module(&all, (uint32_t)i);
		assert_true(id.module);
		if (dsos[i].name == G)
			assert_string_equal(id.build_id, dsos[i].build_id == B ? "b" : "m");
	}
	identities_free(&all);
	intern_free(&strings);
	assert_true(identity_is_compat("[vdso]", UINT32_MAX));
	assert_false(identity_is_compat("[vdso]", 1ULL << 32));
	assert_false(identity_is_compat("[vvar]", 4096));
}

/* A child may be recorded before its parent. A thread is no child, and a pid may come twice.
 * They are ready for profile_is_own(). */
TEST(descendants_of_a_process_are_found)
{
	static struct side_row rows[] = {
		{.kind = SIDE_FORK, .pid = 13, .ppid = 12, .tid = 13},
		{.kind = SIDE_FORK, .pid = 12, .ppid = 11, .tid = 12},
		{.kind = SIDE_FORK, .pid = 11, .ppid = 10, .tid = 11},
		{.kind = SIDE_FORK, .pid = 10, .ppid = 10, .tid = 14},
		{.kind = SIDE_FORK, .pid = 21, .ppid = 20, .tid = 21},
		{.kind = SIDE_COMM, .pid = 15, .ppid = 10, .tid = 15},
		{.kind = SIDE_FORK, .pid = 11, .ppid = 10, .tid = 11},
		{.kind = SIDE_FORK, .pid = 31, .ppid = 30, .tid = 31},
	};
	static const uint32_t pids[] = {10, 30}, expected[] = {10, 11, 12, 13, 30, 31};
	const struct sideband side = {.list = rows, .n = array_size(rows)};
	freed(profile_free) struct profile p;

	profile_init(&p);
	sideband_add_descendants(&side, pids, 2, &p);
	assert_int_equal(p.nown, array_size(expected));
	for (size_t i = 0; i < p.nown; i++)
		assert_int_equal(p.own[i], expected[i]);
}

/* Samples at 90, 100 and 120 ns, of weights 1, 2 and 4. */
TEST(slice_is_of_times_or_of_distances_from_the_first_sample)
{
	static const struct {
		struct time_slice slice;
		int64_t weight; /* below 0: refused */
	} rows[] = {
		{{{90, true, false}, {0}}, 7},
		{{{91, true, false}, {0}}, 6},
		{{{120, true, false}, {0}}, 4},
		{{{121, true, false}, {0}}, -EINVAL},
		{{{0}, {90, true, false}}, -EINVAL},
		{{{0}, {91, true, false}}, 1},
		{{{0}, {120, true, false}}, 3},
		{{{0}, {121, true, false}}, 7},
		{{{100, true, false}, {100, true, false}}, -EINVAL},
		{{{100, true, false}, {101, true, false}}, 2},
		{{{0, true, true}, {0}}, 7},
		{{{10, true, true}, {30, true, true}}, 2},
		{{{10, true, true}, {121, true, false}}, 6},
		{{{30, true, true}, {31, true, true}}, 4},
		{{{31, true, true}, {0}}, -EINVAL},
		{{{0}, {0, true, true}}, -EINVAL},
		{{{0}, {1, true, true}}, 1},
	};
	struct writer records = {0}, w = {0}, timeless = {0};
	const struct w_event e = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID};
	struct perfdata_options o = {.threads = 1};
	struct error err;
	struct profile p;
	size_t at;

	w_add_sample(&records, 2, 100, 1, 0x1000);
	w_add_sample(&records, 1, 90, 1, 0x1000);
	w_add_sample(&records, 4, 120, 1, 0x1000);
	w_pipe(&w, &records.out);
	each (r, rows) {
		int rc;

		o.slice = r->slice;
		err = (struct error){0};
		rc = w_read(&p, &w.out, &o, &err);
		assert_int_equal(rc, r->weight < 0 ? r->weight : 0);
		if (rc)
			assert_non_null(strstr(err.text,
					       "no sample between --from and --to; its "
					       "samples are from 0.000000 to 0.000000 s"));
		else
			assert_int_equal(p.events[0].weight, r->weight);
		profile_free(&p);
	}
	w_stream_head(&timeless, &e, 1);
	at = w_begin(&timeless, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	w64(&timeless, 0x1000);
	w32(&timeless, 1);
	w32(&timeless, 1);
	w_end(&timeless, at);
	assert_int_equal(w_read(&p, &timeless.out, &o, &err), -ENODATA);
	assert_non_null(strstr(err.text, "--from and --to: no sample has a time"));
	profile_free(&p);
	str_free(&timeless.out);
	str_free(&records.out);
	str_free(&w.out);
}
