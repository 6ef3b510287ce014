// SPDX-License-Identifier: GPL-2.0-only
/* Runs gnuplot and checks its pictures, or reports its own words. */
#include "plot/figure.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/spawn.h"
#include "lib/stop.h"
#include "lib/str.h"
#include "lib/workers.h"
#include "plot/label.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GNUPLOT_MS = 60000 };

static const struct {
	unsigned int bit;
	const char *ending;
	const char *tail; /* near the end of a whole picture */
} endings[] = {
	{FIGURE_SVG, "svg", "</svg>"},
	{FIGURE_PNG, "png", "IEND"},
	{FIGURE_PDF, "pdf", "%%EOF"},
};

static char *picture_path(const struct figure *f, const char *dir, size_t i)
{
	return xasprintf("%s/%s.%s", dir, f->name, endings[i].ending);
}

/* Removes the half pictures of this process and of dead ones. */
static void halves_remove(const struct figure *f, const char *dir, unsigned int formats)
{
	size_t i;

	for (i = 0; i < array_size(endings); i++) {
		char *path = picture_path(f, dir, i), *half = remains_name(path);

		if (formats & endings[i].bit) {
			remains_remove(path);
			unlink(half);
		}
		free(half);
		free(path);
	}
}

/* Joins gnuplot's message, which has the script's line and a mark at the fault on separate lines.
 */
static char *text_one_line(char *text)
{
	char *to = text, *from = text;

	for (; *from; from++)
		if (!strchr(" \t\n\r^", *from))
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = 0;
	return str_trim(text);
}

/* Returns 5.0 for "gnuplot 5.0 patchlevel 7"; 0 where gnuplot does not say. */
static double gnuplot_version(void)
{
	char *const argv[] = {"gnuplot", "--version", NULL};
	int fd = memfd_create("version", MFD_CLOEXEC), status;
	struct spawn opts = {.out = fd, .err = fd};
	struct error ignored = {0};
	char text[64] = "";
	double version = 0;
	pid_t pid;

	if (fd < 0)
		return 0;
	if (!spawn_start(&pid, argv, &opts, &ignored) &&
	    spawn_wait(pid, 10000, &status) == -ETIMEDOUT)
		spawn_stop(pid, 1000, NULL);
	if (pread(fd, text, sizeof(text) - 1, 0) > 0 && str_starts(text, "gnuplot "))
		version = strtod(text + strlen("gnuplot "), NULL);
	close(fd);
	return version;
}

/* Returns the way out for the complaints that have one, else "". */
static const char *gnuplot_advice(const char *text, char *buf, size_t size)
{
	double version = gnuplot_version();

	*buf = 0;
	if (strstr(text, "terminal type"))
		return "; this gnuplot was built without it: install gnuplot-nox or gnuplot, or use --format svg";
	if (version > 0 && version < 5.4)
		snprintf(buf, size, "; this is gnuplot %.1f, the charts are made for 5.4 and newer",
			 version);
	return buf;
}

/* Sets the error to gnuplot's first words in `fd` and the way out. */
static int gnuplot_error(int fd, const char *gp, const char *what, struct error *err)
{
	char text[512], buf[96], *start;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	start = text_one_line(text);
	return error_set(err, EIO, "%s: gnuplot %s%s%s%s", gp, what, *start ? ": " : "", start,
			 gnuplot_advice(start, buf, sizeof(buf)));
}

static int gnuplot_run(char *const argv[], const struct spawn *opts, const char *gp,
		       struct error *err)
{
	struct error start = {0};
	int status = 0, rc;
	pid_t pid;

	rc = spawn_start(&pid, argv, opts, &start);
	if (rc == -ENOENT)
		return error_set(
			err, ENOENT,
			"gnuplot is not installed (no 'gnuplot' in PATH); scripts and data are written: install the package gnuplot-nox or gnuplot, then run this again, or 'gnuplot %s' in %s",
			argv[4], opts->cwd);
	if (rc)
		return error_set(err, -rc, "%s", start.text);
	if (spawn_wait(pid, GNUPLOT_MS, &status) == -ETIMEDOUT) {
		spawn_stop(pid, 1000, NULL);
		return gnuplot_error(opts->err, gp, "did not end in 60 s", err);
	}
	return status ? gnuplot_error(opts->err, gp, spawn_status_text(status), err) : 0;
}

static void svg_add_head(struct str *out, const struct figure *f)
{
	const char *const texts[] = {f->remarks, f->doubt, f->foot};
	size_t i;

	str_puts(out, "<title>");
	label_xml(out, f->title ? f->title : f->name);
	str_puts(out, "</title>\n<desc>");
	label_xml(out, f->subtitle ? f->subtitle : "");
	for (i = 0; i < array_size(texts); i++) {
		str_puts(out, texts[i] ? ". " : "");
		label_xml(out, texts[i] ? texts[i] : "");
	}
	str_puts(out, "</desc>");
}

/* Returns the end of "<name>...</name>" at `s`, or NULL. */
static const char *svg_element_end(const char *s, const char *open, const char *close)
{
	const char *end = str_starts(s, open) ? strstr(s, close) : NULL;

	return end ? end + strlen(close) : NULL;
}

void figure_describe_svg(const struct figure *f, struct str *out, const char *svg)
{
	const char *p = svg, *end;
	bool head = false;

	while (*p) {
		if (!head && str_starts(p, "<svg")) {
			str_puts(out, "<svg role=\"img\"");
			p += 4;
		} else if ((end = svg_element_end(p, "<title>", "</title>"))) {
			if (!head)
				svg_add_head(out, f);
			head = true;
			p = end;
		} else if ((end = svg_element_end(p, "<desc>", "</desc>"))) {
			p = end;
		} else if (str_starts(p, "]]>")) { /* gnuplot writes it as it is; XML forbids it */
			str_puts(out, "]]&gt;");
			p += 3;
		} else {
			str_putc(out, *p++);
		}
	}
}

static int picture_describe(const struct figure *f, const char *half, const char *path,
			    struct error *err)
{
	struct str out = {0};
	char *svg;
	size_t len;
	int rc = file_read(half, &svg, &len, err);

	if (rc)
		return rc;
	figure_describe_svg(f, &out, svg);
	rc = file_write(path, out.buf ? out.buf : "", out.len, err);
	unlink(half);
	str_free(&out);
	free(svg);
	return rc;
}

/* On a full disk gnuplot leaves a part of a picture without a message. */
static bool picture_is_whole(const char *path, const char *tail)
{
	struct error ignored = {0};
	size_t len, near = strlen(tail) + 16, at;
	char *data;
	bool whole = false;

	if (file_read(path, &data, &len, &ignored))
		return false;
	for (at = len > near ? len - near : 0; at + strlen(tail) <= len; at++)
		whole |= !memcmp(data + at, tail, strlen(tail));
	free(data);
	return whole;
}

static int picture_check(const char *half, const char *path, const char *tail, int fd,
			 struct error *err)
{
	if (!path_exists(half))
		return gnuplot_error(fd, path, "wrote no picture", err);
	if (!picture_is_whole(half, tail))
		return gnuplot_error(fd, path,
				     "wrote a part of the picture alone: is the disk full?", err);
	return 0;
}

static int pictures_check(const struct figure *f, const char *dir, unsigned int formats, int fd,
			  struct error *err)
{
	int rc = 0;
	size_t i;

	for (i = 0; i < array_size(endings) && !rc; i++) {
		char *path = picture_path(f, dir, i), *half = remains_name(path);

		if (formats & endings[i].bit)
			rc = picture_check(half, path, endings[i].tail, fd, err);
		free(half);
		free(path);
	}
	return rc;
}

/* Gives a whole picture its name. It replaces that of an earlier run. */
static int picture_name(const struct figure *f, const char *path, bool svg, struct error *err)
{
	char *half = remains_name(path);
	int rc = 0;

	if (svg)
		rc = picture_describe(f, half, path, err);
	else if (rename(half, path))
		rc = error_sys(err, errno, "%s: cannot write", path);
	caller_give_path(path);
	free(half);
	return rc;
}

/* Names no picture before all are whole, so that all show the same run. */
static int pictures_finish(const struct figure *f, const char *dir, unsigned int formats, int fd,
			   struct error *err)
{
	int rc = pictures_check(f, dir, formats, fd, err);
	size_t i;

	for (i = 0; i < array_size(endings) && !rc; i++) {
		char *path = picture_path(f, dir, i);

		if (formats & endings[i].bit)
			rc = picture_name(f, path, endings[i].bit == FIGURE_SVG, err);
		free(path);
	}
	return rc;
}

/* Adds to an error that pictures of an earlier run are there: their data and scripts are new. */
static int pictures_failed(const struct figure *f, const char *dir, unsigned int formats,
			   const struct error *why, struct error *err)
{
	bool old = false;
	size_t i;

	for (i = 0; i < array_size(endings); i++) {
		char *path = picture_path(f, dir, i);

		old |= (formats & endings[i].bit) && path_exists(path);
		free(path);
	}
	return error_set(err, why->code, "%s%s", why->text,
			 old ? "; the picture of an earlier run is still there" : "");
}

/* A host with fontconfig has its tool; without the tool, fonts are assumed. */
bool figure_has_fonts(void)
{
	char *const argv[] = {"fc-list", "-q", NULL};
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), status = 0;
	struct spawn opts = {.in = fd, .out = fd, .err = fd};
	struct error ignored = {0};
	pid_t pid;

	if (fd < 0)
		return true;
	if (!spawn_start(&pid, argv, &opts, &ignored) &&
	    spawn_wait(pid, GNUPLOT_MS, &status) == -ETIMEDOUT)
		spawn_stop(pid, 1000, NULL);
	close(fd);
	return !WIFEXITED(status) || WEXITSTATUS(status) != 1;
}

int figure_render(const struct figure *f, const char *dir, unsigned int formats, struct error *err)
{
	char *script = xasprintf("%s.gp", f->name), *gp = xasprintf("%s/%s", dir, script);
	char *tail = remains_name("");
	char *half = xasprintf("half = '%s'", tail);
	/* -d: the user's own settings do not reach the picture */
	char *argv[] = {"gnuplot", "-d", "-e", half, script, NULL};
	struct spawn opts = {.cwd = dir};
	struct error why = {0};
	int rc;

	opts.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	opts.err = memfd_create("gnuplot", MFD_CLOEXEC);
	halves_remove(f, dir, formats);
	if (opts.in < 0 || opts.err < 0) {
		rc = error_sys(&why, errno, "cannot run gnuplot");
	} else {
		opts.out = opts.err;
		rc = gnuplot_run(argv, &opts, gp, &why);
		if (!rc)
			rc = pictures_finish(f, dir, formats, opts.err, &why);
	}
	if (rc) {
		halves_remove(f, dir, formats);
		rc = pictures_failed(f, dir, formats, &why, err);
	}
	close(opts.in);
	close(opts.err);
	free(half);
	free(tail);
	free(script);
	free(gp);
	return rc;
}

/* --- many figures --- */

/*
 * A new gnuplot loads its fonts for each picture. So each gnuplot of a batch draws many figures,
 * and between them forgets its settings. The terminal svg alone remembers the last line that it
 * drew, so the batch ends each figure with a plot whose last line is the one that a new gnuplot
 * has: then a picture has the same bytes as if it were drawn alone.
 */
static const char batch_forget[] = "reset session\n"
				   "set terminal svg\nset output '/dev/null'\n"
				   "plot 0 linetype -2 linewidth 1 notitle\n"
				   "set multiplot\nunset multiplot\nset output\n"
				   "reset session\n";

/* Returns a file with the commands for every `step`-th figure. */
static int batch_open_commands(const struct gallery *fs, size_t first, size_t step)
{
	int fd = memfd_create("commands", MFD_CLOEXEC);
	char *tail = remains_name("");
	struct str s = {0};
	size_t i;

	for (i = first; i < fs->n; i += step)
		str_printf(&s, "half = '%s'\nload '%s.gp'\n%s", tail, fs->list[i].name,
			   batch_forget);
	if (fd >= 0 && pwrite(fd, s.buf, s.len, 0) != (ssize_t)s.len) {
		close(fd);
		fd = -1;
	}
	str_free(&s);
	free(tail);
	return fd;
}

/* Starts gnuplot. Returns 0 if it cannot: gallery_render() then draws each figure alone. */
static pid_t batch_start(const struct gallery *fs, const char *dir, int silent, size_t first,
			 size_t step)
{
	char *argv[] = {"gnuplot", "-d", "-", NULL};
	struct spawn opts = {.cwd = dir, .out = silent, .err = silent};
	struct error ignored = {0};
	pid_t pid = 0;

	opts.in = batch_open_commands(fs, first, step);
	if (opts.in < 0)
		return 0;
	if (spawn_start(&pid, argv, &opts, &ignored))
		pid = 0;
	close(opts.in);
	return pid;
}

/* Draws what it can. The pictures say what it could. */
static void batch_run(const struct gallery *fs, const char *dir)
{
	int silent = open("/dev/null", O_WRONLY | O_CLOEXEC), status;
	size_t n = workers_count(0, fs->n, 2), i;
	pid_t pids[WORKERS_MAX];

	for (i = 0; i < n && silent >= 0; i++)
		pids[i] = batch_start(fs, dir, silent, i, n);
	for (i = 0; i < n && silent >= 0; i++)
		if (pids[i] && spawn_wait(pids[i], GNUPLOT_MS, &status) == -ETIMEDOUT)
			spawn_stop(pids[i], 1000, NULL);
	if (silent >= 0)
		close(silent);
}

void gallery_add(struct gallery *fs, struct figure *f)
{
	array_add(fs->list, fs->n, fs->cap, *f);
	*f = (struct figure){0};
}

void gallery_free(struct gallery *fs)
{
	size_t i;

	for (i = 0; i < fs->n; i++)
		figure_free(&fs->list[i]);
	free(fs->list);
	*fs = (struct gallery){0};
}

void gallery_render(const struct gallery *fs, const char *dir, unsigned int formats,
		    void (*done)(void *arg, const struct figure *f, int rc, struct error *err),
		    void *arg)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < fs->n; i++)
		halves_remove(&fs->list[i], dir, formats);
	batch_run(fs, dir);
	for (i = 0; i < fs->n && rc != -ENOENT && !stop_asked(); i++) {
		struct error err = {0};

		/* gnuplot's words on a failure are those of the figure alone */
		rc = pictures_finish(&fs->list[i], dir, formats, -1, &err);
		if (rc) {
			err = (struct error){0};
			rc = figure_render(&fs->list[i], dir, formats, &err);
		}
		done(arg, &fs->list[i], rc, &err);
	}
}
