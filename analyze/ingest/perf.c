// SPDX-License-Identifier: GPL-2.0-only
/* perf.data into a profile: only samples of the side's CPUs, only those of the window. */
#include "analyze/ingest/ingest.h"

#include "analyze/perfdata/perfdata.h"
#include "lib/alloc.h"

#include <stdlib.h>

static void health_notes(struct ingest *in, const struct profile *p)
{
	const struct profile_health *h = &p->health;
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < p->nevents; i++)
		samples += p->events[i].samples;
	if (h->lost_records || h->lost_samples)
		ingest_note(in, "lossy", "perf: lost %llu records, %llu samples",
			    (unsigned long long)h->lost_records,
			    (unsigned long long)h->lost_samples);
	if (h->truncated)
		ingest_note(in, "lossy", "perf: %s", h->why);
	if (h->throttled)
		ingest_note(in, "warning", "perf: sampling was throttled %llu times",
			    (unsigned long long)h->throttled);
	if (h->unknown_ids || h->unknown_records || h->bad_chains)
		ingest_note(in, h->bad_chains + h->unknown_ids > samples / 100 ? "warning" : "note",
			    "perf: not understood: %llu event ids, %llu records, %llu call chains",
			    (unsigned long long)h->unknown_ids,
			    (unsigned long long)h->unknown_records,
			    (unsigned long long)h->bad_chains);
	if (h->outside_window)
		ingest_note(in, "note", "perf: %llu samples outside the window left out",
			    (unsigned long long)h->outside_window);
	if (p->kernel_note)
		ingest_note(in, "warning", "perf: %s", p->kernel_note);
	if (p->dso_note)
		ingest_note(in, "warning", "perf: %s", p->dso_note);
}

int ingest_perf(struct ingest *in, const char *path, struct error *err)
{
	struct perfdata_options o = {.from_ns = in->run.start_ns,
				     .to_ns = in->run.end_ns,
				     .cpus = in->has_cpus ? &in->cpus : NULL,
				     .host_dir = in->host_dir};
	struct profile *p = xcalloc(1, sizeof(*p));
	int rc;

	profile_init(p);
	rc = perfdata_read(p, path, &o, err);
	if (!rc) {
		in->profile = p;
		health_notes(in, p);
		if (!p->ncosts)
			ingest_note(in, "lossy", "perf: no samples in the window");
		return 0;
	}
	profile_free(p);
	free(p);
	return rc;
}
