// SPDX-License-Identifier: GPL-2.0-only
#include "lib/late.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int late_load(const char *soname, const char *const *names, void *calls, struct error *err)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL), *call = library;

	for (char *at = calls; call && *names; at += sizeof(call)) {
		call = dlsym(library, *names++);
		memcpy(at, &call, sizeof(call));
	}
	return call ? 0 : error_set(err, ELIBACC, "%s; install this library", dlerror());
}
