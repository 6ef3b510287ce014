// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/components_store.h"

#include "analyze/measures/components.h"

#include <stdlib.h>

static const char *components_store_name_of(const struct components *c, const struct function *fn)
{
	const char *name = components_of(c, fn);

	return name == component_none ? NULL : name;
}

static int components_store_put_all(struct store *s, const struct components *fine,
				    const struct components *basic, struct error *err)
{
	struct leaf_row *rows;
	int n = store_leaves(s, &rows, err), i, rc = n < 0 ? n : 0;

	for (i = 0; i < n && !rc; i++) {
		const struct leaf_row *r = &rows[i];
		struct function fn = {r->name, r->module, r->kind,
				      components_context(fine, r->context)};

		rc = store_component_put(s, r, components_store_name_of(fine, &fn),
					 components_store_name_of(basic, &fn), err);
	}
	free(rows);
	return rc;
}

int components_store(struct store *s, struct error *err)
{
	struct components *fine = NULL, *basic = NULL;
	int rc = components_read(&fine, NULL, "fine", err);

	if (!rc)
		rc = components_read(&basic, NULL, "basic", err);
	if (!rc)
		rc = store_begin(s, err);
	if (!rc)
		rc = components_store_put_all(s, fine, basic, err);
	if (!rc)
		rc = store_commit(s, err);
	components_free(fine);
	components_free(basic);
	return rc;
}
