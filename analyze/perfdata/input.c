// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the bytes of any input mappable. A file is mapped itself. A stream goes to an unnamed
 * temporary file first, so that both passes can read it with little memory.
 */
#include "analyze/perfdata/recording.h"

#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int input_map(struct input *in, size_t len, struct error *err)
{
	void *p;

	if (!len)
		return 0;
	p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, in->fd, 0);
	if (p == MAP_FAILED)
		return error_sys(err, errno, "%s: cannot map %zu bytes", in->path, len);
	in->data = p;
	in->len = len;
	return 0;
}

/* Replaces the stream by a file with its bytes. */
static int input_spool_stream(struct input *in, struct error *err)
{
	static char buf[1 << 16];
	struct spool spool;
	ssize_t n;
	int ret = spool_open(&spool, err);

	if (ret)
		return ret;
	while (!ret && (n = read(in->fd, buf, sizeof(buf))) != 0) {
		if (n > 0)
			ret = spool_add(&spool, buf, (size_t)n, err);
		else if (errno != EINTR)
			ret = error_sys(err, errno, "%s: reading", in->path);
	}
	close(in->fd);
	in->fd = spool.fd;
	return ret ?: input_map(in, spool.len, err);
}

static int input_open_file(struct recording *r, const char *path, bool in_capture,
			   struct error *err)
{
	bool standard = !strcmp(path, "-");
	struct input *in = array_new(r->inputs, r->ninputs, r->inputs_cap);
	struct stat st;
	int ret;

	*in = (struct input){.path = xstrdup(standard ? "standard input" : path), .fd = -1};
	in->fd = standard     ? dup(STDIN_FILENO)
		 : in_capture ? file_open(path, err)
			      : open(path, O_RDONLY | O_CLOEXEC);
	if (standard)
		r->path = "standard input";
	if (in->fd < 0 || fstat(in->fd, &st))
		return error_sys(err, errno, "%s", standard ? r->path : path);
	if (S_ISREG(st.st_mode) && lseek(in->fd, 0, SEEK_CUR) == 0) {
		r->recorded_by_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		ret = input_map(in, (size_t)st.st_size, err);
	} else {
		r->recorded_by_ns = (int64_t)time(NULL) * 1000000000;
		ret = input_spool_stream(in, err);
	}
	if (!ret && standard && !in->len) /* another program than perf record may have written */
		ret = error_set(err, ENODATA, "standard input is empty");
	return ret;
}

/* `perf record --threads` writes a folder: data (with the header), data.0, data.1 and so on. */
static int input_open_folder(struct recording *r, const char *path, struct error *err)
{
	autofree char *first = xasprintf("%s/data", path);
	int ret;

	if (!path_exists(first))
		return error_set(err, ENOENT,
				 "%s: has no file 'data', so perf did not record this folder; "
				 "a capture is named without --perf",
				 path);
	ret = input_open_file(r, first, true, err);
	for (int i = 0; !ret; i++) {
		autofree char *name = xasprintf("%s/data.%d", path, i);

		if (!path_exists(name))
			break;
		ret = input_open_file(r, name, true, err);
	}
	return ret;
}

int input_open(struct recording *r, const char *path, bool in_capture, struct error *err)
{
	return path_is_dir(path) ? input_open_folder(r, path, err)
				 : input_open_file(r, path, in_capture, err);
}

void input_forget(const uint8_t *data, size_t len)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)data + page - 1) & ~(page - 1);
	uintptr_t to = ((uintptr_t)data + len) & ~(page - 1);

	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

bool chunk_read(struct chunk_reader *reader, const struct chunk *chunk, bool swap)
{
	ssize_t got;

	if (reader->cap < chunk->len) {
		free(reader->buf);
		reader->cap = chunk->len;
		reader->buf = xmalloc(reader->cap);
	}
	got = file_read_at(chunk->fd, reader->buf, chunk->len, chunk->at);
	reader->c = cursor_of(reader->buf, got > 0 ? (size_t)got : 0, swap);
	reader->start = reader->buf;
	reader->order = chunk->order;
	return got == (ssize_t)chunk->len;
}

void input_close(struct recording *r)
{
	for (size_t i = 0; i < r->ninputs; i++) {
		struct input *in = &r->inputs[i];

		if (in->data)
			munmap((void *)in->data, in->len);
		close(in->fd);
		free(in->path);
	}
	spool_close(&r->spool);
	free(r->inputs);
}

/* --- temporary files --- */

int spool_open(struct spool *s, struct error *err)
{
	const char *dir = getenv("TMPDIR");
	autofree char *name = NULL;

	dir = dir && *dir ? dir : "/var/tmp";
	name = xasprintf("%s/zcost-XXXXXX", dir);
	*s = (struct spool){.fd = mkostemp(name, O_CLOEXEC)};
	if (s->fd < 0)
		return error_sys(err, errno, "%s: cannot make a temporary file there (set TMPDIR)",
				 dir);
	unlink(name);
	return 0;
}

int spool_add(struct spool *s, const void *data, size_t len, struct error *err)
{
	int ret = file_write_all(s->fd, data, len);

	if (ret)
		return error_sys(err, -ret, "writing a temporary file (set TMPDIR)");
	s->len += len;
	return 0;
}

void spool_close(struct spool *s)
{
	close(s->fd);
	s->fd = -1;
}
