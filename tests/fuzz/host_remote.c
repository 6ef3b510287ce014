// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as the answers of another host. The first byte chooses: c a new
 * connection, o the clock, f the files of a run. A refusal must give a reason. No file may appear
 * outside of the folder of the run, and none inside it after a refusal.
 */
#include "capture/remote.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

const char zcost_version[] = "fuzz"; /* the seeds have it */

static char folder[] = "/tmp/zcost-fuzz-XXXXXX", answers[64], run[64], hosts[64], staging[64];

static void remove_folder(void)
{
	dir_remove(folder, NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
	snprintf(answers, sizeof(answers), "%s/answers", folder);
	snprintf(run, sizeof(run), "%s/run", folder);
	snprintf(hosts, sizeof(hosts), "%s/hosts", folder);
	snprintf(staging, sizeof(staging), "%s/staging", folder);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static int refused(int rc, const struct error *err)
{
	if (rc && !*err->text)
		abort();
	return rc;
}

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

static size_t entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir)))
		n += *e->d_name != '.';
	if (dir)
		closedir(dir);
	return n;
}

static void read_files(struct remote *r)
{
	struct error err = {0};
	int rc;

	link_answers(r);
	rc = refused(remote_fetch(r, NULL, run, hosts, staging, &err), &err);
	unlink_answers(r);
	if (!rc && entries(run) && !path_is_dir(run))
		abort();
	if (path_exists(staging))
		abort();
	dir_remove(run, NULL);
	dir_remove(hosts, NULL);
	if (entries(folder) != 1)
		abort(); /* a file beside the answers */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	struct remote r = {0};
	struct plan p;

	if (!size || !strchr("cof", *data))
		return -1; /* libFuzzer does not add the input to its corpus */
	if (file_write(answers, data + 1, size - 1, NULL))
		abort();
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
