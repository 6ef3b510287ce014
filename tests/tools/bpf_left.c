// SPDX-License-Identifier: GPL-2.0-only
/* Takes ids of BPF programs and maps (PROG... -- MAP...). Exits 0 while any of them is loaded. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool loaded(enum bpf_cmd cmd, unsigned int id)
{
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id; /* map_id is the same member */
	fd = syscall(SYS_bpf, cmd, &attr, sizeof(attr));
	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

int main(int argc, char **argv)
{
	enum bpf_cmd cmd = BPF_PROG_GET_FD_BY_ID;
	int n = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--")) {
			cmd = BPF_MAP_GET_FD_BY_ID;
			continue;
		}
		if (!loaded(cmd, (unsigned int)strtoul(argv[i], NULL, 10)))
			continue;
		printf("%s %s is loaded\n", cmd == BPF_MAP_GET_FD_BY_ID ? "map" : "program",
		       argv[i]);
		n++;
	}
	return n ? 0 : 1;
}
