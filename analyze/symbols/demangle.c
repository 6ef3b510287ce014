// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/symbols/demangle.h"

#include <stddef.h>

#ifdef HAVE_LIBIBERTY
/* libiberty.h declares half of libc anew: only what is used */
extern char *cplus_demangle(const char *mangled, int options);
#endif

char *demangle(const char *name)
{
#ifdef HAVE_LIBIBERTY
	if (name[0] == '_')
		return cplus_demangle(name, 0);
#endif
	(void)name;
	return NULL;
}
