// SPDX-License-Identifier: GPL-2.0-only
/* What recordings of one capture share: a kernel's symbols, and open debug information. */
#include "analyze/symbols/cache.h"
#include "analyze/symbols/dso.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char path[] = "kallsyms", self[] = "/proc/self/exe";

static void kallsyms_write(const char *text)
{
	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
}

/* Returns the name of the symbol at 0x1000 and its `id`, which it sets to 7. */
static char *symbol_name(struct symbol_cache *c, uint32_t *id)
{
	struct symtab t = {0};
	struct symtab_symbol *s;
	char *name;

	assert_int_equal(symbol_cache_kallsyms(c, &t, path, NULL), 0);
	s = symtab_find(&t, 0x1000);
	*id = s->id;
	s->id = 7;
	name = xstrdup(symtab_name(&t, s));
	symtab_free(&t);
	return name;
}

static void test_second_table_is_a_copy_of_the_first(void **state)
{
	struct symbol_cache *c = symbol_cache_new();
	char *first, *second, *uncached;
	uint32_t id;

	(void)state;
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

static void test_file_without_symbols_fails_each_time(void **state)
{
	struct symbol_cache *c = symbol_cache_new();
	struct symtab t = {0};

	(void)state;
	kallsyms_write("no symbol\n");
	assert_int_equal(symbol_cache_kallsyms(c, &t, path, NULL), -EBADMSG);
	symtab_free(&t);
	assert_int_equal(symbol_cache_kallsyms(c, &t, path, NULL), -EBADMSG);
	symtab_free(&t);
	symbol_cache_free(c);
}

static void test_debug_information_has_one_user_at_a_time(void **state)
{
	struct symbol_cache *c = symbol_cache_new();
	struct inlines *one = symbol_cache_inlines(c, self, NULL), *two;

	(void)state;
	if (!one)
		skip(); /* built without debug information */
	two = symbol_cache_inlines(c, self, NULL);
	assert_ptr_not_equal(one, two);
	symbol_cache_return(c, self, one);
	assert_ptr_equal(symbol_cache_inlines(c, self, NULL), one);
	symbol_cache_return(c, self, one);
	symbol_cache_return(c, self, two);
	symbol_cache_free(c);
}

/* Returns how many file descriptors are open. */
static int descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 256; fd++)
		n += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
	return n;
}

static void test_cache_closes_the_file_that_was_returned_first(void **state)
{
	struct symbol_cache *c = symbol_cache_new();
	int before = descriptors(), i;
	struct inlines *in;
	char name[80];

	(void)state;
	for (i = 1; i <= 40; i++) {
		snprintf(name, sizeof(name), "/%.*sproc/self/exe", i,
			 "////////////////////////////////////////");
		in = symbol_cache_inlines(c, name, NULL);
		if (!in)
			skip();
		symbol_cache_return(c, name, in);
	}
	assert_in_range(descriptors() - before, 8, 32);
	assert_ptr_equal(symbol_cache_inlines(c, name, NULL), in);
	symbol_cache_return(c, name, in);
	symbol_cache_free(c);
	assert_int_equal(descriptors(), before);
}

static int set_up(void **state)
{
	char *dir =
		xasprintf("%s/zcost-cache.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");

	*state = dir;
	return mkdtemp(dir) && !chdir(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	int rc = chdir("/") || dir_remove(*state, NULL);

	free(*state);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_table_is_a_copy_of_the_first),
		cmocka_unit_test(test_file_without_symbols_fails_each_time),
		cmocka_unit_test(test_debug_information_has_one_user_at_a_time),
		cmocka_unit_test(test_cache_closes_the_file_that_was_returned_first),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
