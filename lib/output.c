// SPDX-License-Identifier: GPL-2.0-only
#include "lib/output.h"

#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { KEY_WIDTH = 0x400, KEY_VERBOSE, WIDTH_LEAST = 20, WIDTH_MOST = 10000, WIDTH_USUAL = 80 };

static const struct argp_option output_options[] = {
	{"format", 'f', "text|tsv|csv|json|md|commit", 0,
	 "text (default), tsv, csv, json, md, or commit: for a commit message; of compare also ktap and junit: the rows that --fail-on checks",
	 90},
	{"output", 'o', "FILE", 0, "write there instead of standard output", 90},
	{"width", KEY_WIDTH, "N", 0,
	 "characters in a line of text; 0: no limit; default: the terminal's width, else 0", 90},
	{"verbose", KEY_VERBOSE, NULL, 0, "print all notes", 90},
	{0},
};

static void output_parse_width(struct argp_state *state, struct output *o, const char *arg)
{
	char *end;
	long n = strtol(arg, &end, 10);

	if (end == arg || *end || (n && n < WIDTH_LEAST) || n > WIDTH_MOST)
		argp_error(state, "--width '%s' is neither 0 nor a number from %d to %d", arg,
			   WIDTH_LEAST, WIDTH_MOST);
	o->width = (int)n;
	o->width_given = true;
}

static error_t output_parse_option(int key, char *arg, struct argp_state *state)
{
	struct output *o = state->input;

	switch (key) {
	case 'f':
		if (table_format_parse(arg, &o->format))
			argp_error(state,
				   "unknown format '%s'; use text, tsv, csv, json, md or commit%s",
				   arg, o->has_gate ? ", ktap or junit" : "");
		if (o->format >= FORMAT_KTAP && !o->has_gate)
			argp_error(state, "--format %s: only compare has tests to print", arg);
		return 0;
	case 'o':
		o->path = arg;
		return 0;
	case KEY_WIDTH:
		output_parse_width(state, o, arg);
		return 0;
	case KEY_VERBOSE:
		o->verbose = true;
		return 0;
	case ARGP_KEY_END:
		if (o->width_given && o->format != FORMAT_TEXT)
			argp_error(state, "--width applies only to the format text");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp output_argp = {.options = output_options, .parser = output_parse_option};

int output_terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int n = columns ? atoi(columns) : 0;

	if (!isatty(fd))
		return 0;
	if (n <= 0)
		n = !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : WIDTH_USUAL;
	return n < WIDTH_LEAST ? WIDTH_LEAST : n;
}

int output_table(const struct output *o, struct table *t, struct error *err)
{
	struct sink out;
	int rc = sink_open(&out, o->path, err);

	if (rc)
		return rc;
	t->verbose = o->verbose;
	table_write(t, o->format, o->width_given ? o->width : output_terminal_width(out.fd), out.f);
	return sink_close(&out, 0, err);
}

enum { BUFFER = 1 << 16 };

/* Writes nothing after a failure, so that no file has a hole. */
static ssize_t sink_write(void *cookie, const char *buf, size_t len)
{
	struct sink *s = cookie;
	size_t done = 0;

	while (!s->failure && done < len) {
		ssize_t n = write(s->fd, buf + done, len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			s->failure = errno;
	}
	return (ssize_t)done; /* 0 means an error to stdio */
}

static bool sink_is_stdout(const struct sink *s)
{
	return !s->path || !strcmp(s->path, "-");
}

static int sink_error(const struct sink *s, int code, struct error *err)
{
	return error_sys(err, code, "%s: cannot write",
			 sink_is_stdout(s) ? "standard output" : s->path);
}

/* Under sudo a new file belongs to the caller. One that is there keeps its owner and its mode. */
static int sink_set_owner(int fd, const struct stat *old)
{
	if (!S_ISREG(old->st_mode))
		caller_give(fd);
	else if (fchown(fd, old->st_uid, old->st_gid) || fchmod(fd, old->st_mode & 07777))
		return -errno;
	return 0;
}

/* Opens a temporary file, so that nobody takes half a result for a whole one. */
static int sink_open_new(struct sink *s, const struct stat *old)
{
	int fd, rc;

	remains_remove(s->path);
	s->tmp = remains_name(s->path);
	fd = file_create(s->tmp, 0, 0666);
	rc = fd < 0 ? fd : sink_set_owner(fd, old);
	if (!rc)
		return fd;
	file_replace(fd, s->tmp, s->path, rc);
	free(s->tmp);
	s->tmp = NULL;
	return rc;
}

/*
 * Writes a device, a FIFO or a symbolic link itself, and a file that a user may write to but not
 * replace.
 */
static int sink_open_file(struct sink *s, struct error *err)
{
	struct stat old = {0};
	bool new = lstat(s->path, &old) || S_ISREG(old.st_mode);
	int fd = -EPERM, rc = caller_check_path(s->path, err); /* after lstat(): see below */

	if (rc)
		return rc;
	if (new)
		fd = sink_open_new(s, &old);
	if (fd == -EPERM || fd == -EACCES) {
		/* A link that was checked stays. One that came later is not followed. */
		fd = open(s->path,
			  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (new ? O_NOFOLLOW : 0), 0666);
		fd = fd < 0 ? -errno : fd;
	}
	return fd < 0 ? sink_error(s, -fd, err) : fd;
}

/* Closes the file. Without an error in `rc` it gets its name. */
static int sink_close_file(struct sink *s, int rc)
{
	if (s->tmp)
		rc = file_replace(s->fd, s->tmp, s->path, rc);
	else if (s->fd >= 0 && !sink_is_stdout(s) && close(s->fd) && !rc)
		rc = -errno;
	free(s->tmp);
	s->tmp = NULL;
	return rc;
}

int sink_open(struct sink *s, const char *path, struct error *err)
{
	*s = (struct sink){.path = path, .fd = STDOUT_FILENO};
	if (!sink_is_stdout(s))
		s->fd = sink_open_file(s, err);
	if (s->fd < 0)
		return s->fd;
	s->f = fopencookie(s, "w", (cookie_io_functions_t){.write = sink_write});
	if (!s->f)
		return sink_error(s, -sink_close_file(s, -errno), err);
	s->buffer = xmalloc(BUFFER);
	setvbuf(s->f, s->buffer, _IOFBF, BUFFER);
	return 0;
}

int sink_close(struct sink *s, int rc, struct error *err)
{
	int failed;

	if (!s->f)
		return rc;
	if (fclose(s->f) && !s->failure)
		s->failure = errno;
	s->f = NULL;
	free(s->buffer);
	failed = sink_close_file(s, rc ? rc : -s->failure);
	return rc || !failed ? rc : sink_error(s, -failed, err);
}
