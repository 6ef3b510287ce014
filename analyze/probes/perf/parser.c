// SPDX-License-Identifier: GPL-2.0-only
/* Reads perf.data into a profile of the samples on the side's CPUs within the window. */
#include "analyze/probes/ingest.h"

#include "analyze/perfdata/perfdata.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>

/*
 * Adds the processes that the plan names to those of the workload. run.json has those that lived at
 * the window's ends, by the name of the process, which is that of its first thread. Without them,
 * in a capture of an older zcost, the name of any thread counts.
 */
static void perf_add_named(struct profile *p, const struct ingest *in)
{
	const char *names = in->named ? in->named : in->how.processes;
	size_t i;

	for (i = 0; names && i < p->ncosts; i++) {
		const struct profile_cost *c = &p->costs[i];

		if (in->named && c->tid != c->pid)
			continue;
		if (c->comm != PROFILE_NONE &&
		    str_matches_any(names, intern_get(&p->strings, c->comm)))
			profile_add_own(p, c->pid);
	}
	profile_sort_own(p);
}

static int perf_read_file(struct ingest *in, const char *path, struct error *err)
{
	double *idle_ns = ingest_idle_ns(in);
	struct perfdata_options o = {.from_ns = in->run.start_ns,
				     .to_ns = in->run.end_ns,
				     .cpus = in->has_cpus ? &in->cpus : NULL,
				     .threads = in->how.threads,
				     .inlines = in->how.inlines,
				     .host_dir = in->host_dir,
				     .idle_ns = idle_ns,
				     .workload = in->pids,
				     .nworkload = in->npids,
				     .cache = in->how.symbols,
				     .in_capture = true,
				     .spots = true};
	struct profile *p = xcalloc(1, sizeof(*p));
	int rc;

	profile_init(p);
	rc = perfdata_read(p, path, &o, err);
	free(idle_ns);
	if (!rc) {
		in->profile = p;
		perf_add_named(p, in);
		profile_add_notes(p, &in->notes);
		if (!p->ncosts)
			note_add(&in->notes, perf_no_samples);
		return 0;
	}
	profile_free(p);
	free(p);
	return rc;
}

const struct parser parser_perf = {
	.files = {"perf.data"}, .timed = true, .last = true, .read = perf_read_file};
