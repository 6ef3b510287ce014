/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of this folder. */
#ifndef ZC_PLOT_CMD_H
#define ZC_PLOT_CMD_H

int cmd_plot(int argc, char **argv);

#endif
