// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/bare.h"

#include "analyze/perfdata/perfdata.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char perf_magic[] = "PERFILE2", zstd_magic[] = "\x28\xb5\x2f\xfd";

/* The first bytes of a regular file; how many, 0 where there are none. */
static size_t read_file_head(const char *path, char *head, size_t size)
{
	struct stat st;
	FILE *in;
	size_t n;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	in = fopen(path, "re");
	if (!in)
		return 0;
	n = fread(head, 1, size, in);
	fclose(in);
	return n;
}

/* Of what perf record --threads wrote, a folder, those of the file with the header. */
static size_t read_head(const char *path, char *head, size_t size)
{
	char *name = path_is_dir(path) ? xasprintf("%s/data", path) : NULL;
	size_t n = read_file_head(name ? name : path, head, size);

	if (name && (n < strlen(perf_magic) || memcmp(head, perf_magic, strlen(perf_magic))))
		n = 0; /* another folder: a capture */
	free(name);
	return n;
}

static bool is_perf_data(const char *head, size_t n)
{
	return n >= strlen(perf_magic) && !memcmp(head, perf_magic, strlen(perf_magic));
}

bool bare_is(const char *path)
{
	char head[512];
	size_t n = read_head(path, head, sizeof(head));

	if (is_perf_data(head, n))
		return true;
	/* "SQLite format 3" ends in a zero byte */
	return n && !memchr(head, 0, n) &&
	       (n < strlen(zstd_magic) || memcmp(head, zstd_magic, strlen(zstd_magic)));
}

bool bare_is_text(const char *path)
{
	char head[16];
	size_t n = read_head(path, head, sizeof(head));

	return bare_is(path) && !is_perf_data(head, n);
}

int bare_open(struct bare **b, const char *path, const struct query *q,
	      const struct time_slice *slice, struct error *err)
{
	const struct perfdata_options options = {
		.use_this_host = true, .cpus = q->cpus, .slice = *slice};
	int ret;

	if (slice_given(slice) && bare_is_text(path))
		return error_set(err, EINVAL,
				 "%s: a text has no times that --from and --to could cut", path);
	*b = xcalloc(1, sizeof(**b));
	(*b)->path = path;
	(*b)->is_text = bare_is_text(path);
	profile_init(&(*b)->profile);
	ret = (*b)->is_text ? perf_report_read(path, q->event, &(*b)->flat, err)
			    : perfdata_read(&(*b)->profile, path, &options, err);
	if (!ret && !(*b)->is_text && !(*b)->profile.ncosts)
		ret = error_set(err, ENODATA, "%s: has no samples%s", path,
				q->cpus ? " of these CPUs"
					: "; of perf record --threads give the folder");
	if (ret) {
		bare_close(*b);
		*b = NULL;
	}
	return ret;
}

void bare_close(struct bare *b)
{
	if (!b)
		return;
	profile_free(&b->profile);
	flat_free(&b->flat);
	free(b);
}

void bare_query(struct bare *b, struct query *q)
{
	if (b->is_text)
		q->flat = &b->flat;
	else
		q->profile = &b->profile;
	q->alike = true;
}
