/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Libraries that few commands need are loaded by their first caller. Loading libarchive and
 * libcapstone took three quarters of the start of every command. A list of functions makes the
 * struct of their pointers (LATE_MEMBER), which LATE_LOAD fills.
 */
#ifndef ZC_LATE_H
#define ZC_LATE_H

#include "lib/error.h"

#include <archive.h>
#include <archive_entry.h>

#define LATE_MEMBER(function) __typeof__(function) *function;
#define LATE_NAME(function)   #function,
#define LATE_LOAD(soname, list, calls, err) \
	late_load(soname, (const char *const[]){list(LATE_NAME) 0}, calls, err)

/* Fills the pointers in `calls` with the functions in `names`. Returns -ELIBACC without the
 * library. The library stays until the end of the process. */
int late_load(const char *soname, const char *const *names, void *calls, struct error *err);

/* clang-format off */
#define LATE_ARCHIVE(F) \
	F(archive_errno) F(archive_error_string) F(archive_filter_count) F(archive_set_error) \
	F(archive_entry_filetype) F(archive_entry_free) F(archive_entry_hardlink) F(archive_entry_new) \
	F(archive_entry_pathname) F(archive_entry_pathname_utf8) F(archive_entry_set_filetype) \
	F(archive_entry_set_mtime) F(archive_entry_set_pathname) F(archive_entry_set_perm) \
	F(archive_entry_set_size) F(archive_entry_size) \
	F(archive_read_data) F(archive_read_free) F(archive_read_new) F(archive_read_next_header) \
	F(archive_read_open) F(archive_read_open_fd) F(archive_read_open_memory) \
	F(archive_read_support_filter_bzip2) F(archive_read_support_filter_gzip) \
	F(archive_read_support_filter_xz) F(archive_read_support_filter_zstd) \
	F(archive_read_support_format_raw) F(archive_read_support_format_tar) \
	F(archive_write_add_filter_gzip) F(archive_write_add_filter_zstd) F(archive_write_close) \
	F(archive_write_data) F(archive_write_fail) F(archive_write_free) F(archive_write_header) \
	F(archive_write_new) F(archive_write_open) F(archive_write_set_bytes_in_last_block) \
	F(archive_write_set_filter_option) F(archive_write_set_format_pax_restricted) \
	F(archive_write_set_format_raw)
/* clang-format on */

struct libarchive {
	LATE_ARCHIVE(LATE_MEMBER)
};
#define LATE_LOAD_ARCHIVE(calls, err) LATE_LOAD("libarchive.so.13", LATE_ARCHIVE, calls, err)

#endif
