// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/tracepoint_notes.h"

void tracepoint_notes(struct table *t, const struct tracepoints *tp)
{
	struct tracepoints_health h = tracepoints_health(tp);

	t->lossy |= h.lost_records || h.lost_samples || h.damage;
	if (h.lost_records || h.lost_samples)
		table_note(t,
			   "lossy: perf lost %llu records, %llu samples; times around them may be "
			   "wrong (perf record -m 16M loses less)",
			   (unsigned long long)h.lost_records, (unsigned long long)h.lost_samples);
	if (h.damage)
		table_note(t, "lossy: %s", h.damage);
	if (h.doubled)
		table_note(t,
			   "note: %llu samples stand twice in the file, with the same thread, time "
			   "and "
			   "values (perf 6.1 writes such); they count once",
			   (unsigned long long)h.doubled);
	if (h.late)
		table_note(t, "warning: %llu events stand too late in the file to be put in order",
			   (unsigned long long)h.late);
}
