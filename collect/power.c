// SPDX-License-Identifier: GPL-2.0-only
/*
 * Power, from all sources of this host: energy counters, meters, programs that print watts, the log
 * of an external meter. A reading of /sys costs one pread per domain and stays in memory during the
 * window. A thread polls each program.
 */
#include "collect/power.h"

#include "collect/collect.h"
#include "collect/host.h"
#include "collect/options.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/program_text.h"
#include "lib/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The program that runs a --power-command. It points into itself and into the command. */
struct power_shell {
	struct power_program program;
	char *argv[4];
};

struct power {
	struct power_domains domains;
	bool has_ipmi;
	struct power_poll *ipmi, *command[POWER_KINDS];
	struct power_shell shell[POWER_KINDS];
	struct str rows, sources;
};

/* Indexes in the list of files: one command file per kind, then the logs. */
enum { COMMAND_FILE = 2, LOG_FILE = COMMAND_FILE + POWER_KINDS };

static const char heading[] = "source\tdomain\tt_ns\tmicrojoules\twatts\n";

/* --- what there is: everything is tried, and what was refused is kept as the reason --- */

static char *const dcmi_argv[] = {"ipmitool", "dcmi", "power", "reading", NULL};
static const struct power_program dcmi = {
	.name = "ipmitool dcmi power reading",
	.argv = dcmi_argv,
	.whole = true,
	.check = watts_of_dcmi,
};

static void power_add_source(struct power *p, const char *name)
{
	str_printf(&p->sources, "%s%s", p->sources.len ? "," : "", name);
}

/* Asks ipmitool once. A controller without a power reading is no fault. */
static void power_find_ipmi(struct collect *c, struct power *p, struct error *refused)
{
	if (!host_has_program(dcmi_argv[0])) {
		error_set(refused, ENOENT, "ipmitool is not installed");
		return;
	}
	p->has_ipmi = !power_poll_ask(&dcmi, refused);
	if (p->has_ipmi)
		power_add_source(p, "ipmi");
	else
		collect_info_str(c, "ipmi", refused->text);
}

/*
 * Starts a poll. A program that does not start is a loss: it answered before, or the user named it.
 */
static void power_start_poll(struct collect *c, struct power_poll **poll,
			     const struct power_program *program, const char *file,
			     const char *about)
{
	char *path = collect_path(c, file);
	struct error err = {0};

	if (power_poll_start(poll, program, path, about, &c->run->online, &c->run->cpus, &err)) {
		collect_degraded(c, "%s", err.text);
		unlink(path);
	}
	free(path);
}

static void power_list_domains(struct power *p)
{
	const char *last = "";
	size_t i;

	for (i = 0; i < p->domains.n; i++) {
		if (strcmp(last, p->domains.d[i].source))
			power_add_source(p, p->domains.d[i].source);
		last = p->domains.d[i].source;
	}
}

static const char denied[] = "energy counters are there but not readable: run as root";

static int power_set_none(struct collect *c, const struct power *p, const struct error *ipmi)
{
	if (p->domains.denied)
		return error_set(&c->err, EACCES, "%s", denied);
	return error_set(
		&c->err, ENODEV,
		"no power source: neither powercap, perf's power/energy-pkg/ nor hwmon meters on this host; %s; --power-command runs a program that prints watts, --power-csv takes an external meter's log",
		ipmi->text);
}

static void power_release(struct power *p)
{
	power_free(&p->domains);
	str_free(&p->rows);
	str_free(&p->sources);
	free(p);
}

/* Finds the sources; `info` lists them, such as "powercap,hwmon,ipmi" or "csv". */
static int power_probe(struct collect *c)
{
	struct power *p = xcalloc(1, sizeof(*p));
	struct error ipmi = {0};
	int rc;

	power_find(&p->domains);
	power_list_domains(p);
	power_find_ipmi(c, p, &ipmi);
	if (c->run->npower_command)
		power_add_source(p, "command");
	if (c->run->npower_csv)
		power_add_source(p, "csv");
	if (p->domains.failed.code) {
		collect_degraded(c, "%s", p->domains.failed.text);
	} else if (!p->sources.len) {
		rc = power_set_none(c, p, &ipmi);
		power_release(p);
		return rc;
	}
	if (p->sources.len)
		collect_info_str(c, "source", p->sources.buf);
	if (p->domains.denied)
		collect_why(c, "%s", denied); /* the other sources are read without them */
	c->data = p;
	return 0;
}

static const struct power_program *power_shell_program(struct power_shell *shell,
						       const char *command)
{
	shell->argv[0] = (char *)"/bin/sh";
	shell->argv[1] = (char *)"-c";
	shell->argv[2] = (char *)command;
	shell->argv[3] = NULL;
	shell->program = (struct power_program){
		.name = command, .argv = shell->argv, .check = watts_of_line};
	return &shell->program;
}

static void power_start_command(struct collect *c, struct power *p, size_t i)
{
	const struct power_command *is = &c->run->power_command[i];
	char *about = xasprintf("# kind: %s\n# command: %s\n", is->kind, is->command);

	power_start_poll(c, &p->command[i], power_shell_program(&p->shell[i], is->command),
			 c->is->files[COMMAND_FILE + i], about);
	free(about);
}

static int power_prepare(struct collect *c)
{
	struct power *p = c->data;
	size_t i;

	if (p->has_ipmi)
		power_start_poll(c, &p->ipmi, &dcmi, "power-ipmi.snap",
				 "# ipmitool dcmi power reading\n");
	for (i = 0; i < c->run->npower_command; i++)
		power_start_command(c, p, i);
	return 0;
}

/* --- readings --- */

static void power_read_one(struct collect *c, struct power *p, struct power_domain *d)
{
	uint64_t value, now = clock_mono_ns();
	int rc = power_read(d, now, &value);

	if (rc) {
		d->gone = true;
		collect_degraded(c, "%s: %s", d->name,
				 rc == -ERANGE ? "the energy counter was set back" : strerror(-rc));
		return;
	}
	str_printf(&p->rows, "%s\t%s\t%" PRIu64, d->source, d->name, now);
	if (d->energy)
		str_printf(&p->rows, "\t%" PRIu64 "\t\n", value);
	else
		str_printf(&p->rows, "\t\t%" PRIu64 ".%06u\n", value / 1000000,
			   (unsigned int)(value % 1000000));
}

static int power_read_all(struct collect *c)
{
	struct power *p = c->data;
	size_t i;

	for (i = 0; i < p->domains.n; i++)
		if (!p->domains.d[i].gone)
			power_read_one(c, p, &p->domains.d[i]);
	return 0;
}

static void power_save(struct collect *c, const struct power *p)
{
	char *path = collect_path(c, "power.tsv"), *text = xasprintf("%s%s", heading, p->rows.buf);
	struct error err = {0};

	if (file_write(path, text, strlen(text), &err))
		collect_degraded(c, "%s", err.text);
	free(text);
	free(path);
}

/* Copies the logs unchanged: zcost analyze understands the meter's clock and columns. */
static void power_copy_logs(struct collect *c)
{
	size_t i;

	for (i = 0; i < c->run->npower_csv; i++) {
		struct error err = {0};
		char *path = collect_path(c, c->is->files[LOG_FILE + i]);

		if (file_copy(c->run->power_csv[i], path, &err))
			collect_degraded(c, "%s", err.text);
		free(path);
	}
}

static void power_await_last(struct collect *c, struct power_poll *poll)
{
	struct error err = {0};

	if (poll && power_poll_until(poll, c->run->end_ns, &err))
		collect_degraded(c, "%s", err.text);
}

/* Waits until the last reading of each poll lies behind the window's end. */
static int power_after(struct collect *c)
{
	struct power *p = c->data;
	size_t i;

	if (!c->run->end_ns)
		return 0;
	power_await_last(c, p->ipmi);
	for (i = 0; i < c->run->npower_command; i++)
		power_await_last(c, p->command[i]);
	return 0;
}

static unsigned int power_end_poll(struct collect *c, struct power_poll *poll)
{
	struct error err = {0};
	unsigned int missed = 0;

	if (poll && power_poll_stop(poll, &missed, &err))
		collect_degraded(c, "%s", err.text);
	return missed;
}

static void power_report_missed(struct collect *c, const char *name, unsigned int missed)
{
	if (missed)
		collect_info_int(c, name, missed);
}

static void power_finish(struct collect *c)
{
	struct power *p = c->data;
	unsigned int missed = 0;
	size_t i;

	power_report_missed(c, "ipmi_missed", power_end_poll(c, p->ipmi));
	for (i = 0; i < c->run->npower_command; i++)
		missed += power_end_poll(c, p->command[i]);
	power_report_missed(c, "command_missed", missed);
	if (p->rows.len)
		power_save(c, p);
	power_copy_logs(c);
	power_release(p);
}

const struct collector collector_power = {
	.name = "power",
	.what = "energy counters, power meters, a program that prints watts, a meter's log",
	.files = {"power.tsv", "power-ipmi.snap", "power-command.snap", "power-command-2.snap",
		  "power-command-3.snap", "power-command-4.snap", "power.csv", "power-2.csv",
		  "power-3.csv", "power-4.csv"},
	.when = DATED,
	.passes = PASS_MEASURE,
	.probe = power_probe,
	.prepare = power_prepare,
	.start = power_read_all,
	.snap = power_read_all,
	.stop = power_read_all,
	.after = power_after,
	.finish = power_finish,
};
