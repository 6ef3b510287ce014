/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of the summary, as jansson's objects. */
#ifndef TCPZC_SUMMARY_H
#define TCPZC_SUMMARY_H

#include "tcpzc.h"

#include <jansson.h>

/* summary_hist.c: the histograms of n flows and their responses, added up; {} where none. */
json_t *summary_hists(const struct flow *flows, unsigned int n, bool buckets);
/* {"<log2>": count} of one of them. */
json_t *summary_hist_log2(const struct flow *flows, unsigned int n, unsigned int which);
/* summary_memory.c: what the memory of n flows, or of their responses, was. */
void summary_put_memory(json_t *o, const struct flow *flows, unsigned int n, bool back);
/* summary_tcp.c: of those flows whose socket still answers; null where none does. */
json_t *tcp_info_json(const struct flow *flows, unsigned int n);
/* --busy-poll, and how many flows have a device queue that can be polled. */
json_t *busy_poll_json(const struct flow *flows, unsigned int n);

#endif
