// SPDX-License-Identifier: GPL-2.0-only
/* Runs gnuplot and checks its pictures, or reports its own words. */
#include "plot/figure.h"

#include "lib/file.h"
#include "lib/spawn.h"
#include "plot/label.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
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

int figure_formats(const char *list, unsigned int *formats)
{
	char *word;
	size_t i;

	*formats = 0;
	each_part (word, list, ',') {
		word = str_trim(word);
		for (i = 0; i < array_size(endings) && strcmp(endings[i].ending, word); i++)
			;
		if (i == array_size(endings))
			return -EINVAL;
		*formats |= endings[i].bit;
	}
	return 0;
}

static char *picture_path(const struct figure *f, const char *dir, size_t i)
{
	return xasprintf("%s/%s.%s", dir, f->name, endings[i].ending);
}

/*
 * Removes the pictures of an earlier run, whose data and scripts are gone, or parts of new ones.
 */
static void pictures_remove(const struct figure *f, const char *dir, unsigned int formats)
{
	for (size_t i = 0; i < array_size(endings); i++) {
		autofree char *path = picture_path(f, dir, i), *drawn = remains_name(path);

		if (!(formats & endings[i].bit))
			continue;
		unlink(path);
		unlink(drawn);
		remains_remove(path);
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

/* Sets the error to gnuplot's first words in `fd` and the way out. */
static int gnuplot_error(int fd, const char *path, const char *what, struct error *err)
{
	char text[512], *start;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	start = text_one_line(text);
	return error_set(
		err, EIO, "%s: gnuplot %s%s%s%s", path, what, *start ? ": " : "", start,
		strstr(start, "terminal type")
			? "; this gnuplot was built without it: install gnuplot-nox or gnuplot, or use --format svg"
			: "; the charts are made for gnuplot 5.4 and newer");
}

static void svg_add_head(struct str *out, const struct figure *f)
{
	const char *const texts[] = {f->remarks, f->doubt, f->foot};

	str_puts(out, "<title>");
	str_put_xml(out, f->title ? f->title : f->name);
	str_puts(out, "</title>\n<desc>");
	str_put_xml(out, f->subtitle ? f->subtitle : "");
	for (size_t i = 0; i < array_size(texts); i++) {
		str_puts(out, texts[i] ? ". " : "");
		str_put_xml(out, texts[i] ? texts[i] : "");
	}
	str_puts(out, "</desc>");
}

/* Returns the end of "<name>...</name>" at `s`, or NULL. */
static const char *svg_element_end(const char *s, const char *open, const char *close)
{
	const char *end = str_starts(s, open) ? strstr(s, close) : NULL;

	return end ? end + strlen(close) : NULL;
}

/* Copies an SVG by gnuplot into `out` with what gnuplot leaves out: that it is one image, its title
 * and its description for those who hear it read. gnuplot's names for single plots go. */
static void figure_describe_svg(const struct figure *f, struct str *out, const char *svg)
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

/*
 * Gives the picture that gnuplot drew its name. On a full disk gnuplot leaves a part of a picture
 * without a message.
 */
static int picture_finish(const struct figure *f, const char *path, size_t i, int fd,
			  struct error *err)
{
	const char *tail = endings[i].tail;
	freed(str_free) struct str described = {0};
	size_t len, near = strlen(tail) + 16;
	autofree char *data = NULL, *drawn = remains_name(path);
	int rc;

	if (!path_exists(drawn))
		return gnuplot_error(fd, path, "wrote no picture", err);
	rc = file_read(drawn, &data, &len, err);
	if (rc)
		return rc;
	near = near < len ? near : len;
	if (!memmem(data + len - near, near, tail, strlen(tail)))
		return gnuplot_error(fd, path,
				     "wrote a part of the picture alone: is the disk full?", err);
	if (endings[i].bit == FIGURE_SVG) {
		figure_describe_svg(f, &described, data);
		rc = file_write(path, described.buf, described.len, err);
		unlink(drawn);
	} else if (rename(drawn, path)) {
		rc = error_sys(err, errno, "%s: cannot write", path);
	}
	caller_give_path(path);
	return rc;
}

/* Runs gnuplot on the script in `dir`. `said`: a file for what it prints. */
static int gnuplot_run(const struct figure *f, const char *dir, int said, struct error *err)
{
	autofree char *script = xasprintf("%s.gp", f->name), *gp = xasprintf("%s/%s", dir, script);
	autofree char *half = remains_name(""), *ending = xasprintf("ending = '%s'", half);
	/* -d: the user's own settings do not reach the picture */
	char *argv[] = {"gnuplot", "-d", "-e", ending, script, NULL};
	struct spawn opts = {.cwd = dir, .out = said, .err = said};
	struct error why = {0};
	int status = 0, rc;
	pid_t pid;

	opts.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	rc = opts.in < 0 || said < 0 ? error_sys(&why, errno, "cannot run gnuplot")
				     : spawn_start(&pid, argv, &opts, &why);
	close(opts.in);
	if (rc == -ENOENT) {
		error_set(
			err, ENOENT,
			"gnuplot is not installed (no 'gnuplot' in PATH); scripts and data are written: install the package gnuplot-nox or gnuplot, then run this again, or 'gnuplot %s' in %s",
			script, dir);
	} else if (rc) {
		*err = why;
	} else if (spawn_wait(pid, GNUPLOT_MS, &status) == -ETIMEDOUT) {
		spawn_stop(pid, 1000, NULL);
		rc = gnuplot_error(said, gp, "did not end in 60 s", err);
	} else if (status) {
		rc = gnuplot_error(said, gp, spawn_status_text(status), err);
	}
	return rc;
}

int figure_render(const struct figure *f, const char *dir, unsigned int formats, struct error *err)
{
	int said = memfd_create("gnuplot", MFD_CLOEXEC), rc;

	pictures_remove(f, dir, formats);
	rc = gnuplot_run(f, dir, said, err);
	for (size_t i = 0; i < array_size(endings) && !rc; i++) {
		autofree char *path = picture_path(f, dir, i);

		if (formats & endings[i].bit)
			rc = picture_finish(f, path, i, said, err);
	}
	if (rc)
		pictures_remove(f, dir, formats);
	close(said);
	return rc;
}
