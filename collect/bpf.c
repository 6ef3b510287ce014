// SPDX-License-Identifier: GPL-2.0-only
#include "collect/bpf.h"

#ifdef HAVE_BPF

#include "collect/host.h"
#include "lib/file.h"
#include "lib/str.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Saves the first warning: libbpf explains a refusal on several lines, and the first one is the
 * best.
 */
static char said[256];

static int bpf_listen(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN && !said[0])
		vsnprintf(said, sizeof(said), fmt, ap);
	return 0;
}

int bpf_begin(struct error *err)
{
	/* ZCOST_NO_BTF hides the kernel's type information, for tests. */
	if (!path_exists("/sys/kernel/btf/vmlinux") || getenv("ZCOST_NO_BTF"))
		return error_set(err, ENOTSUP,
				 "this kernel was built without CONFIG_DEBUG_INFO_BTF");
	libbpf_set_print(bpf_listen);
	said[0] = '\0';
	return 0;
}

int bpf_refused(int code, struct error *err)
{
	char *why = str_trim(said);

	if (code == EPERM || code == EACCES)
		return error_set(
			err, code,
			"BPF is not permitted: run as root, or with CAP_BPF and CAP_PERFMON");
	return error_sys(err, code, "the kernel refused the BPF program%s%s", *why ? ": " : "",
			 why);
}

uint32_t bpf_thread_ids(void)
{
	double ids = host_sysctl_number("kernel.pid_max", 0); /* The limit of our PID namespace. */

	return ids >= 32768 && ids < 4194304 ? (uint32_t)ids : 4194304;
}

#endif
