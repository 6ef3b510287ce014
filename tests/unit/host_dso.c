// SPDX-License-Identifier: GPL-2.0-only
/* Checks which files are copied when several can have the name of a recorded object. */
#include "collect/perf.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

/* Reads every cut of the vdso and every flipped byte of its headers, before an unmapped page. */
static void test_damaged_headers_do_not_crash_build_id(void **state)
{
	const uint8_t *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t page = 4096, len, i;
	char id[129], damaged[129];
	uint8_t *p;

	(void)state;
	if (!vdso)
		skip();
	p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p + page, page);
	assert_true(elf_build_id(vdso, page, id));
	assert_true(strlen(id) >= 16 && strlen(id) % 2 == 0);
	for (len = 0; len <= page; len++) {
		memcpy(p + page - len, vdso, len);
		if (elf_build_id(p + page - len, len, damaged))
			assert_string_equal(damaged, id);
	}
	memcpy(p, vdso, page);
	for (i = 0; i < 1024; i++) {
		p[i] ^= 0xff;
		elf_build_id(p, page, damaged);
		p[i] ^= 0xff;
	}
	munmap(p, page);
}

/* --- copies: the vdso is an ELF file with a build-id that every machine has --- */

/* Makes "object" with that mode and returns the record of its mapping. */
static struct perf_file object_make(mode_t mode)
{
	const Elf64_Ehdr *h = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct stat st;
	int fd;

	if (!h)
		skip();
	fd = file_create("object", 0, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, h, 4096), 4096);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	return (struct perf_file){
		.maj = major(st.st_dev), .min = minor(st.st_dev), .ino = st.st_ino};
}

/* Returns a mapping with a build-id in place of the inode. */
static struct perf_file object_id(void)
{
	struct perf_file as = {0};
	char id[129];
	size_t i;
	int fd = open("object", O_RDONLY);

	assert_true(elf_build_id_fd(fd, id));
	close(fd);
	as.id_len = (uint8_t)(strlen(id) / 2);
	for (i = 0; i < as.id_len; i++)
		assert_int_equal(sscanf(id + 2 * i, "%2hhx", &as.id[i]), 1);
	return as;
}

static int save_into(struct dso_room room, const char *name, const struct perf_file *as)
{
	char *cwd = getcwd(NULL, 0), *path = xasprintf("%s/%s", cwd, name);
	struct error err = {0};
	int rc;

	rc = dso_save("hosts", path, as, &room, &err);
	assert_true(!rc || rc == -ENODATA || strstr(err.text, name));
	free(path);
	free(cwd);
	return rc;
}

static int save(const char *name, const struct perf_file *as)
{
	assert_int_equal(dir_remove("hosts", NULL), 0);
	return save_into(dso_room_of("hosts"), name, as);
}

static unsigned long long bytes_read(void)
{
	unsigned long long n = 0;
	FILE *f = fopen("/proc/self/io", "re");

	assert_int_equal(fscanf(f, "rchar: %llu", &n), 1);
	fclose(f);
	return n;
}

static int copies(void)
{
	FILE *f = popen("find hosts -type f 2>/dev/null | wc -l", "r");
	int n = -1;

	assert_int_equal(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

static void test_mapped_file_is_copied(void **state)
{
	struct perf_file as = object_make(0644);

	(void)state;
	assert_int_equal(save("object", &as), 0);
	assert_int_equal(copies(), 1);
	as.ino++;
	assert_int_equal(save("object", &as), -ESTALE);
	as.ino--;
	as.min++;
	assert_int_equal(save("object", &as), -ESTALE);
	assert_int_equal(copies(), 0);
}

static void test_file_without_identity_is_refused(void **state)
{
	struct perf_file none = {0};

	(void)state;
	object_make(0644);
	assert_int_equal(save("object", &none), -ESTALE);
}

static void test_build_id_identifies_a_file_without_inode(void **state)
{
	struct perf_file as, other;

	(void)state;
	object_make(0644);
	as = other = object_id();
	assert_int_equal(save("object", &as), 0);
	other.id[0]++;
	assert_int_equal(save("object", &other), -ESTALE);
	object_make(0700);
	assert_int_equal(save("object", &as), -EACCES);
}

/* A program that other users may run but not read must not be copied. */
static void test_only_readable_modes_are_copied(void **state)
{
	static const struct {
		mode_t mode;
		int rc;
	} modes[] = {{0755, 0},	      {0644, 0},       {0700, 0},	 {0750, 0},
		     {0711, -EACCES}, {0710, -EACCES}, {04711, -EACCES}, {0600, -EACCES}};
	size_t i;

	(void)state;
	for (i = 0; i < array_size(modes); i++) {
		struct perf_file as = object_make(modes[i].mode);

		assert_int_equal(save("object", &as), modes[i].rc);
	}
}

static void test_symbolic_links_are_refused(void **state)
{
	struct perf_file as = object_make(0644), id = object_id();

	(void)state;
	unlink("link");
	assert_int_equal(symlink("object", "link"), 0);
	assert_true(save("link", &as) < 0);
	assert_true(save("link", &id) < 0);
	unlink("folder");
	assert_int_equal(symlink(".", "folder"), 0);
	assert_true(save("folder/object", &id) < 0);
}

/* Opening a fifo would block. */
static void test_fifos_and_folders_are_refused_without_waiting(void **state)
{
	struct perf_file as = object_make(0644);

	(void)state;
	unlink("pipe");
	assert_int_equal(mkfifo("pipe", 0666), 0);
	alarm(10);
	assert_int_equal(save("pipe", &as), -EINVAL);
	assert_true(save("pipe/object", &as) < 0);
	assert_int_equal(save(".", &as), -EINVAL);
	assert_true(save("absent", &as) < 0);
	alarm(0);
}

static void test_sparse_file_is_copied(void **state)
{
	struct perf_file as = object_make(0644);
	struct stat st;
	char *copy;
	FILE *f;

	(void)state;
	assert_int_equal(truncate("object", 3LL << 30), 0);
	assert_int_equal(save("object", &as), 0);
	f = popen("echo hosts/dso/*/object", "r");
	copy = xcalloc(1, 512);
	assert_int_equal(fscanf(f, "%511s", copy), 1);
	pclose(f);
	assert_int_equal(stat(copy, &st), 0);
	assert_int_equal(st.st_size, 3LL << 30);
	assert_true(st.st_blocks * 512 < 1 << 20);
	assert_int_equal(st.st_mode & 07777, 0600);
	free(copy);
}

static void test_each_limit_of_a_run_is_kept(void **state)
{
	struct perf_file as = object_make(0644);
	struct dso_room room;

	(void)state;
	assert_int_equal(dir_remove("hosts", NULL), 0);
	room = dso_room_of("hosts");
	assert_true(room.bytes == DSO_RUN_BYTES && room.files == DSO_RUN_FILES);
	room.bytes = 100;
	assert_int_equal(save_into(room, "object", &as), -EFBIG);
	room = dso_room_of("hosts");
	room.files = 0;
	assert_int_equal(save_into(room, "object", &as), -EFBIG);
	room = dso_room_of("hosts");
	room.until_ns = 0;
	assert_int_equal(save_into(room, "object", &as), -EFBIG);
	assert_int_equal(copies(), 0);
}

/* A hole costs a user nothing, and fills the disk of another host that gets the copy. */
static void test_holes_count_as_bytes(void **state)
{
	struct perf_file as = object_make(0644);

	(void)state;
	assert_int_equal(truncate("object", 20LL << 30), 0);
	assert_int_equal(save("object", &as), -EFBIG);
	assert_int_equal(copies(), 0);
}

static void test_copies_of_earlier_runs_count(void **state)
{
	struct perf_file as = object_make(0644);
	int fd;

	(void)state;
	assert_int_equal(dir_remove("hosts", NULL), 0);
	assert_int_equal(dir_make("hosts/dso/01", NULL), 0);
	fd = file_create("hosts/dso/01/earlier", 0, 0600);
	assert_int_equal(ftruncate(fd, (off_t)DSO_CAPTURE_BYTES - 4095), 0);
	assert_int_equal(save_into(dso_room_of("hosts"), "object", &as), -EFBIG);
	assert_int_equal(ftruncate(fd, (off_t)DSO_CAPTURE_BYTES - 4096), 0);
	assert_int_equal(save_into(dso_room_of("hosts"), "object", &as), 0);
	assert_int_equal(dso_room_of("hosts").bytes, 0);
	assert_int_equal(save_into(dso_room_of("hosts"), "object", &as), 0); /* it is there */
	close(fd);
}

/* A file can declare 65,535 segments of notes, 64 KiB each. */
static void test_few_notes_are_read(void **state)
{
	enum { SEGMENTS = 60000 };
	Elf64_Ehdr h = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB},
		.e_phoff = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = SEGMENTS};
	Elf64_Phdr p = {.p_type = PT_NOTE, .p_filesz = 65536, .p_align = 4};
	unsigned long long before, after;
	char id[129];
	FILE *f;
	int fd, i;

	(void)state;
	f = fopen("notes", "we");
	fwrite(&h, sizeof(h), 1, f);
	for (i = 0; i < SEGMENTS; i++)
		fwrite(&p, sizeof(p), 1, f);
	fclose(f);
	fd = open("notes", O_RDONLY | O_CLOEXEC);
	before = bytes_read();
	assert_false(elf_build_id_fd(fd, id));
	after = bytes_read();
	assert_true(after - before < 1 << 20);
	close(fd);
}

static int set_up(void **state)
{
	char *dir = xasprintf("%s/zcost-dso.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");

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
		cmocka_unit_test(test_damaged_headers_do_not_crash_build_id),
		cmocka_unit_test(test_mapped_file_is_copied),
		cmocka_unit_test(test_file_without_identity_is_refused),
		cmocka_unit_test(test_build_id_identifies_a_file_without_inode),
		cmocka_unit_test(test_only_readable_modes_are_copied),
		cmocka_unit_test(test_symbolic_links_are_refused),
		cmocka_unit_test(test_fifos_and_folders_are_refused_without_waiting),
		cmocka_unit_test(test_sparse_file_is_copied),
		cmocka_unit_test(test_each_limit_of_a_run_is_kept),
		cmocka_unit_test(test_holes_count_as_bytes),
		cmocka_unit_test(test_copies_of_earlier_runs_count),
		cmocka_unit_test(test_few_notes_are_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
