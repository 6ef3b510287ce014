// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as what a capture reads before it measures. The first byte chooses: p
 * a plan, m the manifest.json of --against. A refusal must give a reason. The commands of a valid
 * plan must split into words, and the same plan must give the same order of runs.
 */
#include "capture/manifest.h"
#include "capture/plan.h"
#include "collect/agent.h"
#include "lib/words.h"
#include "tests/fuzz/fuzz.h"

const char zcost_version[] = "fuzz";

static void check_commands(const struct plan *p)
{
	struct error err = {0};
	size_t i;

	for (i = 0; i < p->nvariants; i++)
		for (int side = 0; side < p->nsides; side++) {
			struct words w = {0};

			refused(words_split(&w, p->variants[i].command[side], &err), &err);
			words_free(&w);
		}
}

static void read_plan(const char *text)
{
	struct rights none = {0};
	struct error err = {0};
	struct plan p;

	plan_init(&p);
	if (plan_parse(&p, "dir/p.ini", text, "/opt", &err)) {
		refused(-1, &err);
	} else {
		check_commands(&p);
		refused(plan_check_cpus(&p, &err), &err);
		refused(plan_check_rights(&p, &none, "", &err), &err);
	}
	plan_free(&p);
}

static void read_manifest(const char *text, size_t size)
{
	static char program[] = "/bin/true";
	char *argv[] = {program, NULL};
	struct error err = {0};
	struct plan p;

	fuzz_file("manifest.json", text, size);
	plan_init(&p);
	refused(plan_wrap(&p, "new", argv, &err), &err);
	refused(plan_add_capture(&p, fuzz_folder, &err), &err);
	check_commands(&p);
	plan_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (!size || !strchr("pm", *data))
		return FUZZ_SKIP;
	text = xstrndup((const char *)data + 1, size - 1);
	if (*data == 'p')
		read_plan(text);
	else
		read_manifest(text, strlen(text));
	free(text);
	return 0;
}
