// SPDX-License-Identifier: GPL-2.0-only
/* libFuzzer: any bytes as a perf.data file or stream. `make fuzz` runs it for FUZZ_SECONDS. */
#include "analyze/perfdata/perfdata.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_options o = {.threads = 1};
	struct error err = {0};
	struct profile p;
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), ret;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	profile_init(&p);
	ret = perfdata_read(&p, path, &o, &err);
	if (ret && !*err.text)
		abort(); /* a failure without a word */
	profile_free(&p);
	close(fd);
	return 0;
}
