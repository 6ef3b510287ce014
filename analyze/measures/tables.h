/* SPDX-License-Identifier: GPL-2.0-only */
/* The run functions and columns of all measures, for THE TABLE in measure.c alone. */
#ifndef ZC_TABLES_H
#define ZC_TABLES_H

#include "analyze/measures/measure.h"

extern const struct column functions_columns[9], components_columns[5], contexts_columns[5],
	modules_columns[5], syscalls_columns[14], summary_columns[17], runs_columns[19],
	cpu_columns[13], roi_columns[20], zerocopy_columns[7], family_columns[8], host_columns[3],
	rates_columns[3], scores_columns[9], groups_columns[8], hotspots_columns[12],
	sched_columns[8], passes_columns[11];
extern const struct column irq_columns[13], power_columns[12], snmp_columns[10];

int functions_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int components_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int contexts_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int groups_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int hotspots_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int modules_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int syscalls_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int summary_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int runs_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int cpu_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int passes_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int rates_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int roi_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int scores_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int zerocopy_run(struct store *s, const struct query *q, struct table *t, struct error *err);
/* Which family of metrics: by the table's name. */
int family_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int counters_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int power_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int sched_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int irq_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int snmp_run(struct store *s, const struct query *q, struct table *t, struct error *err);
int host_run(struct store *s, const struct query *q, struct table *t, struct error *err);

#endif
