// SPDX-License-Identifier: GPL-2.0-only
/*
 * xdp_owner INTERFACE QUEUE COMMAND...: runs the command while an XDP program that passes all
 * packets is attached to the interface and an AF_XDP socket has the queue. An interface such as
 * veth makes page pools for the program, and frees them at the end.
 */
#include <linux/bpf.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 4096, CHUNKS = 64 };

static int must(long rc, const char *what)
{
	if (rc < 0) {
		perror(what);
		exit(1);
	}
	return (int)rc;
}

static void attach(unsigned int interface)
{
	struct bpf_insn pass[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS},
				  {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr program = {.prog_type = BPF_PROG_TYPE_XDP,
				  .insns = (uintptr_t)pass,
				  .insn_cnt = 2,
				  .license = (uintptr_t) "GPL"};
	union bpf_attr link = {
		.link_create = {.target_ifindex = interface, .attach_type = BPF_XDP}};

	link.link_create.prog_fd = (uint32_t)must(
		syscall(__NR_bpf, BPF_PROG_LOAD, &program, sizeof(program)), "BPF_PROG_LOAD");
	must(syscall(__NR_bpf, BPF_LINK_CREATE, &link, sizeof(link)), "BPF_LINK_CREATE");
}

static void own(unsigned int interface, unsigned int queue)
{
	static const int rings[] = {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING};
	void *memory = mmap(NULL, CHUNK * CHUNKS, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct xdp_umem_reg umem = {
		.addr = (uintptr_t)memory, .len = CHUNK * CHUNKS, .chunk_size = CHUNK};
	struct sockaddr_xdp at = {.sxdp_family = AF_XDP,
				  .sxdp_flags = XDP_COPY,
				  .sxdp_ifindex = interface,
				  .sxdp_queue_id = queue};
	int fd = must(socket(AF_XDP, SOCK_RAW, 0), "AF_XDP"), n = CHUNKS;

	must(setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &umem, sizeof(umem)), "XDP_UMEM_REG");
	for (int i = 0; i < 3; i++)
		must(setsockopt(fd, SOL_XDP, rings[i], &n, sizeof(n)), "ring");
	must(bind(fd, (struct sockaddr *)&at, sizeof(at)), "bind");
}

int main(int argc, char **argv)
{
	unsigned int interface = argc > 3 ? if_nametoindex(argv[1]) : 0;
	int status;
	pid_t pid;

	if (!interface)
		return 2;
	attach(interface);
	own(interface, (unsigned int)atoi(argv[2]));
	pid = must(fork(), "fork");
	if (!pid) {
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	must(waitpid(pid, &status, 0), "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
