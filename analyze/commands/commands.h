/* SPDX-License-Identifier: GPL-2.0-only */
/* The laptop half's commands. */
#ifndef ZC_ANALYZE_CMD_H
#define ZC_ANALYZE_CMD_H

int cmd_analyze(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_unpack(int argc, char **argv);

#endif
