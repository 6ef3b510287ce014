/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls as the program made them, so that what the kernel counts can be compared with it.
 *
 * Counted is every call the program makes from the connection (connect or accept has returned)
 * to the end of the data (everything sent and notified; or end of file, an error, a stop seen by
 * the receiver), whether it succeeds, fails or is interrupted: the mode's own calls, waiting for
 * the first byte, set-up that needs the connected socket, the write of each line of output and
 * the return from a signal's handler. The two calls of getrusage that frame the span are not.
 * With several threads each has its span, framed so: its work, without its start and end.
 * Names are the kernel's: recv(2) is recvfrom, poll(2) is ppoll where there is no poll.
 */
#ifndef TCPZC_CALLS_H
#define TCPZC_CALLS_H

#include <sys/syscall.h>

/* Where there is no poll, ppoll is both. */
#ifdef SYS_poll
#define POLL_NAME    "poll"
#define PPOLL_ROW(X) X(PPOLL, "ppoll")
#else
#define POLL_NAME "ppoll"
#define PPOLL_ROW(X)
#define CALL_PPOLL CALL_POLL
#endif

#define CALLS(X)                                  \
	X(FTRUNCATE, "ftruncate")                 \
	X(GETSOCKOPT, "getsockopt")               \
	X(IO_URING_ENTER, "io_uring_enter")       \
	X(IO_URING_REGISTER, "io_uring_register") \
	X(MADVISE, "madvise")                     \
	X(MMAP, "mmap")                           \
	X(MUNMAP, "munmap")                       \
	X(POLL, POLL_NAME)                        \
	PPOLL_ROW(X)                              \
	X(PWRITE64, "pwrite64")                   \
	X(READ, "read")                           \
	X(RECVFROM, "recvfrom")                   \
	X(RECVMSG, "recvmsg")                     \
	X(RT_SIGRETURN, "rt_sigreturn")           \
	X(SENDFILE, "sendfile")                   \
	X(SENDMSG, "sendmsg")                     \
	X(SENDTO, "sendto")                       \
	X(SETITIMER, "setitimer")                 \
	X(SETSOCKOPT, "setsockopt")               \
	X(SPLICE, "splice")                       \
	X(TEE, "tee")                             \
	X(TGKILL, "tgkill")                       \
	X(VMSPLICE, "vmsplice")                   \
	X(WRITE, "write")

#define CALL_ENUM(id, name) CALL_##id,
enum call { CALLS(CALL_ENUM) CALL_COUNT };
#undef CALL_ENUM

/* CALL(flow, SENDTO, send(...)): makes the call and counts it. */
#define CALL(f, id, expression) ((f)->calls[CALL_##id]++, (expression))

#endif
