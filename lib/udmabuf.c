// SPDX-License-Identifier: GPL-2.0-only
#include "lib/udmabuf.h"

#include "lib/zc_uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int udmabuf_open_memory(size_t size)
{
	int rc, fd = memfd_create("zcost", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int udmabuf_make(size_t size, int *memory)
{
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), mem, fd;
	struct zc_udmabuf_create create = {.size = size};

	if (device < 0)
		return -errno;
	mem = fd = udmabuf_open_memory(size);
	if (mem >= 0) {
		create.memfd = (uint32_t)mem;
		fd = ioctl(device, ZC_UDMABUF_CREATE, &create);
		fd = fd < 0 ? -errno : fd;
	}
	close(device);
	if (fd >= 0 && memory)
		*memory = mem;
	else if (mem >= 0)
		close(mem);
	return fd;
}
