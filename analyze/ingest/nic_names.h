/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the interfaces of a run are called. An interface keeps its number while it is renamed: all
 * that is known by that number stands under the last name that it had.
 */
#ifndef ZC_NIC_NAMES_INGEST_H
#define ZC_NIC_NAMES_INGEST_H

#include "analyze/ingest/ingest.h"
#include "lib/intern.h"

struct nic_names {
	struct intern ports; /* "NETNS IFINDEX" */
	struct intern texts;
	struct nic_name {
		uint32_t first, last; /* in texts */
	} * of;			      /* by the port's id */
	size_t cap;
};

/* In the order of time. */
void nic_names_put(struct nic_names *n, const char *netns, const char *index, const char *name);

/* `name` where there is nothing to know. */
const char *nic_names_last(const struct nic_names *n, const char *netns, const char *index,
			   const char *name);

/* A note for each that was renamed. */
void nic_names_say(const struct nic_names *n, struct ingest *in);

void nic_names_free(struct nic_names *n);

#endif
