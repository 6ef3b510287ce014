/* SPDX-License-Identifier: GPL-2.0-only */
/* The agent's folder: its own, empty, and no other agent's of the same key. */
#ifndef ZC_AGENT_FOLDER_H
#define ZC_AGENT_FOLDER_H

#include "lib/error.h"

/* The path, which the caller frees; NULL after an error. Ends and removes what is left there. */
char *agent_folder_make(const char *key, struct error *err);

#endif
