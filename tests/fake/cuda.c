// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stands in for libcuda.so.1 without a GPU. Each call appends its name and arguments to the file
 * CUDA_LOG. CUDA_FAIL=NAME:CODE makes one call fail. The memory is that of a memfd, whose
 * descriptor is the "dmabuf". cc -D NO_HANDLE leaves out the call that makes it, as old drivers do.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RESULT(...) return fake_result(__func__, __VA_ARGS__)

__attribute__((format(printf, 2, 3))) static int fake_result(const char *name, const char *fmt, ...)
{
	const char *fail = getenv("CUDA_FAIL"), *log = getenv("CUDA_LOG");
	FILE *out = log ? fopen(log, "a") : NULL;
	__builtin_va_list ap;

	__builtin_va_start(ap, fmt);
	if (out) {
		fprintf(out, "%s", name);
		vfprintf(out, fmt, ap);
		fprintf(out, "\n");
		fclose(out);
	}
	__builtin_va_end(ap);
	return fail && !strncmp(fail, name, strlen(name)) && fail[strlen(name)] == ':'
		       ? atoi(fail + strlen(name) + 1)
		       : 0;
}

int cuInit(unsigned int flags)
{
	RESULT(" %u", flags);
}

int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal + 10;
	RESULT(" %d", ordinal);
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	*value = attribute == 124 && !getenv("CUDA_NO_DMABUF");
	RESULT(" %d %d", attribute, device);
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = (void *)0x77;
	RESULT(" %d", device);
}

int cuCtxSetCurrent(void *context)
{
	RESULT(" %p", context);
}

int cuMemAlloc_v2(uint64_t *at, size_t size)
{
	*at = 0x700000000200; /* aligned to 512 bytes only */
	RESULT(" %zu", size);
}

int cuPointerSetAttribute(const void *value, int attribute, uint64_t at)
{
	RESULT(" %u %d 0x%lx", *(const unsigned int *)value, attribute, (unsigned long)at);
}

#ifndef NO_HANDLE
int cuMemGetHandleForAddressRange(void *handle, uint64_t at, size_t size, int type,
				  unsigned long long flags)
{
	int fd = memfd_create("gpu", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		return 999;
	*(int *)handle = fd;
	RESULT(" 0x%lx %zu %d %llu", (unsigned long)at, size, type, flags);
}
#endif

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n)
{
	(void)to;
	RESULT(" 0x%lx %zu", (unsigned long)from, n);
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n)
{
	(void)from;
	RESULT(" 0x%lx %zu", (unsigned long)to, n);
}

int cuMemFree_v2(uint64_t at)
{
	RESULT(" 0x%lx", (unsigned long)at);
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	RESULT(" %d", device);
}

int cuGetErrorName(int code, const char **name)
{
	*name = code == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
		: code == 100 ? "CUDA_ERROR_NO_DEVICE"
		: code == 101 ? "CUDA_ERROR_INVALID_DEVICE"
			      : NULL;
	return 0;
}
