/* SPDX-License-Identifier: GPL-2.0-only */
/* hosts/<host>/host.json into the store's host table. */
#ifndef ZC_INGEST_HOST_H
#define ZC_INGEST_HOST_H

#include "analyze/store/store.h"

/* A host without a readable host.json is known by its name alone. */
int ingest_host(struct store *store, const char *hosts_dir, const char *name, struct error *err);

#endif
