/* SPDX-License-Identifier: GPL-2.0-only */
/* What was lost or odd in a recording of tracepoints, beside its table. */
#ifndef ZC_TRACEPOINT_NOTES_H
#define ZC_TRACEPOINT_NOTES_H

#include "analyze/perfdata/tracepoints.h"
#include "lib/table.h"

/* After tracepoints_read. Losses make the table lossy. */
void tracepoint_notes(struct table *t, const struct tracepoints *tp);

#endif
