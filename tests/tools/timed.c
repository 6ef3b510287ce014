// SPDX-License-Identifier: GPL-2.0-only
/* timed COMMAND...: runs the command without its output and prints "<wall s> <cpu s> <peak MB>". */
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/spawn.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct error err = {0};
	struct spawn opts = {0};
	uint64_t start = clock_mono_ns();
	struct rusage ru;
	int status;
	pid_t pid;

	/* fd 0 is free when standard input is closed, so 0 cannot mean "none". */
	opts.out = opts.err = fcntl(open("/dev/null", O_WRONLY | O_CLOEXEC), F_DUPFD_CLOEXEC, 3);
	if (argc < 2 || spawn_start(&pid, argv + 1, &opts, &err)) {
		error_print(&err);
		return EXIT_FAILED;
	}
	if (wait4(pid, &status, 0, &ru) != pid)
		return EXIT_FAILED;
	printf("%.3f %.3f %.0f\n", (double)(clock_mono_ns() - start) / 1e9,
	       seconds(ru.ru_utime) + seconds(ru.ru_stime), (double)ru.ru_maxrss / 1024);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}
