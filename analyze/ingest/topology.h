/* SPDX-License-Identifier: GPL-2.0-only */
/* host.json's topology and nic/ of a host's folder into the store's table topology. */
#ifndef ZC_INGEST_TOPOLOGY_H
#define ZC_INGEST_TOPOLOGY_H

#include "analyze/store/store.h"

#include <jansson.h>

/* `root`: of host.json, or NULL; `dir`: the host's folder. */
int ingest_topology(struct store *store, const char *host, const json_t *root, const char *dir,
		    struct error *err);

#endif
