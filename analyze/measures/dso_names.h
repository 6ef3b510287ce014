/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the objects of a profile are called in a table: a file by its base name, "libc.so.6". Where
 * samples are in several files of one base name, each is called by its path; where even the paths
 * are one, the first digits of the build-ids follow: "/opt/app (1a2b3c4d)".
 */
#ifndef ZC_DSO_NAMES_H
#define ZC_DSO_NAMES_H

#include "analyze/model/profile.h"

struct dso_names {
	const struct profile *p;
	uint8_t *how;	       /* by dso: enum dso_naming */
	struct intern strings; /* those made here */
};

void dso_names_init(struct dso_names *names, const struct profile *p);
const char *dso_name(struct dso_names *names, uint32_t dso);
void dso_names_free(struct dso_names *names);

/* The base name of a path; anything else as it is. */
const char *dso_base_name(const char *name);

#endif
