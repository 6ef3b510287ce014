// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/tracepoint_notes.h"

#include "analyze/model/notes.h"

void tracepoint_notes(struct table *t, const struct tracepoints *tp)
{
	struct tracepoints_health h = tracepoints_health(tp);

	t->lossy |= h.lost_records || h.lost_samples || h.damage;
	if (h.lost_records || h.lost_samples)
		note_add(&t->notes, tracepoints_lost, (unsigned long long)h.lost_records,
			 (unsigned long long)h.lost_samples);
	if (h.damage)
		note_add(&t->notes, tracepoints_damaged, h.damage);
	if (h.doubled)
		note_add(&t->notes, tracepoints_doubled, (unsigned long long)h.doubled);
	if (h.late)
		note_add(&t->notes, tracepoints_late, (unsigned long long)h.late);
}
