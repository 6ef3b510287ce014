/* SPDX-License-Identifier: GPL-2.0-only */
/* Which folders a capture is written to. */
#ifndef ZC_CAPTURE_FOLDER_H
#define ZC_CAPTURE_FOLDER_H

#include "lib/error.h"

/*
 * Refuses a folder with files that is no capture, one that other users can change while root writes
 * to it, and one with links, fifos or devices.
 */
int capture_folder_check(const char *dir, struct error *err);

#endif
