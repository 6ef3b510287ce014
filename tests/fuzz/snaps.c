// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as threads.snap, sched.snap or tcp.snap. The first byte chooses the
 * format. A refusal must give a reason. No figure may be infinite, and no growing figure negative.
 */
#include "analyze/ingest/ingest.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {"threads.snap", "sched.snap", "tcp.snap"};

static void check(const struct ingest *in)
{
	size_t i;

	for (i = 0; i < in->nmetrics; i++)
		if (!(in->metrics[i].value >= 0))
			abort();
	for (i = 0; i < in->nthreads_seen; i++)
		if (in->threads_seen[i].run_ns < 0 || in->threads_seen[i].wait_ns < 0)
			abort();
	for (i = 0; i < in->nsockets; i++)
		if (in->sockets[i].f[SOCKET_bytes_acked] < 0 ||
		    in->sockets[i].f[SOCKET_retrans] < 0)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ingest in = {.run = {.start_ns = 10000000000, .end_ns = 13000000000}};
	struct error err = {0};
	char path[64];
	int fd;

	if (!size)
		return 0;
	fd = memfd_create("snap", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	in.has_cpus = data[0] & 64;
	if (in.has_cpus)
		cpuset_add(&in.cpus, 1);
	if (parser_find(files[data[0] % 3])->read(&in, path, &err) && !*err.text)
		abort();
	check(&in);
	ingest_free(&in);
	close(fd);
	return 0;
}
