// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/objects.h"

#include <sys/utsname.h>

/* The header lists build-ids by name, so it cannot help if two files have the same name. */
void identities_init(struct identities *ids, const struct recording *r)
{
	const struct sideband *side = &r->side;
	freed(map_free) struct map first = {0};
	uint64_t *at;

	*ids = (struct identities){.r = r};
	for (size_t i = 0; i < r->nbuild_ids; i++) {
		const struct build_id_row *row = &r->build_ids[i];
		uint32_t name = intern_find(side->strings, row->name, strlen(row->name));

		if (row->kernel || name == INTERN_NONE)
			continue;
		at = map_at(&ids->header_ids, name);
		*at = *at ? *at : i + 1;
	}
	for (size_t i = 0; i < side->ndsos; i++) {
		const struct side_dso *dso = &side->dsos[i], *other;

		if (!dso->inode)
			continue;
		at = map_at(&first, dso->name);
		other = *at ? &side->dsos[*at - 1] : dso;
		if (other->inode != dso->inode || other->major != dso->major ||
		    other->minor != dso->minor)
			*map_at(&ids->shared_names, dso->name) = 1;
		*at = i + 1;
	}
}

void identities_free(struct identities *ids)
{
	map_free(&ids->shared_names);
	map_free(&ids->header_ids);
}

static const char *identity_build_id(const struct identities *ids, const struct side_dso *dso)
{
	const struct recording *r = ids->r;
	const uint64_t *row;

	if (dso->build_id != UINT32_MAX)
		return intern_get(r->side.strings, dso->build_id);
	if (map_get(&ids->shared_names, dso->name))
		return NULL;
	row = map_get(&ids->header_ids, dso->name);
	return row ? r->build_ids[*row - 1].hex : NULL;
}

struct dso_identity identity_of(const struct identities *ids, uint32_t index)
{
	const struct side_dso *dso = &ids->r->side.dsos[index];
	const char *name = intern_get(ids->r->side.strings, dso->name);

	return (struct dso_identity){.name = name,
				     .build_id = identity_build_id(ids, dso),
				     .ambiguous = map_get(&ids->shared_names, dso->name),
				     .major = dso->major,
				     .minor = dso->minor,
				     .inode = dso->inode,
				     .recorded_by_ns = ids->r->recorded_by_ns};
}

static const char *module_build_id(const struct identities *ids, const char *name)
{
	const struct recording *r = ids->r;
	char wanted[128], other[128];

	module_name(wanted, sizeof(wanted), name);
	for (size_t i = 0; i < r->nbuild_ids; i++) {
		if (!r->build_ids[i].kernel)
			continue;
		module_name(other, sizeof(other), r->build_ids[i].name);
		if (!strcmp(wanted, other))
			return r->build_ids[i].hex;
	}
	return NULL;
}

struct dso_identity identity_of_module(const struct identities *ids, uint32_t index)
{
	const struct side_dso *dso = &ids->r->side.dsos[index];
	struct dso_identity id = identity_of(ids, index);

	id.module = true;
	if (dso->build_id == UINT32_MAX)
		id.build_id = module_build_id(ids, id.name);
	return id;
}

bool identity_is_compat(const char *name, uint64_t start)
{
	return start <= UINT32_MAX && !strcmp(name, "[vdso]");
}

bool identity_has_no_file(const struct dso_identity *id)
{
	static const char *const prefixes[] = {"//anon", "/dev/zero", "/anon_hugepage",
					       "[stack", "/SYSV",     "[heap]"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (str_starts(id->name, prefixes[i]))
			return true;
	return false;
}

bool identity_is_this_host(const struct recording *r)
{
	struct utsname u;

	return r->hostname && r->arch && !uname(&u) && !strcmp(r->hostname, u.nodename) &&
	       !strcmp(r->arch, u.machine);
}

struct symbol_sources identity_sources(const struct recording *r, const struct perfdata_options *o,
				       const struct dso_identity *id)
{
	struct symbol_sources from = {.host_dir = o->host_dir,
				      .symfs = o->symfs,
				      .buildid_dir = o->buildid_dir,
				      .this_host = o->use_this_host,
				      .same_host = o->use_this_host && identity_is_this_host(r),
				      .unread = &r->profile->unread};

	from.this_kernel = from.this_host && *id->name == '[' && kernel_is_this(r);
	return from;
}
