// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes in memory, whatever they come from: a file is mapped where it is, a stream is written to
 * an unnamed temporary file first, so that both passes can run over it and memory stays small.
 */
#include "analyze/perfdata/recording.h"

#include "analyze/perfdata/spool.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct input *add_input(struct recording *r, const char *path)
{
	array_grow(r->inputs, r->ninputs, r->inputs_cap);
	r->inputs[r->ninputs] = (struct input){.path = xstrdup(path)};
	return &r->inputs[r->ninputs++];
}

static int map_fd(struct input *in, int fd, size_t len, struct error *err)
{
	void *p;

	if (!len)
		return 0;
	p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return error_sys(err, errno, "%s: cannot map %zu bytes", in->path, len);
	in->data = p;
	in->len = len;
	return 0;
}

static int spool_stream(struct input *in, int fd, struct error *err)
{
	static char buf[1 << 16];
	struct spool spool;
	ssize_t n;
	int ret = spool_open(&spool, err);

	if (ret)
		return ret;
	while (!ret && (n = read(fd, buf, sizeof(buf))) != 0) {
		if (n > 0)
			ret = spool_add(&spool, buf, (size_t)n, err);
		else if (errno != EINTR)
			ret = error_sys(err, errno, "%s: reading", in->path);
	}
	if (!ret)
		ret = map_fd(in, spool.fd, spool.len, err);
	spool_close(&spool);
	return ret;
}

static int open_one(struct recording *r, const char *path, struct error *err)
{
	struct input *in = add_input(r, path);
	bool standard = !strcmp(path, "-");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), ret;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return error_sys(err, errno, "%s", path);
	if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) {
		ret = map_fd(in, fd, (size_t)st.st_size, err);
		r->recorded_by_s = st.st_mtim.tv_sec;
	} else {
		ret = spool_stream(in, fd, err);
	}
	if (!standard)
		close(fd);
	return ret;
}

/* `perf record --threads` writes a folder: data with the header, and data.0, data.1, ... */
static int open_folder(struct recording *r, const char *path, struct error *err)
{
	char *name = xasprintf("%s/data", path);
	int ret = open_one(r, name, err), i;

	free(name);
	for (i = 0; !ret; i++) {
		name = xasprintf("%s/data.%d", path, i);
		if (!path_exists(name)) {
			free(name);
			break;
		}
		ret = open_one(r, name, err);
		free(name);
	}
	return ret;
}

int input_open(struct recording *r, const char *path, struct error *err)
{
	return path_is_dir(path) ? open_folder(r, path, err) : open_one(r, path, err);
}

int input_map_spool(struct recording *r, struct error *err)
{
	size_t i;
	int ret;

	if (r->spool.fd < 0)
		return 0;
	r->unpacked.path = xstrdup(r->path);
	ret = map_fd(&r->unpacked, r->spool.fd, r->spool.len, err);
	for (i = 0; i < r->nchunks && !ret; i++)
		if (r->chunks[i].spooled)
			r->chunks[i].data = r->unpacked.data + r->chunks[i].spool_at;
	return ret;
}

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; before that it is refused, and pages fault in */
#endif

static void advise(const uint8_t *data, size_t len, int advice)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)data + page - 1) & ~(page - 1);
	uintptr_t to = ((uintptr_t)data + len) & ~(page - 1);

	if (to > from)
		madvise((void *)from, to - from, advice);
}

void input_want(const uint8_t *data, size_t len)
{
	advise(data, len, MADV_POPULATE_READ);
}

void input_forget(const uint8_t *data, size_t len)
{
	advise(data, len, MADV_DONTNEED);
}

static void unmap(struct input *in)
{
	if (in->data)
		munmap((void *)in->data, in->len);
	free(in->path);
}

void input_close(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->ninputs; i++)
		unmap(&r->inputs[i]);
	unmap(&r->unpacked);
	spool_close(&r->spool);
	free(r->inputs);
}
