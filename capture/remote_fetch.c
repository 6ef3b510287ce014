// SPDX-License-Identifier: GPL-2.0-only
/* Fetches the files of a run from its host: the receiver of collect/agent.h. */
#include "capture/remote.h"

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/names.h"
#include "lib/sha256.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

/*
 * `bad` is an error on our side, such as a full disk. The rest of the stream is read all the same,
 * because the connection is good and later runs need it.
 */
struct fetch {
	struct remote *r;
	struct interrupt *intr;
	const char *dir, *staging;
	const char *prefix; /* all names must begin with it */
	struct fetch_limits *left;
	uint64_t until_ns; /* the end of left->seconds */
	struct error bad;
};

static int fetch_too_long(const struct fetch *f, struct error *err)
{
	return remote_refuse(
		f->r, err,
		"has sent the files of one run for %g s, which is the limit: make the run shorter, or the network faster",
		f->r->most.seconds);
}

static int fetch_lost(const struct fetch *f, int rc, struct error *err)
{
	if (rc == -ETIMEDOUT && clock_mono_ns() >= f->until_ns)
		return fetch_too_long(f, err);
	return remote_lost(f->r, rc, err);
}

/* Returns until when to wait for the next bytes. */
static uint64_t fetch_deadline(const struct fetch *f)
{
	uint64_t silent = clock_deadline(f->r->stop_timeout_s);

	return silent < f->until_ns ? silent : f->until_ns;
}

static int fetch_line(const struct fetch *f, struct str *line, struct error *err)
{
	int rc = link_read_line(&f->r->link, f->intr, fetch_deadline(f), line);

	return rc ? fetch_lost(f, rc, err) : 0;
}

static int fetch_bytes(struct fetch *f, int fd, uint64_t size, char hex[65], struct error *err)
{
	struct sha256 sum;
	char buf[65536];
	int rc = 0, failed;

	sha256_begin(&sum);
	while (size) {
		size_t want = size < sizeof(buf) ? (size_t)size : sizeof(buf);
		ssize_t n = link_read_bytes(&f->r->link, f->intr, fetch_deadline(f), buf, want);

		if (n < 0 || clock_mono_ns() >= f->until_ns) {
			rc = n < 0 ? fetch_lost(f, (int)n, err) : fetch_too_long(f, err);
			break;
		}
		sha256_add(&sum, buf, (size_t)n);
		failed = f->bad.code ? 0 : file_write_all(fd, buf, (size_t)n);
		if (failed)
			error_sys(&f->bad, -failed, "%s: cannot write", f->dir);
		size -= (uint64_t)n;
	}
	sha256_hex(&sum, hex);
	return rc;
}

static int fetch_file(struct fetch *f, uint64_t size, const char *name, struct error *err)
{
	autofree char *path = xasprintf("%s/%s", f->dir, name), *folder = xstrdup(path);
	int fd = file_create(f->staging, 0, 0600), rc;
	freed(str_free) struct str line = {0};
	char hex[65];

	if (fd < 0)
		error_sys(&f->bad, -fd, "%s: cannot write", f->staging);
	rc = fetch_bytes(f, fd, size, hex, err);
	if (fd >= 0 && close(fd))
		error_sys(&f->bad, errno, "%s: cannot write", f->dir);
	rc = rc ?: fetch_line(f, &line, err);
	if (!rc && !strcmp(line.buf, "sum -"))
		error_set(&f->bad, EIO, "%s: cannot be read completely on that host", name);
	else if (!rc && (!str_starts(line.buf, "sum ") || strcmp(line.buf + strlen("sum "), hex)))
		error_set(&f->bad, EBADMSG, "%s: the checksum is wrong", name);
	if (!rc && !f->bad.code && !dir_make(dirname(folder), &f->bad) && rename(f->staging, path))
		error_sys(&f->bad, errno, "%s: cannot write", path);
	unlink(f->staging);
	return rc;
}

/* Subtracts a file, or a message in place of one, from what the host may still send. */
static int fetch_charge(struct fetch *f, uint64_t size, const char *name, struct error *err)
{
	const struct fetch_limits *most = &f->r->most;

	if (clock_mono_ns() >= f->until_ns)
		return fetch_too_long(f, err);
	if (!f->left->files--)
		return remote_refuse(
			f->r, err,
			"sends more than %" PRIu64
			" files for one run: no zcost does that; look at that host before you measure with it",
			most->files);
	if (size > f->left->bytes)
		return remote_refuse(
			f->r, err,
			"sends more than %.4g GiB for one run, with %.100s: make the run shorter",
			(double)most->bytes / (1 << 30), name);
	if (size > FETCH_JSON_BYTES && str_ends(name, ".json"))
		return remote_refuse(
			f->r, err,
			"sends a %.100s of %.4g MiB; the limit is %d MiB, and no zcost writes more: look at that host before you measure with it",
			name, (double)size / (1 << 20), FETCH_JSON_BYTES >> 20);
	f->left->bytes -= size;
	return 0;
}

static int fetch_entry(struct fetch *f, const char *line, struct error *err)
{
	uint64_t size = 0;
	int at = 0, folders = 0, rc;

	if (str_starts(line, "failed ")) {
		error_set(&f->bad, EIO, "%s", line + strlen("failed "));
		return fetch_charge(f, 0, "", err);
	}
	if (sscanf(line, "file %" SCNu64 " %n", &size, &at) != 1 || !at)
		return remote_bad_answer(f->r, line, err);
	rc = fetch_charge(f, size, line + at, err);
	if (rc)
		return rc;
	for (const char *p = line + at; *p; p++)
		folders += *p == '/';
	if (folders > FETCH_FOLDERS || !name_is_safe(line + at) ||
	    !str_starts(line + at, f->prefix))
		error_set(&f->bad, EPROTO, "it sends a file outside of its folder: %.100s",
			  line + at);
	return fetch_file(f, size, line + at, err);
}

/* Fetches all files of one folder. */
static int fetch_folder(struct fetch *f, const char *what, struct error *err)
{
	struct remote *r = f->r;
	freed(str_free) struct str line = {0};
	int rc = link_write_line(&r->link, what);

	if (rc)
		rc = fetch_lost(f, rc, err);
	while (!rc) {
		rc = fetch_line(f, &line, err);
		if (!rc && !strcmp(line.buf, "end"))
			break;
		rc = rc ?: fetch_entry(f, line.buf, err);
	}
	if (!rc && f->bad.code) {
		link_write_line(&r->link, "forget");
		rc = error_set(err, f->bad.code, "cannot fetch the files: %s", f->bad.text);
	}
	return rc;
}

static int fetch_drop_run(struct remote *r, struct interrupt *intr, struct error *err)
{
	freed(str_free) struct str answer = {0};
	int rc = remote_ask(r, intr, "drop run", &answer, err);

	if (!rc && strcmp(answer.buf, "dropped") != 0)
		rc = error_set(err, EIO, "%s: cannot clear up: %.300s", r->url, answer.buf);
	return rc;
}

int remote_fetch(struct remote *r, struct interrupt *intr, const char *dir, const char *hosts,
		 const char *staging, struct error *err)
{
	autofree char *prefix = xasprintf("%s/", r->host_name);
	struct fetch_limits left = r->most;
	struct fetch run = {.r = r,
			    .intr = intr,
			    .dir = dir,
			    .staging = staging,
			    .prefix = "",
			    .left = &left,
			    .until_ns = clock_deadline(left.seconds)};
	struct fetch facts = run;
	int rc = fetch_folder(&run, "send run", err);

	facts.dir = hosts;
	facts.prefix = prefix;
	if (rc) /* half a run is useless, and may have filled the disk */
		dir_remove(dir, NULL);
	if (r->up && (!rc || rc == -ENOSPC)) {
		int late = fetch_folder(&facts, "news hosts", rc ? NULL : err);

		rc = rc ? rc : late;
	}
	if (r->up && rc != -EINTR) {
		int late = fetch_drop_run(r, intr, rc ? NULL : err);

		rc = rc ? rc : late;
	}
	return rc;
}
