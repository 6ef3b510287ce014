// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/run_facts.h"

#include "analyze/measures/scope.h"
#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

/* "/usr/bin/iperf3 -c x" as "iperf3 -c x" */
static char *short_command(const char *command)
{
	const char *p = command + strcspn(command, " ");

	while (p > command && p[-1] != '/')
		p--;
	return xstrdup(p);
}

struct run_facts run_facts_of(struct store *s, const char *variant, const char *side)
{
	struct run_filter filter = {.variant = variant, .side = side};
	struct run_facts f = {0};
	struct host_row *hosts = NULL;
	struct run *runs = NULL;
	int n = store_runs(s, &filter, &runs, NULL), i, nhosts;

	if (n > 0) {
		f.host = runs[0].host;
		f.command = runs[0].command ? short_command(runs[0].command) : NULL;
		if (f.command)
			str_replace(f.command, '\n', ' ');
	}
	nhosts = n > 0 ? store_hosts(s, &hosts, NULL) : 0;
	for (i = 0; i < nhosts; i++)
		if (f.host && hosts[i].name && !strcmp(hosts[i].name, f.host))
			f.kernel = hosts[i].release;
	free(hosts);
	free(runs);
	return f;
}

void run_facts_free(struct run_facts *f)
{
	free(f->command);
	*f = (struct run_facts){0};
}

void run_facts_host(struct str *s, const struct run_facts *f)
{
	char *line = xasprintf("Linux %s on host %s", f->kernel ? f->kernel : "(unknown)",
			       f->host ? f->host : "(unknown)");

	str_replace(line, '\n', ' ');
	str_printf(s, "%s\n", line);
	free(line);
}

/* Each side's host, once where it is the same. */
static void put_hosts(struct str *s, struct store *store, const struct block *blocks, int n)
{
	struct str line = {0};
	int i;

	for (i = 0; i < n; i++) {
		struct run_facts f = run_facts_of(store, blocks[i].variant, blocks[i].side);

		str_reset(&line);
		run_facts_host(&line, &f);
		if (!s->len || !strstr(s->buf, line.buf))
			str_puts(s, line.buf);
		run_facts_free(&f);
	}
	str_free(&line);
}

void run_facts_title(struct store *store, const struct query *q, struct table *t)
{
	struct block *blocks = NULL;
	struct str s = {0};
	int n = scope_blocks(store, q, &blocks, NULL), i;

	put_hosts(&s, store, blocks, n);
	for (i = 0; i < n && (q->side || n == 1); i++) {
		struct run_facts f = run_facts_of(store, blocks[i].variant, blocks[i].side);

		if (f.command)
			str_printf(&s, "%s: %s\n", blocks[i].variant, f.command);
		run_facts_free(&f);
	}
	if (s.len)
		table_title_lines(t, str_trim(s.buf));
	str_free(&s);
	free(blocks);
}
