// SPDX-License-Identifier: GPL-2.0-only
/* System calls of the workload, by the first method that this host allows. */
#include "collect/collect.h"
#include "collect/run.h"
#include "collect/syscalls_method.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct syscalls {
	const struct syscalls_method *method;
	void *self;
};

static const struct syscalls_method *const methods[] = {&syscalls_bpf, &syscalls_tracepoint};

static bool syscalls_may_try(const struct run *r, const struct syscalls_method *m)
{
	return !r->syscalls_method || !strcmp(r->syscalls_method, m->name);
}

/* Keeps why the better method was not possible. */
static void syscalls_add_reason(struct str *s, const char *name, const struct error *err)
{
	str_printf(s, "%s%s: %s", s->len ? "; " : "", name, err->text);
}

/* A method that times all when one in n was asked for is more exact, and costs more. */
static void syscalls_choose_timed(struct collect *c, struct syscalls *s)
{
	unsigned int n = c->run->time_one_in;

	if (n > 1 && s->method->time_one_in)
		s->method->time_one_in(s->self, n);
	else
		n = 1;
	collect_info_int(c, "time_one_in", n);
}

static int syscalls_prepare(struct collect *c)
{
	struct syscalls *s = xcalloc(1, sizeof(*s));
	struct str reasons = {0};
	size_t i;

	c->data = s;
	for (i = 0; i < array_size(methods) && !s->method; i++) {
		struct error err = {0};

		if (!syscalls_may_try(c->run, methods[i]))
			continue;
		if (!methods[i]->open(&s->self, &err)) {
			s->method = methods[i];
			break;
		}
		syscalls_add_reason(&reasons, methods[i]->name, &err);
		if (s->self)
			methods[i]->close(s->self);
		s->self = NULL;
	}
	if (s->method) {
		collect_info_str(c, "method", s->method->name);
		syscalls_choose_timed(c, s);
		if (reasons.len)
			collect_why(c, "%s", reasons.buf);
	} else {
		error_set(&c->err, ENOSYS, "%s", reasons.buf);
	}
	str_free(&reasons);
	return s->method ? 0 : -ENOSYS;
}

static int syscalls_before(struct collect *c)
{
	struct syscalls *s = c->data;

	return s->method->before ? s->method->before(s->self, &c->err) : 0;
}

static int syscalls_start(struct collect *c)
{
	struct syscalls *s = c->data;

	return s->method->start(s->self, &c->err);
}

static int syscalls_stop(struct collect *c)
{
	struct syscalls *s = c->data;

	return s->method->stop(s->self, &c->err);
}

static void syscalls_save(struct collect *c, struct syscalls *s)
{
	char *path = collect_path(c, "syscalls.tsv");
	struct syscall_counts counts = {0};
	struct error err = {0};

	s->method->counts(s->self, &counts);
	c->lost = (int64_t)counts.lost;
	if (counts.lost)
		collect_degraded(c, "%llu calls or events were lost",
				 (unsigned long long)counts.lost);
	if (syscalls_write(&counts, path, &err))
		collect_degraded(c, "%s", err.text);
	free(path);
}

static void syscalls_finish(struct collect *c)
{
	struct syscalls *s = c->data;

	if (s->method) {
		if (c->run->end_ns)
			syscalls_save(c, s);
		s->method->close(s->self);
	}
	free(s);
}

const struct collector collector_syscalls = {
	.name = "syscalls",
	.what = "system calls of the workload: calls, errors, times, bytes per thread",
	.files = {"syscalls.tsv"},
	.prepare = syscalls_prepare,
	.before = syscalls_before,
	.start = syscalls_start,
	.stop = syscalls_stop,
	.finish = syscalls_finish,
};
