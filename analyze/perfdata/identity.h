/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which file a mapped object is, as far as the recording tells: the mapping's build-id or inode,
 * the build-ids in the file's header. Once set up, it is only read, by any thread.
 */
#ifndef ZC_PERFDATA_IDENTITY_H
#define ZC_PERFDATA_IDENTITY_H

#include "analyze/perfdata/recording.h"
#include "analyze/symbols/dso.h"

struct identities {
	const struct recording *r;
	struct map shared_names; /* string -> not 0: several files have it */
	struct map header_ids;	 /* string -> index + 1 in the header's build-ids */
};

void identities_init(struct identities *ids, const struct recording *r);
void identities_free(struct identities *ids);

/* Of an object of the side-band, by index. Its strings are the recording's. */
struct dso_identity identity_of(const struct identities *ids, uint32_t dso);

/* The same of a kernel module. */
struct dso_identity identity_of_module(const struct identities *ids, uint32_t dso);

/* "[vdso]" of a 32-bit process: another one than ours, under the same name. */
bool identity_is_compat(const char *name, uint64_t start);

/* Anonymous memory and the like: there is no file, addresses are not offsets in one. */
bool identity_no_file(const struct dso_identity *id);

/* Was it recorded on a host of our name? */
bool identity_this_host(const struct recording *r);

/* Where files that explain it may be looked for. */
struct symbol_sources identity_sources(const struct recording *r, const struct perfdata_options *o,
				       const struct dso_identity *id);

#endif
