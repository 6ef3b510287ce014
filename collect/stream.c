// SPDX-License-Identifier: GPL-2.0-only
#include "collect/agent.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/names.h"
#include "lib/sha256.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024 };

/*
 * The pipe to write to. One write has at most the bytes that a ready pipe takes without blocking.
 */
struct sink {
	int fd, patience_ms;
	struct intern *sent;
};

static bool stream_write(const struct sink *to, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		struct pollfd ready = {.fd = to->fd, .events = POLLOUT};
		int there = poll(&ready, 1, to->patience_ms);
		ssize_t n = there > 0 ? write(to->fd, p, len < PIPE_BUF ? len : PIPE_BUF) : there;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static bool stream_write_line(const struct sink *to, const char *word, const char *rest)
{
	autofree char *line = xasprintf("%s%s\n", word, rest);

	return stream_write(to, line, strlen(line));
}

/* Reads the next bytes of the file. A file that ended early gives zeros and clears *whole. */
static size_t stream_next_part(int file, char *buf, uint64_t left, bool *whole)
{
	size_t want = left < CHUNK ? (size_t)left : CHUNK;
	ssize_t n = *whole ? read(file, buf, want) : 0;

	if (n > 0)
		return (size_t)n;
	*whole = false;
	memset(buf, 0, want);
	return want;
}

static bool stream_write_bytes(const struct sink *to, int file, uint64_t size)
{
	char buf[CHUNK], hex[65];
	struct sha256 sum;
	bool whole = true, sent = true;
	uint64_t left = size;

	sha256_begin(&sum);
	while (left && sent) {
		size_t n = stream_next_part(file, buf, left, &whole);

		sha256_add(&sum, buf, n);
		sent = stream_write(to, buf, n);
		left -= n;
	}
	sha256_hex(&sum, hex);
	return sent && stream_write_line(to, "sum ", whole ? hex : "-");
}

static bool stream_is_known(struct intern *sent, const char *name, const struct stat *st)
{
	autofree char *key = xasprintf("%s\n%lld %lld.%09ld", name, (long long)st->st_size,
				       (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	size_t before = sent->n;
	bool there;

	intern_str(sent, key);
	there = sent->n == before;
	return there;
}

static bool stream_write_failed(const struct sink *to, const char *path, int code)
{
	autofree char *why = xasprintf("%s: %s", path, strerror(code));

	return stream_write_line(to, "failed ", why);
}

static bool stream_write_file(const struct sink *to, const char *path, const char *name)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	char *head;
	bool there;

	if (file < 0 || fstat(file, &st)) {
		there = stream_write_failed(to, path, errno);
		if (file >= 0)
			close(file);
		return there;
	}
	if (to->sent && stream_is_known(to->sent, name, &st)) {
		close(file);
		return true;
	}
	head = xasprintf("%lld %s", (long long)st.st_size, name);
	there = stream_write_line(to, "file ", head) &&
		stream_write_bytes(to, file, (uint64_t)st.st_size);
	free(head);
	close(file);
	return there;
}

static bool stream_write_entry(const struct sink *to, const struct walked *e)
{
	if (e->code && e->code != ENOENT)
		return stream_write_failed(to, e->path, e->code);
	/* A killed process may have left a part of a file under a temporary name. */
	if (e->code || !S_ISREG(e->st.st_mode) || strstr(path_base_name(e->name), ".tmp."))
		return true;
	if (!name_is_safe(e->name))
		return stream_write_line(to, "failed ", "there is a file with an unsafe name");
	return stream_write_file(to, e->path, e->name);
}

static int stream_visit(void *arg, const struct walked *e, struct error *err)
{
	(void)err;
	return stream_write_entry(arg, e) ? 0 : -EIO;
}

bool stream_send(int fd, const char *dir, struct intern *sent, int patience_ms)
{
	struct sink to = {fd, patience_ms, sent};

	return !dir_walk(dir, stream_visit, &to, NULL) && stream_write_line(&to, "end", "");
}
