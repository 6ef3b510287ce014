/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `zcost collect --agent KEY`: the part of a capture that runs on another host, as long as its
 * connection lasts. It has a folder for the runs there, reports the host's clock and sends files
 * back. When the connection ends, it ends what is left of a run and removes the folder.
 *
 * It first prints one line of JSON: zcost (version), exe, host, boot_id, caps (hexadecimal),
 * paranoid, folder. Then it reads requests from standard input and answers on standard output, in
 * lines:
 *
 *     clock         clock <heard> <said>    CLOCK_MONOTONIC of this host, ns
 *     alive                                 no answer: only ends the silence
 *     patience <s> [<idle s>]               no answer. After <s> of silence during a run, or when
 *                                           nobody reads its files for <s>, the agent ends with the
 *                                           run (default: never). Without a run it ends after
 *                                           <idle s> of silence (default: an hour)
 *     send <name>   as below          all files in the subfolder <name>
 *     news <name>   as below          the files that `news` has not sent yet
 *     forget                                no answer: `news` sends all files again
 *     drop <name>   dropped                 removes the subfolder, or `failed <why>`
 *     sweep         swept <n>               ends every process of a run; n processes resisted
 *
 * The end of standard input ends the agent. The folder is zcost-KEY in TMPDIR, or else in /var/tmp.
 * The next agent with the same key ends and removes what a killed one left.
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

/*
 * Files of a folder through a pipe, each with its checksum. So the run of a capture comes back from
 * another host through the one connection to it:
 *
 *     file <bytes> <name>\n<the bytes>sum <SHA-256>\n     for each regular file, by name
 *     failed <why>\n                                      in place of a file that cannot be read
 *     end\n
 *
 * Names are relative to the folder (name_is_safe). A file that is
 * shorter than announced is filled up with zeros, and its sum is `-`.
 */

#endif
