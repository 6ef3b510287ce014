// SPDX-License-Identifier: GPL-2.0-only
/*
 * zcost push SERVER URL [CAPTURE...]: sends a profile of each variant and side to a server, or the
 * tables of a capture to a database.
 *
 * A profile is first a file in the spool, and so are the tables of a capture. The file has
 * requests: address, a blank, the length of the content, a newline, the content. It is called by
 * its id, which is made of address, labels and time of a profile, or of all requests. Answers 2xx
 * to all requests make it an empty file ID.sent. So it is sent once, unless an answer is lost. A
 * profile is then sent again, with the same labels, time and id. Tables are replaced.
 */
#include "analyze/commands/commands.h"
#include "analyze/compare/history.h"
#include "analyze/export/export.h"
#include "lib/clock.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/late.h"
#include "lib/sha256.h"

#define CURL_DISABLE_TYPECHECK /* its macros know no pointers to functions */
#include <ctype.h>
#include <curl/curl.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <unistd.h>

// clang-format off
#define PUSH_CURL(F) \
	F(curl_easy_init) F(curl_easy_setopt) F(curl_easy_perform) F(curl_easy_getinfo) \
	F(curl_easy_cleanup) F(curl_easy_strerror) F(curl_easy_unescape) F(curl_free) \
	F(curl_slist_append) F(curl_slist_free_all)
// clang-format on

enum {
	PUSH_ID = 32, /* hexadecimal digits */
	PUSH_ANSWER = 1 << 16,
};

struct push {
	const struct push_server *server;
	const char *url, *spool, *commit, **captures;
	int ncaptures, captures_cap;
	double retry_s;
	char *address; /* URL and path */
	struct {
		PUSH_CURL(LATE_MEMBER)
	} late;
	CURL *curl;
	struct curl_slist *headers;
	struct str answer;
	int grpc_status; /* the answer's; it stays -1 where the answer has none */
	struct str grpc_message;
	struct str file; /* the tables of the capture in work */
	/* the profile in work */
	struct export x;
	struct query q;
	struct otlp_about about;
	uint64_t seconds; /* the windows of all runs */
	int sent, waiting;
	bool down; /* the server does not answer */
};

struct push_server {
	const char *name, *path, *type; /* path: behind the URL; type: of the content */
	const char *what;		/* what is sent, in the plural */
	/* Puts what a capture has into the spool. */
	int (*add)(struct push *p, const char *capture, struct error *err);
	/* Appends the query of the URL, and the content, of a profile. */
	int (*write)(struct push *p, struct str *query, struct str *content, struct error *err);
	bool grpc;
};

/* Appends a character of a value in the query of a URL. */
static void push_escape(struct str *query, char c)
{
	if (isalnum((unsigned char)c) || strchr("-._~", c))
		str_putc(query, c);
	else
		str_printf(query, "%%%02X", (unsigned char)c);
}

static void push_add_request(const struct push *p, struct str *file, const struct str *query,
			     const char *content, size_t len)
{
	str_printf(file, "%s%s %zu\n", p->address, query->buf ?: "", len);
	str_add(file, content, len);
}

/* --- the servers --- */

/* Pyroscope separates labels by commas, and has no way to write one in a value. */
static int pyroscope_write(struct push *p, struct str *query, struct str *content,
			   struct error *err)
{
	uint64_t from = p->about.time_ns / 1000000000;

	str_printf(query, "?format=pprof&spyName=zcost&from=%ju&until=%ju&name=zcost%%7B",
		   (uintmax_t)from, (uintmax_t)(from + p->seconds));
	for (size_t i = 1; i < p->about.nlabels; i++) { /* the name is the first label */
		str_printf(query, "%s%s%%3D", i > 1 ? "%2C" : "", p->about.labels[i][0]);
		for (const char *c = p->about.labels[i][1]; *c; c++)
			push_escape(query, strchr(",}", *c) ? '_' : *c);
	}
	str_puts(query, "%7D");
	return pprof_encode(&p->x, true, content, err);
}

static int otlp_write(struct push *p, struct str *query, struct str *content, struct error *err)
{
	freed(str_free) struct str pprof = {0};
	int rc = pprof_encode(&p->x, false, &pprof, err);

	(void)query;
	return rc ?: otlp_encode(&pprof, &p->about, content, err);
}

/* A message of gRPC is a byte that says that it is not compressed, its length, and itself. */
enum { GRPC_HEAD = 5 };

static int otlp_grpc_write(struct push *p, struct str *query, struct str *content,
			   struct error *err)
{
	freed(str_free) struct str message = {0};
	int rc = otlp_write(p, query, &message, err);
	uint32_t len = htobe32((uint32_t)message.len);

	str_putc(content, '\0');
	str_add(content, (const char *)&len, sizeof(len));
	str_add(content, message.buf, message.len);
	return rc;
}

/* --- profiles into the spool --- */

/* Returns the descriptor of the folder, which no other push has at the same time, or -errno. */
static int push_open_spool(const struct push *p, struct error *err)
{
	int rc = mkdir(p->spool, 0777) && errno != EEXIST ? -errno : 0;
	int fd = rc ? rc : open(p->spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	error_sys(err, errno, "%s: cannot open the spool, or another push uses it", p->spool);
	if (fd >= 0)
		close(fd);
	return -err->code;
}

/* Fills labels and duration. Returns the number of runs with samples, or -errno. */
static int push_describe(struct push *p, const struct block *b, struct arena *arena,
			 struct error *err)
{
	autofree struct host_row *hosts = NULL;
	autofree struct run *runs = NULL;
	int n = scope_runs(p->x.store, p->x.q, b, FOR_PROFILE, &runs, err);
	int nhosts = n <= 0 ? n : store_hosts(p->x.store, &hosts, err);
	const char *kernel = NULL;
	uint64_t ns = 0;

	if (nhosts <= 0)
		return nhosts;
	for (int i = 0; i < n; i++)
		ns += runs[i].end_ns - runs[i].start_ns;
	for (int i = 0; i < nhosts; i++)
		kernel = strcmp(runs->host, hosts[i].name) ? kernel : hosts[i].release;
	const char *labels[][2] = {{"service.name", "zcost"}, {"variant", b->variant},
				   {"side", b->side},	      {"host", runs->host},
				   {"kernel", kernel},	      {"commit", p->commit}};

	if (!p->commit)
		labels[5][1] = history_commit(p->x.store, b->variant, kernel, arena, err);
	p->seconds = 1 + ns / 1000000000;
	p->about.nlabels = 0;
	for (size_t i = 0; i < array_size(labels); i++)
		if (labels[i][1])
			memcpy(p->about.labels[p->about.nlabels++], labels[i], sizeof(*labels));
	return n;
}

/* Ends the sum that is an id. Returns the path of its file; the caller frees. */
static char *push_path(const struct push *p, struct sha256 *sum, char hex[65])
{
	sha256_hex(sum, hex);
	return xasprintf("%s/%.*s", p->spool, PUSH_ID, hex);
}

/* Writes a file into the spool, and first removes what a killed push left of it. */
static int push_store(const char *path, const struct str *file, struct error *err)
{
	remains_remove(path);
	return file_write(path, file->buf, file->len, err);
}

static bool push_has(const char *path)
{
	autofree char *sent = xasprintf("%s.sent", path);

	return path_exists(sent) || path_exists(path);
}

/* Makes the id of the profile. Returns the path of its file; the caller frees. */
static char *push_identify(struct push *p)
{
	struct sha256 sum;
	char hex[65], *path;

	sha256_begin(&sum);
	sha256_add(&sum, &p->about.time_ns, sizeof(p->about.time_ns));
	sha256_add(&sum, p->address, strlen(p->address));
	for (size_t i = 0; i < p->about.nlabels; i++)
		for (int k = 0; k < 2; k++)
			sha256_add(&sum, p->about.labels[i][k], strlen(p->about.labels[i][k]) + 1);
	path = push_path(p, &sum, hex);
	for (size_t i = 0; i < sizeof(p->about.id); i++)
		sscanf(hex + 2 * i, "%2hhx", &p->about.id[i]);
	return path;
}

/* Writes the profile of a variant and side into the spool, unless it was there. Returns the number
 * of runs with samples, or -errno. */
static int push_add_block(struct push *p, const struct block *b, struct error *err)
{
	freed(arena_free) struct arena arena = {0};
	freed(str_free) struct str file = {0}, query = {0}, content = {0};
	autofree char *path = NULL;
	int n, rc = 0;

	p->q.variant = b->variant;
	p->q.side = b->side;
	n = push_describe(p, b, &arena, err);
	if (n <= 0)
		return n;
	path = push_identify(p);
	if (!push_has(path)) {
		rc = p->server->write(p, &query, &content, err);
		push_add_request(p, &file, &query, content.buf, content.len);
		rc = rc ?: push_store(path, &file, err);
	}
	return rc ?: n;
}

static int push_add_profiles(struct push *p, const char *capture, struct error *err)
{
	autofree struct block *blocks = NULL;
	struct tm tm = {0};
	const char *created;
	int n, rc = store_open(&p->x.store, capture, err), found = 0;

	if (rc)
		return rc;
	created = store_capture_value(p->x.store, "created");
	if (!created || !strptime(created, "%Y-%m-%dT%H:%M:%SZ", &tm))
		rc = error_set(err, ENODATA, "%s: the capture has no date", capture);
	p->about.time_ns = (uint64_t)timegm(&tm) * 1000000000;
	p->q = (struct query){0};
	p->x.q = &p->q;
	n = rc ?: scope_blocks(p->x.store, &p->q, &blocks, err);
	for (rc = n < 0 ? n : 0; n > 0 && rc >= 0; n--, found += rc)
		rc = push_add_block(p, &blocks[n - 1], err);
	if (rc >= 0 && !found)
		rc = error_set(err, ENODATA, "%s: no samples; 'zcost report runs' shows why",
			       capture);
	return store_close(p->x.store, rc < 0 ? rc : 0, err);
}

/* --- tables into the spool --- */

static void push_add_statement(void *push, const char *sql, const char *rows, size_t len)
{
	freed(str_free) struct str query = {0};
	struct push *p = push;

	str_puts(&query, "?query=");
	for (; *sql; sql++)
		push_escape(&query, *sql);
	push_add_request(p, &p->file, &query, rows, len);
}

static int push_add_tables(struct push *p, const char *capture, struct error *err)
{
	autofree char *path = NULL;
	struct sha256 sum;
	char hex[65];
	int rc;

	str_reset(&p->file);
	rc = clickhouse_statements(capture, push_add_statement, p, err);
	sha256_begin(&sum);
	sha256_add(&sum, p->file.buf, p->file.len);
	path = push_path(p, &sum, hex);
	return rc || push_has(path) ? rc : push_store(path, &p->file, err);
}

static const struct push_server servers[] = {
	{.name = "pyroscope",
	 .path = "/ingest",
	 .type = "application/octet-stream",
	 .what = "profiles",
	 .add = push_add_profiles,
	 .write = pyroscope_write},
	{.name = "otlp",
	 .path = "/v1development/profiles",
	 .type = "application/x-protobuf",
	 .what = "profiles",
	 .add = push_add_profiles,
	 .write = otlp_write},
	{.name = "otlp-grpc",
	 .path = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
	 .type = "application/grpc",
	 .what = "profiles",
	 .add = push_add_profiles,
	 .write = otlp_grpc_write,
	 .grpc = true},
	{.name = "clickhouse",
	 .path = "/",
	 .type = "text/tab-separated-values",
	 .what = "captures",
	 .add = push_add_tables},
};

/* --- from the spool to the server --- */

static size_t push_read_answer(char *data, size_t size, size_t n, void *push)
{
	struct push *p = push;

	if (p->answer.len < PUSH_ANSWER)
		str_add(&p->answer, data, size * n);
	return size * n;
}

/* Reads grpc-status and grpc-message, which come behind the answer. */
static size_t push_read_header(char *data, size_t size, size_t n, void *push)
{
	static const char status[] = "grpc-status: ", message[] = "grpc-message: ";
	autofree char *line = xstrndup(data, strcspn(data, "\r\n"));
	struct push *p = push;

	if (str_starts(line, status))
		p->grpc_status = atoi(line + strlen(status));
	else if (str_starts(line, message))
		str_puts(&p->grpc_message, line + strlen(message));
	return size * n;
}

static int push_open_curl(struct push *p, struct error *err)
{
	autofree char *type = xasprintf("Content-Type: %s", p->server->type);
	int rc = LATE_LOAD("libcurl.so.4", PUSH_CURL, &p->late, err);

	if (rc)
		return rc;
	p->curl = p->late.curl_easy_init();
	p->headers = p->late.curl_slist_append(NULL, type);
	if (!p->curl || !p->headers)
		return error_set(err, ENOMEM, "libcurl does not start");
	if (p->server->grpc) {
		p->headers = p->late.curl_slist_append(p->headers, "TE: trailers");
		p->late.curl_easy_setopt(p->curl, CURLOPT_HTTP_VERSION,
					 str_starts(p->url, "https")
						 ? (long)CURL_HTTP_VERSION_2TLS
						 : (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
		/* Version 7.88 cannot send a second request over a connection of this kind. */
		p->late.curl_easy_setopt(p->curl, CURLOPT_FORBID_REUSE, 1L);
		p->late.curl_easy_setopt(p->curl, CURLOPT_HEADERFUNCTION, push_read_header);
		p->late.curl_easy_setopt(p->curl, CURLOPT_HEADERDATA, p);
	}
	p->late.curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, p->headers);
	p->late.curl_easy_setopt(p->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	p->late.curl_easy_setopt(p->curl, CURLOPT_NOSIGNAL, 1L);
	p->late.curl_easy_setopt(p->curl, CURLOPT_TIMEOUT, 60L);
	p->late.curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, push_read_answer);
	p->late.curl_easy_setopt(p->curl, CURLOPT_WRITEDATA, p);
	return 0;
}

/*
 * Turns the status of gRPC into one of HTTP: 200, 503 for a failure that the specification of OTLP
 * allows to try again, or 400. p->answer is then the message of an answer 200.
 */
static long push_grpc_status(struct push *p)
{
	enum { CANCELLED = 1, DEADLINE = 4, ABORTED = 10, RANGE, UNAVAILABLE = 14, DATA_LOSS };
	int s = p->grpc_status;
	char *said;

	if (!s && p->answer.len >= GRPC_HEAD) {
		p->answer.len -= GRPC_HEAD;
		memmove(p->answer.buf, p->answer.buf + GRPC_HEAD, p->answer.len + 1);
	}
	if (!s)
		return 200;
	str_reset(&p->answer);
	said = p->late.curl_easy_unescape(p->curl, p->grpc_message.buf ?: "", 0, NULL);
	str_printf(&p->answer, "status %d of gRPC: %.300s", s, said ?: "");
	p->late.curl_free(said);
	return s == CANCELLED || s == DEADLINE || s == ABORTED || s == RANGE || s == UNAVAILABLE ||
			       s == DATA_LOSS
		       ? 503
		       : 400;
}

/* Returns the status of an answer, or 0. p->answer is an answer 2xx, or says what happened. */
static long push_post(struct push *p, const char *url, const char *content, size_t len)
{
	autofree char *said = NULL;
	long status = 0;
	CURLcode failure;

	str_reset(&p->answer);
	str_reset(&p->grpc_message);
	p->grpc_status = -1;
	p->late.curl_easy_setopt(p->curl, CURLOPT_URL, url);
	p->late.curl_easy_setopt(p->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	p->late.curl_easy_setopt(p->curl, CURLOPT_POSTFIELDS, content);
	failure = p->late.curl_easy_perform(p->curl);
	if (!failure)
		p->late.curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status / 100 == 2)
		return p->server->grpc ? push_grpc_status(p) : status;
	said = str_take(&p->answer);
	if (failure)
		str_puts(&p->answer, p->late.curl_easy_strerror(failure));
	else
		str_printf(&p->answer, "HTTP status %ld: %.300s", status, said);
	return status;
}

/* Tries until there is a final answer or the time is over. Returns whether the answer is final. */
static bool push_try(struct push *p, const char *url, const char *content, size_t len, long *status)
{
	double end_s = (double)clock_mono_ns() / 1e9 + p->retry_s, pause_s = 0.5;
	curl_off_t asked_s = 0;

	for (;; pause_s = fmin(2 * pause_s, 30)) {
		*status = push_post(p, url, content, len);
		if (*status && *status != 408 && *status != 429 && (*status < 502 || *status > 504))
			return true;
		p->late.curl_easy_getinfo(p->curl, CURLINFO_RETRY_AFTER, &asked_s);
		pause_s = fmax(pause_s, (double)asked_s);
		if ((double)clock_mono_ns() / 1e9 + pause_s > end_s)
			return false;
		print_note("%s: %s; next try in %g s", p->address, p->answer.buf, pause_s);
		usleep((useconds_t)(1e6 * pause_s));
	}
}

/* Sends a file of the spool if it is for this server. */
static int push_send(struct push *p, const char *path, struct error *err)
{
	autofree char *sent = xasprintf("%s.sent", path), *file = NULL;
	size_t len, start = strlen(p->address);
	long status = 0;
	int rc = file_read(path, &file, &len, err);

	if (rc || !str_starts(file, p->address) || !strchr("? ", file[start]))
		return rc;
	p->waiting++;
	if (p->down)
		return 0;
	for (char *at = file, *content; at < file + len; at = content) {
		size_t n = strtoull(at + strcspn(at, " "), &content, 10);

		if (*content++ != '\n' || n > (size_t)(file + len - content))
			return error_set(err, EINVAL, "%s: damaged: remove it and push again",
					 path);
		at[strcspn(at, " ")] = '\0';
		p->down = !push_try(p, at, content, n, &status);
		if (status / 100 != 2) {
			warn("%s: not sent: %s", path, p->answer.buf);
			return 0;
		}
		content += n;
	}
	p->waiting--;
	p->sent++;
	if (str_starts(p->server->name, "otlp") &&
	    p->answer.len > 2) { /* more than an empty message */
		warn("%s: the server did not take all: %.300s", path, p->answer.buf + 2);
		p->x.notes.lossy = true;
	}
	return rename(path, sent) || truncate(sent, 0)
		       ? error_sys(err, errno, "%s: cannot mark it as sent", path)
		       : 0;
}

static int push_send_all(struct push *p, struct error *err)
{
	DIR *dir = opendir(p->spool);
	struct dirent *e;
	int rc = dir ? 0 : error_sys(err, errno, "%s: cannot read the spool", p->spool);

	while (!rc && (e = readdir(dir))) {
		autofree char *path = xasprintf("%s/%s", p->spool, e->d_name);

		if (strspn(e->d_name, "0123456789abcdef") == PUSH_ID && !e->d_name[PUSH_ID])
			rc = push_send(p, path, err);
	}
	if (dir)
		closedir(dir);
	return rc;
}

/* --- the command --- */

enum { KEY_COMMIT = 0x100, KEY_SPOOL, KEY_RETRY };

static const struct argp_option push_options[] = {
	{"commit", KEY_COMMIT, "COMMIT", 0,
	 "the label commit (default: the plan's variable commit, or the commit in the kernel's name)",
	 0},
	{"spool", KEY_SPOOL, "DIR", 0,
	 "the folder where profiles and captures wait (default: push.spool)", 0},
	{"retry", KEY_RETRY, "SECONDS", 0,
	 "how long to try again if the server does not answer or is busy (default: 60)", 0},
	{0},
};

static void push_add_argument(const struct argp_state *state, struct push *p, const char *arg)
{
	if (p->url) {
		array_add(p->captures, p->ncaptures, p->captures_cap, arg);
	} else if (p->server) {
		if ((!str_starts(arg, "http://") && !str_starts(arg, "https://")) ||
		    strchr(arg, '@'))
			argp_error(state,
				   "give a URL with http:// or https://, and a user in ~/.netrc");
		p->url = arg;
		p->address = xasprintf("%.*s%s", (int)strlen(arg) - str_ends(arg, "/"), arg,
				       p->server->path);
	} else {
		for (size_t i = 0; i < array_size(servers); i++)
			p->server = strcmp(servers[i].name, arg) ? p->server : &servers[i];
		if (!p->server)
			argp_error(
				state,
				"no server '%s'; the servers are pyroscope, otlp, otlp-grpc and clickhouse",
				arg);
	}
}

static error_t push_parse(int key, char *arg, struct argp_state *state)
{
	struct push *p = state->input;

	if (key == KEY_COMMIT)
		p->commit = arg;
	else if (key == KEY_SPOOL)
		p->spool = arg;
	else if (key == KEY_RETRY)
		p->retry_s = arg_from_0(state, "--retry", arg);
	else if (key == ARGP_KEY_ARG)
		push_add_argument(state, p, arg);
	else if (key == ARGP_KEY_END && !p->url)
		argp_error(state, "to which server? for example: pyroscope http://HOST:4040");
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp argp = {
	.options = push_options,
	.parser = push_parse,
	.args_doc = "pyroscope|otlp|otlp-grpc|clickhouse URL [CAPTURE...]",
	.doc = "Sends a profile of each variant and side of analyzed captures to a server, or their tables to a database, and what waits for this URL in the spool.\vpyroscope: POST URL/ingest. otlp: POST URL/v1development/profiles, as collectors of OpenTelemetry take it; otlp-grpc: the same over gRPC. A profile is sent once. clickhouse: POST URL/?query=..., what `zcost export clickhouse` writes; rows of a capture replace earlier ones. Exit status: 0 all are sent, 1 failed or something waits, 2 usage error, 4 sent, but data is lossy or was refused.",
};

static int push_run(struct push *p, struct error *err)
{
	int spool = push_open_spool(p, err), rc = spool < 0 ? spool : push_open_curl(p, err);

	for (int i = 0; i < p->ncaptures && !rc; i++)
		rc = p->server->add(p, p->captures[i], err);
	rc = rc ?: push_send_all(p, err);
	if (spool >= 0)
		close(spool);
	return rc;
}

int cmd_push(int argc, char **argv)
{
	struct push p = {.spool = "push.spool", .retry_s = 60};
	struct error err = {0};
	bool lossy;

	table_init(&p.x.notes, "push", NULL, 0);
	args_parse(&argp, argc, argv, 0, &p);
	umask(077); /* profiles show what users did */
	push_run(&p, &err);
	lossy = p.x.notes.lossy;
	if (err.code)
		error_print(&err);
	else
		print_note("%d %s sent, %d wait in %s%s%s", p.sent, p.server->what, p.waiting,
			   p.spool, p.waiting ? "; run the command again" : "",
			   lossy ? "; data is lossy ('zcost report notes') or was refused" : "");
	if (p.curl)
		p.late.curl_easy_cleanup(p.curl);
	if (p.headers)
		p.late.curl_slist_free_all(p.headers);
	table_free(&p.x.notes);
	str_free(&p.answer);
	str_free(&p.file);
	str_free(&p.grpc_message);
	free(p.captures);
	free(p.address);
	if (err.code)
		return (int)error_exit(&err);
	return p.waiting ? EXIT_FAILED : lossy ? EXIT_LOSSY : EXIT_OK;
}
