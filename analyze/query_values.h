/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments that `report`, `compare`, `export` and `plot` read alike; a usage error otherwise. */
#ifndef ZC_QUERY_VALUES_H
#define ZC_QUERY_VALUES_H

#include "analyze/measures/measure.h"
#include "analyze/perfdata/slice.h"
#include "lib/cpuset.h"

#include <argp.h>

/* --variant, once. */
void query_set_variant(const struct argp_state *state, struct query *q, const char *arg);
/* --cpu: into `set`, to which the query then points. */
void query_set_cpus(const struct argp_state *state, struct query *q, struct cpuset *set,
		    const char *arg);
void query_set_basis(const struct argp_state *state, struct query *q, const char *arg);
/* --power-model "idle=230,per_cpu=3.5" */
void query_set_model(const struct argp_state *state, struct query *q, const char *arg);
/* One more --group; the user of the query frees q->groups. */
void query_add_group(struct query *q, const char *arg);
/* --from and --to */
void query_set_time(const struct argp_state *state, struct time_point *p, const char *option,
		    const char *arg);

#endif
