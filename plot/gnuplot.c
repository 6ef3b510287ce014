// SPDX-License-Identifier: GPL-2.0-only
/* Running gnuplot, and what it leaves: pictures, or its own words why not. */
#include "plot/figure.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/str.h"
#include "plot/svg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GNUPLOT_MS = 60000 };

static const struct {
	unsigned int bit;
	const char *ending;
} endings[] = {{FIGURE_SVG, "svg"}, {FIGURE_PNG, "png"}, {FIGURE_PDF, "pdf"}};

static char *picture(const struct figure *f, const char *dir, size_t i)
{
	return xasprintf("%s/%s.%s", dir, f->name, endings[i].ending);
}

/* A picture of an earlier run must not pass for one of this. */
static void remove_pictures(const struct figure *f, const char *dir, unsigned int formats)
{
	size_t i;

	for (i = 0; i < array_size(endings); i++) {
		char *path = picture(f, dir, i);

		if (formats & endings[i].bit)
			unlink(path);
		free(path);
	}
}

/* gnuplot's first words on `fd`, without the empty lines around them. */
static int complaint(int fd, const char *gp, const char *what, struct error *err)
{
	char text[512], *start;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	start = str_trim(text);
	return error_set(err, EIO, "%s: gnuplot %s%s%s", gp, what, *start ? ": " : "", start);
}

static int run(char *const argv[], const struct spawn *opts, const char *gp, struct error *err)
{
	struct error start = {0};
	int status = 0, rc;
	pid_t pid;

	rc = spawn_start(&pid, argv, opts, &start);
	if (rc == -ENOENT)
		return error_set(
			err, ENOENT,
			"gnuplot is not installed (no 'gnuplot' in PATH); scripts and data are "
			"written: install the package gnuplot-nox or gnuplot, then run this "
			"again, or 'gnuplot %s' in %s",
			argv[2], opts->cwd);
	if (rc)
		return error_set(err, -rc, "%s", start.text);
	if (spawn_wait(pid, GNUPLOT_MS, &status) == -ETIMEDOUT) {
		spawn_stop(pid, 1000, NULL);
		return complaint(opts->err, gp, "did not end in 60 s", err);
	}
	return status ? complaint(opts->err, gp, spawn_status_text(status), err) : 0;
}

static int describe_svg(const struct figure *f, const char *path, struct error *err)
{
	struct str out = {0};
	char *svg;
	size_t len;
	int rc = file_read(path, &svg, &len, err);

	if (rc)
		return rc;
	svg_describe(&out, svg, f);
	rc = file_write(path, out.buf ? out.buf : "", out.len, err);
	str_free(&out);
	free(svg);
	return rc;
}

static int check_pictures(const struct figure *f, const char *dir, unsigned int formats, int fd,
			  struct error *err)
{
	int rc = 0;
	size_t i;

	for (i = 0; i < array_size(endings) && !rc; i++) {
		char *path = picture(f, dir, i);

		if (!(formats & endings[i].bit))
			rc = 0;
		else if (!path_exists(path))
			rc = complaint(fd, path, "wrote no picture", err);
		else if (endings[i].bit == FIGURE_SVG)
			rc = describe_svg(f, path, err);
		free(path);
	}
	return rc;
}

int figure_render(const struct figure *f, const char *dir, unsigned int formats, struct error *err)
{
	char *script = xasprintf("%s.gp", f->name), *gp = xasprintf("%s/%s", dir, script);
	/* -d: the user's own settings do not reach the picture */
	char *argv[] = {"gnuplot", "-d", script, NULL};
	struct spawn opts = {.cwd = dir};
	int rc;

	opts.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	opts.err = memfd_create("gnuplot", MFD_CLOEXEC);
	if (opts.in < 0 || opts.err < 0) {
		rc = error_sys(err, errno, "cannot run gnuplot");
	} else {
		remove_pictures(f, dir, formats);
		opts.out = opts.err;
		rc = run(argv, &opts, gp, err);
		if (!rc)
			rc = check_pictures(f, dir, formats, opts.err, err);
		if (rc)
			remove_pictures(f, dir, formats);
	}
	close(opts.in);
	close(opts.err);
	free(script);
	free(gp);
	return rc;
}
