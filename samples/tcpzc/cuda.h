/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of an NVIDIA GPU as a dmabuf. The driver's library is loaded by the first caller. */
#ifndef TCPZC_CUDA_H
#define TCPZC_CUDA_H

#include "tcpzc.h"

/*
 * The functions of libcuda.so.1 and their arguments, with the types that cuda.h has behind its
 * names: CUresult, CUdevice and enums are int, CUdeviceptr is uint64_t, CUcontext is a pointer.
 */
/* clang-format off */
#define CUDA_CALLS(F) \
	F(cuInit, unsigned int flags) \
	F(cuDeviceGet, int *device, int ordinal) \
	F(cuDeviceGetAttribute, int *value, int attribute, int device) \
	F(cuDevicePrimaryCtxRetain, void **context, int device) \
	F(cuCtxSetCurrent, void *context) \
	F(cuMemAlloc_v2, uint64_t *at, size_t size) \
	F(cuPointerSetAttribute, const void *value, int attribute, uint64_t at) \
	F(cuMemGetHandleForAddressRange, void *handle, uint64_t at, size_t size, int type, \
	  unsigned long long flags) \
	F(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t n) \
	F(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t n) \
	F(cuMemFree_v2, uint64_t at) \
	F(cuDevicePrimaryCtxRelease_v2, int device) \
	F(cuGetErrorName, int code, const char **name)
/* clang-format on */

#define CUDA_MEMBER(name, ...) int (*name)(__VA_ARGS__);

struct cuda {
	struct cuda_calls {
		CUDA_CALLS(CUDA_MEMBER)
	} calls;
	int device;
	bool retained;		/* we hold the device's primary context */
	uint64_t allocated, at; /* addresses on the GPU: the allocation, and its first whole page */
	char *copy;		/* what cuda_read() read last */
	size_t room;		/* bytes of `copy` */
};

/*
 * Allocates at least *size bytes on GPU opt->gpu, in whole pages of the host, which *size becomes.
 * Returns the descriptor of their dmabuf, which the caller closes, or -errno after flow_fail. The
 * calling thread must make all further calls, because the GPU's context is the thread's.
 */
int cuda_open(struct flow *f, struct cuda *c, size_t *size);
/*
 * Copies `n` bytes at `offset` of the memory to the host. Returns them until the next call, or NULL
 * after flow_fail.
 */
const char *cuda_read(struct flow *f, struct cuda *c, size_t offset, size_t n);
/* Copies `n` bytes to the GPU and waits for their arrival. Returns 0, or -errno after flow_fail. */
int cuda_write(struct flow *f, struct cuda *c, size_t offset, const void *from, size_t n);
void cuda_close(struct cuda *c); /* also after cuda_open() failed */

#endif
