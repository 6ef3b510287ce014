/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `zcost collect --agent KEY`: what a capture has on another host as long as its connection lasts.
 * It keeps a folder for the runs there, tells the host's time, sends files back, and, when whoever
 * steers is gone, ends what is left of a run and removes the folder.
 *
 * It begins with one line of JSON: zcost (version), exe, host, boot_id, caps (hexadecimal),
 * paranoid, folder. Then it hears on standard input and answers on standard output, in lines:
 *
 *     clock         clock <heard> <said>    CLOCK_MONOTONIC of this host, ns
 *     alive                                 no answer: only breaks the silence
 *     patience <s> [<idle s>]               no answer: a run that goes on while nothing was heard
 *                                           for so long is ended, and the agent with it (default:
 *                                           for ever); so is an agent whose files are not read for
 *                                           so long, and one without a run after <idle s> (an hour)
 *     send <name>   as in stream.h          what is in the folder's folder <name>, all of it
 *     news <name>   as in stream.h          without what was sent by `news` already
 *     forget                                no answer: `news` begins anew
 *     drop <name>   dropped                 removes it, or `failed <why>`
 *     sweep         swept <n>               ends every process of a run; n: those that would not
 *
 * The end of standard input is the end. KEY makes the folder's name, zcost-KEY in TMPDIR or else
 * /var/tmp: the next agent of that key ends and removes what one that was killed has left.
 */
#ifndef ZC_AGENT_H
#define ZC_AGENT_H

#include <stdint.h>

/* Returns an exit code. */
int agent_run(const char *key);

/* What this process may measure of the kernel. */

struct rights {
	uint64_t caps; /* the effective capabilities, bits as in linux/capability.h */
	int paranoid;  /* kernel.perf_event_paranoid; 2 where there is none */
};

struct rights rights_of_this_process(void);

#endif
