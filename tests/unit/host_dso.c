// SPDX-License-Identifier: GPL-2.0-only
/* Checks which files are copied when several can have the name of a recorded object. */
#include "collect/perf.h"
#include "lib/file.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Reads every cut of the vdso, and every flipped byte of its headers. */
TEST(damaged_headers_do_not_crash_build_id)
{
	const uint8_t *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	int fd = memfd_create("vdso", 0);
	char id[129], damaged[129];
	off_t page = 4096, i;

	if (!vdso)
		skip();
	assert_int_equal(write(fd, vdso, (size_t)page), page);
	assert_true(elf_build_id(fd, id));
	assert_true(strlen(id) >= 16 && strlen(id) % 2 == 0);
	for (i = 0; i < 1024; i++) {
		uint8_t flipped = vdso[i] ^ 0xff;

		assert_int_equal(pwrite(fd, &flipped, 1, i), 1);
		elf_build_id(fd, damaged);
		assert_int_equal(pwrite(fd, vdso + i, 1, i), 1);
	}
	for (i = page; i--;) {
		assert_int_equal(ftruncate(fd, i), 0);
		if (elf_build_id(fd, damaged))
			assert_string_equal(damaged, id);
	}
	close(fd);
}

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
	int fd = open("object", O_RDONLY);

	assert_true(elf_build_id(fd, id));
	close(fd);
	as.id_len = (uint8_t)(strlen(id) / 2);
	for (size_t i = 0; i < as.id_len; i++)
		assert_int_equal(sscanf(id + 2 * i, "%2hhx", &as.id[i]), 1);
	return as;
}

static int save_into(struct dso_room room, const char *name, const struct perf_file *as)
{
	autofree char *cwd = getcwd(NULL, 0), *path = xasprintf("%s/%s", cwd, name);
	struct error err = {0};
	char id[129];
	int rc = dso_save("hosts", path, as, &room, id, &err);

	assert_true(!rc || rc == -ENODATA || strstr(err.text, name));
	return rc;
}

static int save(const char *name, const struct perf_file *as)
{
	assert_int_equal(dir_remove("hosts", NULL), 0);
	return save_into(dso_room_of("hosts"), name, as);
}

static int copies(void)
{
	FILE *f = popen("find hosts -type f ! -path '*/inodes/*' 2>/dev/null | wc -l", "r");
	int n = -1;

	assert_int_equal(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

TEST(mapped_file_is_copied)
{
	struct perf_file as = object_make(0644);

	assert_int_equal(save("object", &as), 0);
	assert_int_equal(copies(), 1);
	as.ino++;
	assert_int_equal(save("object", &as), -ESTALE);
	as.ino--;
	as.min++;
	assert_int_equal(save("object", &as), -ESTALE);
	assert_int_equal(copies(), 0);
}

TEST(mapped_inode_has_its_build_id)
{
	struct perf_file as = object_make(0644);
	autofree char *path = xasprintf("hosts/dso/inodes/%u-%u-%" PRIu64, as.maj, as.min, as.ino);
	autofree char *first = NULL, *second = NULL;
	char id[129];
	int fd = open("object", O_RDONLY);

	assert_true(elf_build_id(fd, id));
	close(fd);
	assert_int_equal(save("object", &as), 0);
	assert_int_equal(file_read(path, &first, NULL, NULL), 0);
	assert_string_equal(first, id);
	/* It was another file before. */
	assert_int_equal(file_write(path, "0123", 4, NULL), 0);
	assert_int_equal(save_into(dso_room_of("hosts"), "object", &as), 0);
	assert_int_equal(file_read(path, &second, NULL, NULL), 0);
	assert_string_equal(second, "");
}

TEST(file_without_identity_is_refused)
{
	struct perf_file none = {0};

	object_make(0644);
	assert_int_equal(save("object", &none), -ESTALE);
}

TEST(build_id_identifies_a_file_without_inode)
{
	struct perf_file as, other;

	object_make(0644);
	as = other = object_id();
	assert_int_equal(save("object", &as), 0);
	other.id[0]++;
	assert_int_equal(save("object", &other), -ESTALE);
	object_make(0700);
	assert_int_equal(save("object", &as), -EACCES);
}

/* A program that other users may run but not read must not be copied. */
TEST(only_readable_modes_are_copied)
{
	static const struct {
		mode_t mode;
		int rc;
	} modes[] = {{0755, 0},	      {0644, 0},       {0700, 0},	 {0750, 0},
		     {0711, -EACCES}, {0710, -EACCES}, {04711, -EACCES}, {0600, -EACCES}};

	each (c, modes) {
		struct perf_file as = object_make(c->mode);

		assert_int_equal(save("object", &as), c->rc);
	}
}

TEST(symbolic_links_are_refused)
{
	struct perf_file as = object_make(0644), id = object_id();

	unlink("link");
	assert_int_equal(symlink("object", "link"), 0);
	assert_true(save("link", &as) < 0);
	assert_true(save("link", &id) < 0);
	unlink("folder");
	assert_int_equal(symlink(".", "folder"), 0);
	assert_true(save("folder/object", &id) < 0);
}

/* Opening a fifo would block. */
TEST(fifos_and_folders_are_refused_without_waiting)
{
	struct perf_file as = object_make(0644);

	unlink("pipe");
	assert_int_equal(mkfifo("pipe", 0666), 0);
	alarm(10);
	assert_int_equal(save("pipe", &as), -EINVAL);
	assert_true(save("pipe/object", &as) < 0);
	assert_int_equal(save(".", &as), -EINVAL);
	assert_true(save("absent", &as) < 0);
	alarm(0);
}

TEST(each_limit_of_a_run_is_kept)
{
	struct perf_file as = object_make(0644);
	struct dso_room room;

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
TEST(holes_count_as_bytes)
{
	struct perf_file as = object_make(0644);

	assert_int_equal(truncate("object", 20LL << 30), 0);
	assert_int_equal(save("object", &as), -EFBIG);
	assert_int_equal(copies(), 0);
}

TEST(copies_of_earlier_runs_count)
{
	struct perf_file as = object_make(0644);
	int fd;

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
TEST(few_notes_are_read)
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
	int fd;
	FILE *f = fopen("notes", "we");

	fwrite(&h, sizeof(h), 1, f);
	for (int i = 0; i < SEGMENTS; i++)
		fwrite(&p, sizeof(p), 1, f);
	fclose(f);
	fd = open("notes", O_RDONLY | O_CLOEXEC);
	before = bytes_read();
	assert_false(elf_build_id(fd, id));
	after = bytes_read();
	assert_true(after - before < 1 << 20);
	close(fd);
}

static void set_up(void)
{
	assert_int_equal(chdir(dir), 0);
}

AROUND_TESTS(set_up, NULL)
