// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any user who ran a program chose names in the recording, and we may be root. So a name is
 * resolved once, without opening anything: opening a fifo would wait, and opening a device may have
 * effects. The result must be a regular file, and the very object that the kernel mapped. All
 * reading goes through that one descriptor.
 */
#include "collect/perf.h"

#include "lib/clock.h"
#include "lib/file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* --- build-ids --- */

/*
 * The build-id of a 64-bit ELF image in this machine's byte order is a note of type 3 by
 * "GNU" in any PT_NOTE segment. No offset in the file can be trusted, so all reading goes through
 * elf_read_at() and a cursor.
 */

enum { BUILD_ID_MAX = 64, NOTES_MAX = 64 * 1024, SEGMENTS_MAX = 256 };

static bool elf_read_at(int fd, uint64_t at, void *to, size_t n)
{
	return at <= INT64_MAX && pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

static bool elf_read_header(int fd, Elf64_Ehdr *h)
{
	uint8_t order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	return elf_read_at(fd, 0, h, sizeof(*h)) && !memcmp(h->e_ident, ELFMAG, SELFMAG) &&
	       h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_ident[EI_DATA] == order &&
	       h->e_phentsize >= sizeof(Elf64_Phdr);
}

static void elf_format_hex(const uint8_t *id, size_t n, char hex[129])
{
	for (size_t i = 0; i < n; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
}

static bool elf_find_note(struct cursor c, size_t align, char hex[129])
{
	size_t mask = align == 8 ? 7 : 3;

	while (cursor_left(&c) >= 12) {
		uint32_t namesz = cursor_u32(&c), descsz = cursor_u32(&c), type = cursor_u32(&c);
		const char *name = cursor_take(&c, (namesz + mask) & ~mask);
		const uint8_t *desc = name ? cursor_take(&c, descsz) : NULL;

		if (!desc)
			return false;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && !memcmp(name, "GNU", 4) && descsz &&
		    descsz <= BUILD_ID_MAX) {
			elf_format_hex(desc, descsz, hex);
			return true;
		}
		cursor_take(&c, -(size_t)descsz & mask);
	}
	return false;
}

/* Reads 64 KiB of notes at most: a file may declare 4 GiB of them. */
bool elf_build_id(int fd, char hex[129])
{
	char notes[NOTES_MAX];
	size_t room = sizeof(notes);
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (!elf_read_header(fd, &h))
		return false;
	for (uint16_t i = 0; i < h.e_phnum && i < SEGMENTS_MAX; i++) {
		if (!elf_read_at(fd, h.e_phoff + (uint64_t)i * h.e_phentsize, &p, sizeof(p)))
			return false;
		if (p.p_type != PT_NOTE || p.p_filesz > room ||
		    !elf_read_at(fd, p.p_offset, notes, p.p_filesz))
			continue;
		room -= p.p_filesz;
		if (elf_find_note(cursor_of(notes, p.p_filesz, false), p.p_align, hex))
			return true;
	}
	return false;
}

/* --- which file --- */

enum { CHUNK = 64 * 1024 };

/* The path of an MMAP2 record has no symbolic links. One that is there now was put there later. */
static int dso_path_find(const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
				     .resolve = RESOLVE_NO_SYMLINKS};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* Linux before 5.6, or in a container */
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Requires that every class of users that may execute the file may also read it, so the copy shows
 * nobody more than before. Where the kernel did not say which inode was mapped, everybody must be
 * able to read the file.
 */
static bool dso_mode_allows(mode_t mode, const struct perf_file *as)
{
	return mode & S_IROTH || (as->ino && mode & S_IXUSR && !((mode & 0111) << 2 & ~mode));
}

/* Compares with what /proc/self/maps says: on btrfs and overlayfs stat() names another device. */
static bool dso_mapping_matches(int fd, const struct perf_file *as)
{
	void *map = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	unsigned int maj, min;
	char line[512];
	uint64_t start, ino;
	bool same = false;
	FILE *f;

	if (map == MAP_FAILED)
		return false;
	f = fopen("/proc/self/maps", "re");
	while (f && !same && fgets(line, sizeof(line), f))
		same = sscanf(line, "%" SCNx64 "-%*x %*s %*x %x:%x %" SCNu64, &start, &maj, &min,
			      &ino) == 4 &&
		       start == (uintptr_t)map && maj == as->maj && min == as->min &&
		       ino == as->ino;
	if (f)
		fclose(f);
	munmap(map, 1);
	return same;
}

/*
 * Inode numbers are used again. The generation tells such files apart, on file systems that have
 * it.
 */
static bool dso_inode_matches(int fd, const struct stat *st, const struct perf_file *as)
{
	bool same = st->st_ino == as->ino && major(st->st_dev) == as->maj &&
		    minor(st->st_dev) == as->min;
	long now = 0;

	return (same || dso_mapping_matches(fd, as)) &&
	       (!as->generation || ioctl(fd, FS_IOC_GETVERSION, &now) ||
		(uint32_t)now == (uint32_t)as->generation);
}

/*
 * Opens the object that was mapped and reads its build-id. Returns a descriptor or -errno;
 * -ENODATA: no build-id.
 */
static int dso_object_open(const char *path, const struct perf_file *as, char id[129],
			   struct error *err)
{
	int at = dso_path_find(path), fd = -EINVAL;
	char self[32]; /* what `at`, made with O_PATH, refers to: no name is resolved again */
	char mapped[129] = "";
	struct stat st;

	if (at < 0)
		return error_sys(err, -at, "%s: cannot open", path);
	elf_format_hex(as->id, as->id_len < sizeof(as->id) ? as->id_len : sizeof(as->id), mapped);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	if (fstat(at, &st) || !S_ISREG(st.st_mode))
		error_set(err, EINVAL, "%s: not a regular file", path);
	else if (!dso_mode_allows(st.st_mode, as))
		fd = error_set(err, EACCES, "%s: not readable by the users who may run it", path);
	else if ((fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
		fd = error_sys(err, errno, "%s: cannot open", path);
	close(at);
	if (fd < 0)
		return fd;
	if (!elf_build_id(fd, id))
		at = -ENODATA;
	else if (as->ino ? !dso_inode_matches(fd, &st, as) : !*mapped || strcmp(mapped, id))
		at = error_set(err, ESTALE, "%s: not the file that was mapped", path);
	if (at >= 0)
		return fd;
	close(fd);
	return at;
}

/* --- the copy --- */

static int dso_add_size(void *arg, const struct walked *e, struct error *err)
{
	(void)err;
	*(uint64_t *)arg += !e->code && S_ISREG(e->st.st_mode) ? (uint64_t)e->st.st_size : 0;
	return 0;
}

struct dso_room dso_room_of(const char *hosts)
{
	autofree char *dir = xasprintf("%s/dso", hosts);
	uint64_t used = 0, left;

	dir_walk(dir, dso_add_size, &used, NULL);
	left = used < DSO_CAPTURE_BYTES ? DSO_CAPTURE_BYTES - used : 0;
	return (struct dso_room){.bytes = left < DSO_RUN_BYTES ? left : DSO_RUN_BYTES,
				 .files = DSO_RUN_FILES,
				 .until_ns = clock_mono_ns() + DSO_RUN_S * 1000000000ULL};
}

static int dso_set_no_room(const char *path, struct error *err)
{
	return error_set(
		err, EFBIG,
		"%s: not copied: the copies of a run take %d s, %d files and %d GiB at most, those of a capture %d GiB",
		path, DSO_RUN_S, DSO_RUN_FILES, (int)(DSO_RUN_BYTES >> 30),
		(int)(DSO_CAPTURE_BYTES >> 30));
}

/* Returns HOSTS/dso/<id>/<name> and makes the folder. The caller frees it. */
static char *dso_destination(const char *hosts, const char *id, const char *name, struct error *err)
{
	autofree char *dir = xasprintf("%s/dso/%s", hosts, id);

	return dir_make(dir, err) ? NULL : xasprintf("%s/%s", dir, name);
}

static int dso_copy_data(int in, int out, off_t size, const struct dso_room *room)
{
	char buf[CHUNK];
	off_t at = 0;

	while (at < size) {
		size_t want = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		ssize_t n = file_read_at(in, buf, want, (uint64_t)at);

		if (n <= 0)
			return n ? (int)n : -EIO; /* the file is shorter now */
		if (pwrite(out, buf, (size_t)n, at) != n)
			return errno ? -errno : -EIO;
		if (clock_mono_ns() >= room->until_ns)
			return -EFBIG;
		at += n;
	}
	return 0;
}

/* Writes the file whole or not at all: the other side's run may save the same file. */
static int dso_copy_whole(int in, const char *path, const char *to, struct dso_room *room,
			  struct error *err)
{
	struct stat st;
	autofree char *tmp = NULL;
	int out, rc;

	if (fstat(in, &st))
		return error_sys(err, errno, "%s: cannot read", path);
	if (clock_mono_ns() >= room->until_ns || !room->files || (uint64_t)st.st_size > room->bytes)
		return dso_set_no_room(path, err);
	room->bytes -= (uint64_t)st.st_size;
	room->files--;
	tmp = remains_name(to);
	out = file_create(tmp, 0, 0600);
	rc = out < 0 ? out : dso_copy_data(in, out, st.st_size, room);
	rc = file_replace(out, tmp, to, rc);
	if (rc == -EFBIG)
		return dso_set_no_room(path, err);
	return rc ? error_sys(err, -rc, "%s: cannot write", to) : 0;
}

/* The folder belongs to the system, and so do the links in it. Other users choose only the id. */
static void dso_save_debug(const char *hosts, const char *id, const char *name,
			   struct dso_room *room)
{
	autofree char *from = xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	autofree char *debug = xasprintf("%s.debug", name), *to = NULL;
	autoclose int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mode & S_IROTH)
		to = dso_destination(hosts, id, debug, NULL);
	if (to && access(to, F_OK))
		dso_copy_whole(fd, from, to, room, NULL);
}

/* The vdso is in our memory as in every process. The file ends behind its section headers. */
static int dso_save_vdso(const char *hosts, struct error *err)
{
	const Elf64_Ehdr *h = (const void *)getauxval(AT_SYSINFO_EHDR);
	autoclose int fd = memfd_create("vdso", MFD_CLOEXEC);
	size_t len = h ? h->e_shoff + (size_t)h->e_shentsize * h->e_shnum : 0;
	char id[129];

	if (fd >= 0 && h && h->e_ident[EI_CLASS] == ELFCLASS64 && !file_write_all(fd, h, len) &&
	    elf_build_id(fd, id)) {
		autofree char *to = dso_destination(hosts, id, "[vdso]", err);

		return !to ? -err->code : access(to, F_OK) ? file_write(to, h, len, err) : 0;
	}
	return -ENODATA;
}

/*
 * Writes which build-id the mapped inode has: perf.data has the inode alone where containers gave
 * several files one path. An inode that was two files, one after the other, gets an empty file.
 */
static int dso_save_inode(const char *hosts, const struct perf_file *as, const char *id,
			  struct error *err)
{
	autofree char *dir = xasprintf("%s/dso/inodes", hosts), *was = NULL;
	autofree char *to = xasprintf("%s/%u-%u-%" PRIu64, dir, as->maj, as->min, as->ino);

	if (!as->ino || dir_make(dir, err))
		return as->ino ? -err->code : 0;
	if (file_read(to, &was, NULL, NULL))
		return file_write(to, id, strlen(id), err);
	return strcmp(was, id) ? file_write(to, "", 0, err) : 0;
}

int dso_save(const char *hosts, const char *path, const struct perf_file *as, struct dso_room *room,
	     char id[129], struct error *err)
{
	const char *name = strrchr(path, '/');
	autofree char *to = NULL;
	autoclose int fd = -1;
	int rc;

	*id = '\0';
	if (!strcmp(path, "[vdso]"))
		return dso_save_vdso(hosts, err);
	if (!name || !strcmp(name, "/") || !strcmp(name, "/.") || !strcmp(name, "/.."))
		return error_set(err, EINVAL, "%s: not the name of a file", path);
	if (clock_mono_ns() >= room->until_ns)
		return dso_set_no_room(path, err);
	fd = dso_object_open(path, as, id, err);
	if (fd < 0)
		return fd;
	to = dso_destination(hosts, id, ++name, err);
	rc = to ? 0 : -err->code;
	if (to && access(to, F_OK))
		rc = dso_copy_whole(fd, path, to, room, err);
	if (!rc)
		rc = dso_save_inode(hosts, as, id, err);
	if (!rc)
		dso_save_debug(hosts, id, name, room);
	return rc;
}
