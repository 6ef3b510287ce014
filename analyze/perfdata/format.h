/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's header does not say about perf.data: the file's own record types and header
 * features (tools/perf), and what newer kernels added. Sizes are never taken from structs.
 */
#ifndef ZC_PERFDATA_FORMAT_H
#define ZC_PERFDATA_FORMAT_H

#include <linux/perf_event.h>

/* Written by perf, not by the kernel. */
enum {
	REC_HEADER_ATTR = 64,
	REC_HEADER_EVENT_TYPE = 65,
	REC_HEADER_TRACING_DATA = 66,
	REC_HEADER_BUILD_ID = 67,
	REC_FINISHED_ROUND = 68,
	REC_AUXTRACE = 71,
	REC_EVENT_UPDATE = 78,
	REC_HEADER_FEATURE = 80,
	REC_COMPRESSED = 81,
	REC_FINISHED_INIT = 82,
	REC_COMPRESSED2 = 83,
	REC_KNOWN = 128, /* types from here on, and unknown ones below, are counted */
};

enum feature {
	FEAT_TRACING_DATA = 1,
	FEAT_BUILD_ID = 2,
	FEAT_HOSTNAME = 3,
	FEAT_OSRELEASE = 4,
	FEAT_VERSION = 5,
	FEAT_ARCH = 6,
	FEAT_EVENT_DESC = 12,
	FEAT_GROUP_DESC = 17,
	FEAT_COMPRESSED = 27,
	FEAT_BITS = 256,
};

enum {
	MISC_BUILD_ID_SIZE = 1 << 15, /* of REC_HEADER_BUILD_ID */
	EVENT_UPDATE_NAME = 2,
	FILE_HEADER_SIZE = 104,
	PIPE_HEADER_SIZE = 16,
	RECORD_HEADER_SIZE = 8,
};

#define MISC_FORK_EXEC	   (1 << 13) /* of a FORK: made up by perf, the maps follow */
#define MISC_MMAP_BUILD_ID (1 << 14) /* of an MMAP2: a build-id in place of the inode */

#endif
