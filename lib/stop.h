/* SPDX-License-Identifier: GPL-2.0-only */
/* A long job ends cleanly: SIGINT, SIGTERM and SIGHUP end the process when its files are removed.
 */
#ifndef ZC_STOP_H
#define ZC_STOP_H

#include <stdbool.h>

/* The signals interrupt a read or write from here on, and do not end the process. */
void stop_watch(void);
void stop_unwatch(void);  /* the signals end the process again */
bool stop_asked(void);	  /* one of the signals came */
void stop_if_asked(void); /* ends the process by the signal that came, if one came */

#endif
