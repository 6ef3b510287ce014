/* SPDX-License-Identifier: GPL-2.0-only */
/* C++ and Rust names as their source writes them, without parameters. */
#ifndef ZC_DEMANGLE_H
#define ZC_DEMANGLE_H

/* NULL: not a mangled name, or built without libiberty. The caller frees. */
char *demangle(const char *name);

#endif
