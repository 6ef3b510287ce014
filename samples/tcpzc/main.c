// SPDX-License-Identifier: GPL-2.0-only
/* One flow, from its options to its summary. */
#include "tcpzc.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static int pin(struct flow *f)
{
	cpu_set_t set;

	if (f->opt->cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET((size_t)f->opt->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return flow_fail(f, errno, "--cpu %d", f->opt->cpu);
	return 0;
}

static void send_all(struct flow *f)
{
	const struct mode *m = f->opt->mode;

	flow_data_starts(f);
	if (f->opt->seconds > 0)
		stop_after(f, f->opt->seconds);
	while (!stop_requested && flow_left(f, f->bytes) && !f->error && !m->step(f))
		flow_tick(f);
	if (m->drain)
		m->drain(f);
}

static void receive_all(struct flow *f)
{
	const struct mode *m = f->opt->mode;

	if (net_wait_readable(f) || stop_requested)
		return;
	flow_data_starts(f);
	while (!stop_requested && !f->error && m->step(f) > 0)
		flow_tick(f);
	if (m->drain)
		m->drain(f);
}

/* What a receiver knows to be wrong with data that came without an error. */
static void judge(struct flow *f)
{
	const struct options *o = f->opt;

	if (f->bad_bytes)
		flow_wrong(f,
			   "verify: %" PRIu64 " of %" PRIu64
			   " bytes differ, the first at offset %" PRIu64,
			   f->bad_bytes, f->bytes, f->first_bad);
	if (o->listen && o->bytes && f->bytes != o->bytes && !stop_asked())
		flow_wrong(f, "%" PRIu64 " bytes came, --bytes says %" PRIu64, f->bytes, o->bytes);
}

/* 0, or -errno after flow_fail. The summary is printed whenever there was a connection. */
static int run(struct flow *f)
{
	const struct options *o = f->opt;

	if (stop_catch(f) || pin(f) || o->mode->open(f))
		return -f->error;
	if (o->listen ? net_accept(f) : net_connect(f))
		return -f->error;
	flow_begin(f);
	if (!o->mode->attach || !o->mode->attach(f)) {
		if (o->listen)
			receive_all(f);
		else
			send_all(f);
	}
	flow_data_ends(f);
	judge(f);
	if (!o->listen && !f->error)
		net_linger(f);
	report_summary(f);
	return -f->error;
}

int main(int argc, char **argv)
{
	struct options opt;
	struct flow f = {.opt = &opt, .fd = -1};

	options_parse(&opt, argc, argv);
	if (run(&f))
		report_error(&f);
	opt.mode->close(&f);
	if (f.fd >= 0)
		close(f.fd);
	return f.error ? EXIT_FAILURE : EXIT_SUCCESS;
}
