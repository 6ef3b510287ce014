/* SPDX-License-Identifier: GPL-2.0-only */
/* A host of a capture, from hosts/<host>/: host.json and nic/. */
#ifndef ZC_INGEST_HOST_H
#define ZC_INGEST_HOST_H

#include "analyze/model/rows.h"
#include "lib/alloc.h"

#include <stddef.h>

struct host {
	struct host_row row;
	struct topology_row *places;
	size_t nplaces, places_cap;
	struct arena arena; /* owns all strings */
};

/* Reads a host. Without a readable host.json only its name and its network cards are known. */
void host_read(struct host *h, const char *hosts_dir, const char *name);
void host_free(struct host *h);

#endif
