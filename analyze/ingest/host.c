// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/host.h"

#include "analyze/ingest/json.h"
#include "analyze/ingest/topology.h"
#include "lib/alloc.h"
#include "lib/cpuset.h"

#include <errno.h>
#include <stdlib.h>

int ingest_host(struct store *store, const char *hosts_dir, const char *name, struct error *err)
{
	char *path = xasprintf("%s/%s/host.json", hosts_dir, name);
	json_t *root = json_file(path, NULL);
	const char *online = root ? json_str(root, "online_cpus") : NULL;
	struct cpuset set;
	struct host_row h = {.name = name};
	int rc;

	if (root) {
		h.release = json_str(root, "release");
		h.arch = json_str(root, "arch");
		h.cpu_model = json_str(root, "cpu_model");
		h.virtualization = json_str(root, "virtualization");
		h.cpus = online && !cpuset_parse(&set, online, NULL) ? cpuset_count(&set) : 0;
	}
	rc = store_host_add(store, &h, err);
	free(path);
	path = xasprintf("%s/%s", hosts_dir, name);
	if (!rc)
		rc = ingest_topology(store, name, root, path, err);
	json_decref(root);
	free(path);
	return rc;
}
