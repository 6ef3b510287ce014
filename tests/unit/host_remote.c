// SPDX-License-Identifier: GPL-2.0-only
/* Checks what is accepted of the files that another host sends, with limits that a test can reach.
 */
#include "capture/remote.h"
#include "lib/clock.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

const char zcost_version[] = "test";

static const char empty_sum[] =
	"sum e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n";

/* Starts a host that says `text`, and then sends `rest` every 10 ms until nobody listens. */
static void host_start(struct remote *r, struct plan *p, const char *text, const char *rest)
{
	int to[2];

	plan_init(p);
	plan_add_side(p, "far");
	free(p->sides[0].host);
	p->sides[0].host = xstrdup("far");
	p->stop_timeout_s = 20;
	assert_int_equal(remote_init(r, p, 0, "test", NULL), 0);
	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	r->link.pid = fork();
	if (!r->link.pid) {
		ssize_t n = write(to[1], text, strlen(text));

		while (n >= 0 && *rest && !usleep(10000))
			n = write(to[1], rest, strlen(rest));
		_exit(0);
	}
	close(to[1]);
	r->link.from = to[0];
	r->link.to = open("/dev/null", O_WRONLY | O_CLOEXEC);
	r->up = true;
	r->host_name = xstrdup("far");
}

/* Fetches a run and returns the error, which the caller frees; "" when there is none. */
static char *fetch_fails(const struct fetch_limits *most, const char *text, const char *rest)
{
	struct error err = {0};
	struct remote r = {0};
	struct plan p;
	int rc;

	host_start(&r, &p, text, rest);
	r.most = *most;
	rc = remote_fetch(&r, NULL, "run", "hosts", "staging", &err);
	assert_true(!rc == !*err.text);
	assert_int_equal(access("staging", F_OK), -1);
	remote_free(&r);
	plan_free(&p);
	assert_int_equal(dir_remove("run", NULL), 0);
	assert_int_equal(dir_remove("hosts", NULL), 0);
	return xstrdup(err.text);
}

static void expect(struct fetch_limits most, const char *text, const char *rest, const char *says)
{
	autofree char *why = fetch_fails(&most, text, rest);

	if (*says ? !strstr(why, says) : *why != 0)
		fail_msg("'%s' in place of '%s'", why, says);
}

TEST(run_within_the_limits_is_fetched)
{
	expect((struct fetch_limits){0, 1, 60}, "end\nend\ndropped\n", "", "");
}

/* The limits are for the run and what it adds to the description of the host, together. */
TEST(bytes_and_files_of_run_and_host_count_together)
{
	char *two =
		xasprintf("file 0 x\n%send\nfile 0 far/y\n%send\ndropped\n", empty_sum, empty_sum);

	expect((struct fetch_limits){0, 2, 60}, two, "", "");
	expect((struct fetch_limits){0, 1, 60}, two, "",
	       "far: sends more than 1 files for one run");
	expect((struct fetch_limits){9, 9, 60}, "file 10 x\n", "",
	       "far: sends more than 8.382e-09 GiB for one run, with x");
	free(two);
}

/* Each piece comes in time. */
TEST(slow_host_is_left_at_the_time_limit)
{
	uint64_t begun = clock_mono_ns();

	expect((struct fetch_limits){1000, 1000000, 0.3}, "file 1000 x\n", ".",
	       "far: has sent the files of one run for 0.3 s, which is the limit");
	expect((struct fetch_limits){1000, 1000000, 0.3}, "", "failed no\n",
	       "far: has sent the files of one run for 0.3 s, which is the limit");
	assert_true(clock_mono_ns() - begun < 15000000000); /* stop_timeout is 20 s */
}

TEST(link_that_ended_leaves_no_descriptor)
{
	struct remote r = {0};
	struct plan p;

	host_start(&r, &p, "", "");
	while (!link_ended(&r.link))
		usleep(10000);
	assert_int_equal(r.link.to, -1);
	assert_int_equal(r.link.from, -1);
	remote_free(&r);
	plan_free(&p);
}

static void set_up(void)
{
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(chdir(dir), 0);
}

AROUND_TESTS(set_up, NULL)
