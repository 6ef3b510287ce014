// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints "component<TAB>name" for each kernel function on standard input, by the rules inside zcost
 * or by a file of rules.
 */
#include "analyze/costs/components.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct components *c;
	struct error err = {0};
	char name[256];

	if (components_read(&c, argc > 1 ? argv[1] : NULL, NULL, &err)) {
		error_print(&err);
		return EXIT_FAILED;
	}
	while (fgets(name, sizeof(name), stdin)) {
		struct function f = {name, "kernel", DSO_KERNEL, CTX_UNKNOWN};

		name[strcspn(name, "\n")] = '\0';
		printf("%s\t%s\n", components_of(c, &f), name);
	}
	components_free(c);
	return EXIT_OK;
}
