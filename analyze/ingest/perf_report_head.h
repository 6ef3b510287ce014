/* SPDX-License-Identifier: GPL-2.0-only */
/* The heading of a perf report table: which columns there are, in order. For perf_report.c only. */
#ifndef ZC_PERF_REPORT_HEAD_H
#define ZC_PERF_REPORT_HEAD_H

#include <stdbool.h>
#include <stddef.h>

enum head_column {
	HEAD_TOTAL,   /* Children */
	HEAD_SELF,    /* Self, Overhead */
	HEAD_PERCENT, /* sys, usr ...: percentages we do not use */
	HEAD_SAMPLES,
	HEAD_NUMBER, /* Period ...: numbers we do not use */
	HEAD_COMM,
	HEAD_PID, /* Pid:Command */
	HEAD_DSO,
	HEAD_TEXT, /* CPU, Source:Line ... */
	HEAD_SYMBOL,
};

enum { HEAD_MAX = 16 };

struct head {
	enum head_column column[HEAD_MAX];
	size_t n;
	char separator; /* of `perf report -t`, 0: none */
};

enum head_found { HEAD_NONE, HEAD_FOUND, HEAD_NO_SYMBOL };

/* Whether `line` (cleaned) is a heading; *h changes only with HEAD_FOUND. */
enum head_found head_parse(struct head *h, const char *line);
/* The column of exactly that name; HEAD_TEXT where we do not know it. */
enum head_column head_name(const char *name);
size_t head_count(const struct head *h, enum head_column column);

#endif
