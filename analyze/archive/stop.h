/* SPDX-License-Identifier: GPL-2.0-only */
/* SIGINT, SIGTERM and SIGHUP, so that what is half written is removed before the process ends. */
#ifndef ZC_ARCHIVE_STOP_H
#define ZC_ARCHIVE_STOP_H

#include <stdbool.h>

void stop_watch(void);	 /* from now on they are only noted, and interrupt a read or write */
void stop_unwatch(void); /* they end the process again */
bool stop_asked(void);
void stop_if_asked(void); /* ends the process by the signal that came, if one did */

#endif
