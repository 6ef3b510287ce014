// SPDX-License-Identifier: GPL-2.0-only
/* What recordings of one capture share: the symbols of a kernel and of objects. */
#include "analyze/symbols/symtab.h"
#include "tests/unit/unit.h"

static void kallsyms_write(const char *text)
{
	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
}

/* Returns the name of the symbol at 0x1000 and its `id`, which it sets to 7. */
static char *symbol_name(struct symbol_cache *c, uint32_t *id)
{
	freed(symtab_free) struct symtab t = {0};
	struct symtab_symbol *s;
	char *name;

	assert_int_equal(symbol_cache_kallsyms(c, &t, path, NULL), 0);
	s = symtab_find(&t, 0x1000);
	*id = s->id;
	s->id = 7;
	name = xstrdup(symtab_name(&t, s));
	return name;
}

TEST(second_table_is_a_copy_of_the_first)
{
	struct symbol_cache *c = symbol_cache_new();
	char *first, *second, *uncached;
	uint32_t id;

	kallsyms_write("1000 T first\n2000 T end\n");
	first = symbol_name(c, &id);
	kallsyms_write("1000 T second\n2000 T end\n");
	second = symbol_name(c, &id);
	uncached = symbol_name(NULL, &id);
	assert_string_equal(first, "first");
	assert_string_equal(second, "first");
	assert_int_equal(id, 0); /* the numbers of one recording are not those of another */
	assert_string_equal(uncached, "second");
	free(first);
	free(second);
	free(uncached);
	symbol_cache_free(c);
}

TEST(kept_table_is_found_by_its_key)
{
	struct symbol_cache *c = symbol_cache_new();
	struct symtab t = {0}, copy = {0};

	kallsyms_write("1000 T first\n2000 T end\n");
	assert_int_equal(kallsyms_read(&t, path, NULL), 0);
	symbol_cache_keep(c, &t, "libc");
	assert_false(symbol_cache_copy(c, &copy, "libm"));
	assert_false(symbol_cache_copy(NULL, &copy, "libc"));
	assert_true(symbol_cache_copy(c, &copy, "libc"));
	assert_string_equal(symtab_name(&copy, symtab_find(&copy, 0x1000)), "first");
	symtab_free(&t);
	symtab_free(&copy);
	symbol_cache_free(c);
}

TEST(file_without_symbols_fails_each_time)
{
	struct symbol_cache *c = symbol_cache_new();
	struct symtab t = {0};

	kallsyms_write("no symbol\n");
	assert_int_equal(symbol_cache_kallsyms(c, &t, path, NULL), -EBADMSG);
	symtab_free(&t);
	assert_int_equal(symbol_cache_kallsyms(c, &t, path, NULL), -EBADMSG);
	symtab_free(&t);
	symbol_cache_free(c);
}
