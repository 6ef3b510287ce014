// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as a source of names. The first byte chooses: k kallsyms, n the notes
 * of a kernel, d a mangled name, e an ELF file with its symbols, debug
 * information, unwind tables and code. A refusal must give a reason.
 */
#include "analyze/perfdata/unwind.h"
#include "analyze/perfdata/objects.h"
#include "tests/fuzz/fuzz.h"

static const char *path;

/* Checks that a table is sorted, and that it finds each of its symbols. */
static void check_symtab(const struct symtab *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct symtab_symbol *s = &t->symbols[i];

		if (i && s->start < t->symbols[i - 1].start)
			abort();
		if (s->start < s->end && !symtab_find(t, s->start))
			abort();
		free(i < 64 ? symtab_demangled(t, s) : NULL);
	}
}

static void read_kallsyms(void)
{
	struct error err = {0}, missing = {0};
	struct symtab t = {0};
	uint64_t addr;

	refused(kallsyms_read(&t, path, &err), &err);
	check_symtab(&t);
	symtab_free(&t);
	kallsyms_address(path, "_text", &addr, &missing);
}

static void read_notes(void)
{
	struct error err = {0};
	char hex[65];

	if (notes_build_id(path, hex, &err) && strlen(hex) % 2)
		abort();
}

static void read_mangled(const uint8_t *data, size_t size)
{
	char *name = xstrndup((const char *)data, size);

	free(demangle(name));
	free(name);
}

static void read_inlines(const struct symtab *t)
{
	struct unread unread = {0};
	struct inlines *in = inlines_open(path, NULL, &unread);

	for (size_t i = 0; in && i < t->n && i < 16; i++) {
		inlines_at(in, t->symbols[i].start);
		inlines_line_at(in, t->symbols[i].start);
	}
	if (in)
		inlines_close(in);
	free(unread.why);
}

/* The rules of an address lead from arbitrary registers over an arbitrary stack. */
static void read_rules(const struct symtab *t)
{
	struct symbol_sources from = {.symfs = fuzz_folder};
	struct dso_identity id = {.name = "/object"};
	struct unwind_object o = {0};

	unwind_object_open(&o, &from, &id);
	for (size_t i = 0; i < t->n && i < 16; i++)
		unwind_object_row(&o, unwind_arch_find("x86_64", 2), t->symbols[i].start);
	unwind_object_row(&o, unwind_arch_find("x86_64", 2), 0);
	unwind_object_close(&o);
}

static void read_elf(void)
{
	static const enum placement places[] = {PLACE_OFFSET, PLACE_LINKED, PLACE_MODULE};
	struct error err = {0}, bad = {0};
	struct elf_file f, mini;

	free(code_at_address(path, 0xffffffff81000000, 16, &bad));
	if (elf_file_open(&f, path, &err)) {
		refused(-1, &err);
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		struct symtab t = {0};

		if (!elf_symbols_read(&t, &f, &f, places[i], &err))
			check_symtab(&t);
		if (!i) {
			read_inlines(&t);
			read_rules(&t);
		}
		symtab_free(&t);
	}
	free(code_at_offset(&f, 0x40, 16));
	if (!elf_file_mini(&mini, &f, &bad))
		elf_file_close(&mini);
	elf_file_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || !strchr("knde", *data))
		return FUZZ_SKIP;
	if (*data == 'd') {
		read_mangled(data + 1, size - 1);
		return 0;
	}
	path = fuzz_file("object", data + 1, size - 1);
	if (*data == 'k')
		read_kallsyms();
	else if (*data == 'n')
		read_notes();
	else
		read_elf();
	return 0;
}
