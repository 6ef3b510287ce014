/* SPDX-License-Identifier: GPL-2.0-only */
/* The draw functions of all charts, for THE TABLE alone. */
#ifndef ZC_PLOT_CHART_ALL_H
#define ZC_PLOT_CHART_ALL_H

#include "plot/chart.h"

int chart_throughput(struct drawing *d, struct figure *f, struct error *err);
int chart_cpu(struct drawing *d, struct figure *f, struct error *err);
int chart_components(struct drawing *d, struct figure *f, struct error *err);
int chart_functions(struct drawing *d, struct figure *f, struct error *err);
int chart_functions_sender(struct drawing *d, struct figure *f, struct error *err);
int chart_waterfall(struct drawing *d, struct figure *f, struct error *err);
int chart_waterfall_sender(struct drawing *d, struct figure *f, struct error *err);
int chart_roi_c(struct drawing *d, struct figure *f, struct error *err);
int chart_roi_p(struct drawing *d, struct figure *f, struct error *err);

#endif
