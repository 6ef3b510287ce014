// SPDX-License-Identifier: GPL-2.0-only
#include "collect/syscalls/task_ids.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

int task_ids_find(const struct task_copy *copy)
{
	uint32_t pair[2] = {(uint32_t)copy->id, (uint32_t)(copy->id >> 32)};
	size_t i;
	int found = -ENOENT;

	for (i = 0; i + sizeof(pair) <= sizeof(copy->bytes); i += sizeof(pair[0])) {
		if (memcmp(copy->bytes + i, pair, sizeof(pair)))
			continue;
		if (found >= 0)
			return -ENOENT;
		found = (int)i;
	}
	return found;
}

#ifdef HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

__asm__(".section .rodata\n"
	".balign 16\n"
	"zcost_task_bpf: .incbin \"" BPF_TASK "\"\n"
	"zcost_task_bpf_end:\n"
	".previous\n");
extern const char zcost_task_bpf[], zcost_task_bpf_end[];

struct look {
	int prog, bss;
	int offset; /* or -errno */
};

/* Runs in a thread, where pid and tgid differ: a pair of equal numbers would be in many places. */
static void *task_ids_search(void *arg)
{
	static struct task_copy copy;
	struct look *l = arg;
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	uint32_t key = 0;

	if (bpf_prog_test_run_opts(l->prog, &opts) || bpf_map_lookup_elem(l->bss, &key, &copy))
		l->offset = -errno;
	else
		l->offset = task_ids_find(&copy);
	return NULL;
}

static int task_ids_offset(void)
{
	struct bpf_object *obj = bpf_object__open_mem(
		zcost_task_bpf, (size_t)(zcost_task_bpf_end - zcost_task_bpf), NULL);
	struct look l = {.offset = -EIO};
	pthread_t thread;
	int rc;

	if (!obj)
		return -errno;
	rc = bpf_object__load(obj);
	if (!rc) {
		l.prog = bpf_program__fd(bpf_object__find_program_by_name(obj, "copy_task"));
		l.bss = bpf_map__fd(bpf_object__find_map_by_name(obj, ".bss"));
		rc = -pthread_create(&thread, NULL, task_ids_search, &l);
	}
	if (!rc)
		pthread_join(thread, NULL);
	bpf_object__close(obj);
	return rc ? rc : l.offset;
}

/* struct task_struct { ...; int pid, tgid; }; and nothing else */
static int task_ids_describe(struct btf *btf, int at)
{
	int type = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);

	if (type < 0 || btf__add_struct(btf, "task_struct", TASK_COPY) < 0 ||
	    btf__add_field(btf, "pid", type, (uint32_t)at * 8, 0) ||
	    btf__add_field(btf, "tgid", type, (uint32_t)at * 8 + 32, 0))
		return -EINVAL;
	return 0;
}

static int task_ids_write_btf(const struct btf *btf)
{
	uint32_t len;
	const void *data = btf__raw_data(btf, &len);
	int fd = memfd_create("zcost-btf", MFD_CLOEXEC);

	if (fd >= 0 && (!data || write(fd, data, len) != (ssize_t)len)) {
		close(fd);
		return -EIO;
	}
	return fd < 0 ? -errno : fd;
}

int task_ids_btf(struct error *err)
{
	struct btf *btf;
	int at = task_ids_offset(), fd;

	if (at < 0)
		return error_sys(
			err, -at,
			"this kernel has no BTF, and zcost did not find where it stores a thread's ids");
	btf = btf__new_empty();
	fd = btf ? task_ids_describe(btf, at) : -ENOMEM;
	if (!fd)
		fd = task_ids_write_btf(btf);
	btf__free(btf);
	return fd < 0 ? error_sys(err, -fd, "cannot make type information") : fd;
}

#endif
