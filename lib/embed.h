/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file of the source tree as a NUL-terminated string inside the program. `path` is seen from the
 * top folder, where make runs; the makefile names the file as a prerequisite of the object.
 */
#ifndef ZC_EMBED_H
#define ZC_EMBED_H

#define EMBED_TEXT(name, path)                     \
	extern const char name[];                  \
	__asm__(".pushsection .rodata\n"           \
		".global " #name "\n" #name ":\n"  \
		".incbin \"" path "\"\n"           \
		".byte 0\n"                        \
		".size " #name ", . - " #name "\n" \
		".popsection\n")

#endif
