// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls and numbers are those of the CUDA driver API 11.7, which is the first with
 * cuMemGetHandleForAddressRange. Its range must begin and end at pages of the host.
 */
#include "cuda.h"

#include "lib/late.h"

#include <unistd.h>

enum {
	CUDA_DMA_BUF_SUPPORTED = 124, /* CU_DEVICE_ATTRIBUTE_ */
	CUDA_SYNC_MEMOPS = 6,	      /* CU_POINTER_ATTRIBUTE_ */
	CUDA_DMA_BUF_FD = 1,	      /* CU_MEM_RANGE_HANDLE_TYPE_ */
};

#define CUDA_OPEN_MODULES \
	"use the driver's open kernel modules (nvidia-open) on Linux 5.12 or later, and a GPU that they support"

#define CUDA_NAME(name, ...) #name,

static int cuda_load(struct flow *f, struct cuda *c)
{
	static const char *const names[] = {CUDA_CALLS(CUDA_NAME) NULL};
	struct error err = {0};

	if (!late_load("libcuda.so.1", names, &c->calls, &err))
		return 0;
	return flow_wrong(f, "--memory cuda:%d: %s (NVIDIA's driver 515 or later, CUDA 11.7)",
			  f->opt->gpu, err.text);
}

/* Returns 0 when `code` is that of success, else -errno after flow_fail. */
static int cuda_check(struct flow *f, const struct cuda *c, const char *call, int code,
		      const char *todo)
{
	const char *name = NULL;

	if (!code)
		return 0;
	c->calls.cuGetErrorName(code, &name);
	return flow_wrong(f, "--memory cuda:%d: %s: %s (%d). Way out: %s", f->opt->gpu, call,
			  name ? name : "unknown error", code, todo);
}

#define CUDA(f, c, todo, call, ...) cuda_check(f, c, #call, (c)->calls.call(__VA_ARGS__), todo)

static int cuda_open_device(struct flow *f, struct cuda *c)
{
	static const char lists[] = "nvidia-smi -L lists the GPUs";
	void *context;
	int exports = 0;

	if (CUDA(f, c, "load the driver's modules, until nvidia-smi shows the GPU", cuInit, 0) ||
	    CUDA(f, c, lists, cuDeviceGet, &c->device, f->opt->gpu) ||
	    CUDA(f, c, lists, cuDeviceGetAttribute, &exports, CUDA_DMA_BUF_SUPPORTED, c->device))
		return -f->error;
	if (!exports)
		return flow_wrong(f, "--memory cuda:%d: the driver exports no dmabuf. Way out: %s",
				  f->opt->gpu, CUDA_OPEN_MODULES);
	if (CUDA(f, c, "end other programs on the GPU", cuDevicePrimaryCtxRetain, &context,
		 c->device))
		return -f->error;
	c->retained = true;
	return CUDA(f, c, lists, cuCtxSetCurrent, context);
}

int cuda_open(struct flow *f, struct cuda *c, size_t *size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int on = 1;
	int fd = -1;

	if (cuda_load(f, c) || cuda_open_device(f, c))
		return -f->error;
	*size = (*size + page - 1) / page * page;
	if (CUDA(f, c, "use less memory (--area), or end other programs on the GPU", cuMemAlloc_v2,
		 &c->allocated, *size + page))
		return -f->error;
	c->at = (c->allocated + page - 1) / page * page;
	/* Without this, a copy to the GPU may still be under way when its call returns. */
	if (CUDA(f, c, CUDA_OPEN_MODULES, cuPointerSetAttribute, &on, CUDA_SYNC_MEMOPS,
		 c->allocated) ||
	    CUDA(f, c, CUDA_OPEN_MODULES, cuMemGetHandleForAddressRange, &fd, c->at, *size,
		 CUDA_DMA_BUF_FD, 0))
		return -f->error;
	return fd;
}

const char *cuda_read(struct flow *f, struct cuda *c, size_t offset, size_t n)
{
	if (n > c->room || !c->copy) {
		c->copy = xrealloc(c->copy, n ?: 1);
		c->room = n;
	}
	return CUDA(f, c, "dmesg has the driver's reason", cuMemcpyDtoH_v2, c->copy, c->at + offset,
		    n)
		       ? NULL
		       : c->copy;
}

int cuda_write(struct flow *f, struct cuda *c, size_t offset, const void *from, size_t n)
{
	return CUDA(f, c, "dmesg has the driver's reason", cuMemcpyHtoD_v2, c->at + offset, from,
		    n);
}

void cuda_close(struct cuda *c)
{
	if (c->allocated)
		c->calls.cuMemFree_v2(c->allocated);
	if (c->retained)
		c->calls.cuDevicePrimaryCtxRelease_v2(c->device);
	free(c->copy);
}
