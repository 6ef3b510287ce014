/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The laptop half's commands.
 *
 * The page of `report --html` and `compare --html`. The page has charts, and analyze knows no plot:
 * the commands fill a request, and plot/html_page.c defines page_write.
 */
#ifndef ZC_COMMANDS_H
#define ZC_COMMANDS_H

#include "analyze/compare/compare.h"

int cmd_analyze(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_push(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_unpack(int argc, char **argv);

struct page_request {
	const char *path;    /* the page's file; "-": standard output */
	const char *capture; /* as the user named it; NULL: the ends of `compared` name theirs */
	struct store *store; /* NULL where `compared` has the stores */
	struct query query;
	/* Open, with paired sides. NULL: all variants, each compared with the first. */
	struct comparison *compared;
	int argc;
	char **argv; /* the command that makes the page */
	/* set by page_write */
	struct outcome outcome; /* the outcome of the metrics of `compared` */
	bool lossy;
};

int page_write(struct page_request *r, struct error *err);

struct argp_state;
struct feature;
struct options;
struct output;
/* Ends with a usage error about options that the page does not take, or the side total. */
void page_check(const struct argp_state *state, const struct options *o, const struct output *out,
		const char *side, const struct feature *page);

/* Options that the page takes from report and from compare. */
#define OPT_PAGE "side workload-only basis estimator unit power-model power-kind roi-n roi-m "

#endif
