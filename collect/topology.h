/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where CPUs, caches and memory lie, out of sysfs, as host.json has it (docs/formats.md). `root` is
 * /sys, or a copy of parts of another host's. What it does not tell is not there.
 */
#ifndef ZC_TOPOLOGY_H
#define ZC_TOPOLOGY_H

#include <jansson.h>

json_t *topology_cpus(
	const char *root); /* of each online CPU: package, die, core, node, siblings */
json_t *topology_caches(
	const char *root);		  /* each once: level, type, size, the CPUs that share it */
json_t *topology_nodes(const char *root); /* CPUs, memory, distances */

#endif
