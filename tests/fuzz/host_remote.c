// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as the answers of another host. The first byte chooses: c a new
 * connection, o the clock, f the files of a run. A refusal must give a reason. No file may appear
 * outside of the folder of the run, and none inside it after a refusal.
 */
#include "capture/remote.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

const char zcost_version[] = "fuzz"; /* the seeds have it */

static const char *answers;

static struct plan *plan_of_answers(struct plan *p)
{
	struct side_plan *side;

	plan_init(p);
	side = plan_add_side(p, "far");
	free(side->host);
	side->host = xstrdup("far");
	free(p->ssh);
	p->ssh = xasprintf("sh -c 'exec cat %s' ssh", answers);
	p->start_timeout_s = p->stop_timeout_s = 2;
	return p;
}

static void read_greeting(struct remote *r)
{
	struct error err = {0};

	refused(remote_connect(r, NULL, &err), &err);
}

/* Connects to the answers without a process. */
static void link_answers(struct remote *r)
{
	r->link.from = open(answers, O_RDONLY | O_CLOEXEC);
	r->link.to = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (r->link.from < 0 || r->link.to < 0)
		abort();
	r->up = true;
	r->host_name = xstrdup("far");
}

static void unlink_answers(struct remote *r)
{
	close(r->link.from);
	close(r->link.to);
	r->link.from = r->link.to = -1;
}

static void read_clock(struct remote *r)
{
	struct error err = {0};
	struct offset o;

	link_answers(r);
	refused(remote_offset(r, NULL, &o, &err), &err);
	unlink_answers(r);
}

static void read_files(struct remote *r)
{
	char *run = xstrdup(fuzz_path("run")), *hosts = xstrdup(fuzz_path("hosts")),
	     *staging = xstrdup(fuzz_path("staging"));
	struct error err = {0};
	int rc;

	link_answers(r);
	rc = refused(remote_fetch(r, NULL, run, hosts, staging, &err), &err);
	unlink_answers(r);
	if (!rc && fuzz_entries(run) && !path_is_dir(run))
		abort();
	if (path_exists(staging))
		abort();
	dir_remove(run, NULL);
	dir_remove(hosts, NULL);
	if (fuzz_entries(fuzz_folder) != 1)
		abort(); /* a file beside the answers */
	free(run);
	free(hosts);
	free(staging);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	struct remote r = {0};
	struct plan p;

	if (!size || !strchr("cof", *data))
		return FUZZ_SKIP;
	if (!answers) {
		answers = xstrdup(fuzz_path("answers"));
		signal(SIGPIPE, SIG_IGN);
	}
	fuzz_file("answers", data + 1, size - 1);
	if (remote_init(&r, plan_of_answers(&p), 0, "fuzz", &err))
		abort();
	if (*data == 'c')
		read_greeting(&r);
	else if (*data == 'o')
		read_clock(&r);
	else
		read_files(&r);
	remote_free(&r);
	plan_free(&p);
	return 0;
}
