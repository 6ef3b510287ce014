// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints a perf.data file as tab-separated lines:
 *
 *   profile_dump functions FILE   event dso symbol unresolved samples self total
 *   profile_dump costs FILE       event cpu comm pid tid context samples weight stack
 *   profile_dump health FILE      name value; a stack is leaf;...;root
 *   profile_dump health,functions FILE   both
 *
 * Options: --kallsyms F, --host-dir D, --symfs D, --buildid-dir D,
 * --vmlinux F, --inline, --addresses, --foreign (use no file of this host), --from NS,
 * --to NS, --cpu SET, --threads N. Exit 1: not readable, 4: read in part.
 */
#include "analyze/perfdata/perfdata.h"
#include "analyze/perfdata/recording.h"
#include "analyze/perfdata/format.h"
#include "lib/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct total {
	uint64_t samples, self, total;
	size_t seen; /* the last cost row that counted the symbol, + 1 */
};

static const char *str(const struct profile *p, uint32_t id)
{
	return intern_get(&p->strings, id);
}

/* Adds a symbol once per chain, however often the chain has it. */
static void add_row(const struct profile *p, struct total *t, size_t row)
{
	const struct profile_cost *c = &p->costs[row];

	t[p->frames[c->frame].symbol].samples += c->samples;
	t[p->frames[c->frame].symbol].self += c->weight;
	for (uint32_t f = c->frame; f != PROFILE_NONE; f = p->frames[f].parent) {
		struct total *s = &t[p->frames[f].symbol];

		s->total += s->seen == row + 1 ? 0 : c->weight;
		s->seen = row + 1;
	}
}

static void functions(const struct profile *p)
{
	struct total *t;

	for (size_t e = 0; e < p->nevents; e++) {
		t = xcalloc(p->nsymbols + 1, sizeof(*t));
		for (size_t i = 0; i < p->ncosts; i++)
			if (p->costs[i].event == e)
				add_row(p, t, i);
		for (size_t i = 0; i < p->nsymbols; i++)
			if (t[i].total)
				printf("%s\t%s\t%s\t%d\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
				       str(p, p->events[e].name),
				       profile_symbol_dso(p, (uint32_t)i),
				       profile_symbol_name(p, (uint32_t)i),
				       p->symbols[i].unresolved, t[i].samples, t[i].self,
				       t[i].total);
		free(t);
	}
}

static void costs(const struct profile *p)
{
	const struct profile_cost *c;

	for (size_t i = 0; i < p->ncosts; i++) {
		c = &p->costs[i];
		printf("%s\t%d\t%s\t%d\t%d\t%s\t%" PRIu64 "\t%" PRIu64 "\t",
		       str(p, p->events[c->event].name), (int)c->cpu, str(p, c->comm), (int)c->pid,
		       (int)c->tid, context_names[c->context], c->samples, c->weight);
		for (uint32_t f = c->frame; f != PROFILE_NONE; f = p->frames[f].parent)
			printf("%s%s", profile_symbol_name(p, p->frames[f].symbol),
			       p->frames[f].parent == PROFILE_NONE ? "" : ";");
		putchar('\n');
	}
}

static void health(const struct profile *p)
{
	const struct profile_health *h = &p->health;

	for (size_t i = 0; i < p->nevents; i++)
		printf("event %s\t%" PRIu64 " samples, weight %" PRIu64 ", n_eff %.0f\n",
		       str(p, p->events[i].name), p->events[i].samples, p->events[i].weight,
		       p->events[i].weight2 > 0
			       ? (double)p->events[i].weight * (double)p->events[i].weight /
					 p->events[i].weight2
			       : 0);
	printf("lost_records\t%" PRIu64 "\nlost_samples\t%" PRIu64 "\nthrottled\t%" PRIu64 "\n",
	       h->lost_records, h->lost_samples, h->throttled);
	printf("unknown_ids\t%" PRIu64 "\nbad_chains\t%" PRIu64 "\n", h->unknown_ids,
	       h->bad_chains);
	printf("unwound\t%" PRIu64 " stacks, %" PRIu64 " cut, %" PRIu64 " lost, %" PRIu64 " deep\n",
	       h->unwinds.stacks, h->unwinds.cut, h->unwinds.lost, h->unwinds.deep);
	printf("outside_window\t%" PRIu64 "\nfirst_ns\t%" PRIu64 "\nlast_ns\t%" PRIu64 "\n",
	       h->outside_window, p->first_ns, p->last_ns);
	printf("frames\t%zu\ncosts\t%zu\nsymbols\t%zu\n", p->nframes, p->ncosts, p->nsymbols);
	printf("kernel_base\t%" PRIx64 "\n", p->kernel_base);
	printf("truncated\t%s\n", h->truncated ? h->why : "");
	printf("kernel_note\t%s\n", p->kernel_note ? p->kernel_note : "");
	printf("dso_note\t%s\n", p->dso_note ? p->dso_note : "");
	printf("unwind_note\t%s\n", p->unwind_note ? p->unwind_note : "");
}

static bool is_marker(uint64_t addr)
{
	return addr == (uint64_t)PERF_CONTEXT_HV || addr == (uint64_t)PERF_CONTEXT_KERNEL ||
	       addr == (uint64_t)PERF_CONTEXT_USER;
}

/*
 * Prints the recorded addresses, leaf first, without the markers between them. Prints nothing if
 * perf does not know one of the addresses: perf and zcost drop such a chain.
 */
static void print_chain(const struct sample *s, bool swap)
{
	struct cursor c = cursor_of(s->chain, s->nr * 8, swap), again = c;
	const char *comma = "";
	uint64_t addr;

	while (s->nr && cursor_left(&c)) {
		addr = cursor_u64(&c);
		if (addr >= (uint64_t)PERF_CONTEXT_MAX && !is_marker(addr))
			again.at = again.end;
	}
	while (s->nr && cursor_left(&again)) {
		addr = cursor_u64(&again);
		if (is_marker(addr))
			continue;
		printf("%s%" PRIx64, comma, addr);
		comma = ",";
	}
	putchar('\n');
}

/* Prints one sample like perf script -F. A field that is not recorded is "-". */
static void print_sample(const struct recording *r, struct chunk_sample *at)
{
	long index = sample_event(&r->events, at->body);
	const struct event *e = index < 0 ? NULL : &r->events.list[index];
	struct sample s;
	uint32_t comm;

	if (!e || !sample_decode(&s, e, &at->body)) {
		printf("?\n");
		return;
	}
	comm = timeline_at(sideband_get_timeline(&r->side.comms, s.tid), r->timed ? s.time : 0,
			   at->order, UINT32_MAX);
	printf("%s\t", e->name);
	if (comm == UINT32_MAX)
		printf(":%d", (int)s.tid);
	else
		fputs(str(r->profile, comm), stdout);
	printf("\t%d\t%d\t%d\t%" PRIu64 "\t%" PRIu64 "\t%" PRIx64 "\t", (int)s.pid, (int)s.tid,
	       e->sample_type & PERF_SAMPLE_CPU ? (int)s.cpu : -1, s.time, s.period, s.ip);
	print_chain(&s, at->body.swap);
}

static int samples(struct profile *p, const char *file, struct error *err)
{
	struct recording r;
	struct chunk_reader reader = {0};
	struct chunk_sample at;
	int ret = recording_open(&r, p, file, false, err);

	for (size_t i = 0; i < r.nchunks && !ret; i++) {
		chunk_read(&reader, &r.chunks[i], r.swap);
		while (chunk_next(&reader, &at))
			print_sample(&r, &at);
	}
	free(reader.buf);
	recording_close(&r);
	return ret;
}

static int usage(void)
{
	fprintf(stderr, "usage: profile_dump functions|costs|health|samples [OPTION...] FILE\n");
	return EXIT_USAGE;
}

static const char *take_options(struct perfdata_options *o, struct cpuset *cpus, int argc,
				char **argv)
{
	const char *file = NULL;

	o->use_this_host = true;
	for (int i = 2; i < argc; i++) {
		const char *a = argv[i], *next = argv[i + 1];

		if (!strcmp(a, "--foreign"))
			o->use_this_host = false;
		else if (!strcmp(a, "--inline"))
			o->inlines = true;
		else if (!strcmp(a, "--addresses"))
			o->addresses = true;
		else if (a[0] != '-' || !a[1] || !next)
			file = a;
		else if (++i, !strcmp(a, "--kallsyms"))
			o->kallsyms = next;
		else if (!strcmp(a, "--host-dir"))
			o->host_dir = next;
		else if (!strcmp(a, "--symfs"))
			o->symfs = next;
		else if (!strcmp(a, "--vmlinux"))
			o->vmlinux = next;
		else if (!strcmp(a, "--buildid-dir"))
			o->buildid_dir = next;
		else if (!strcmp(a, "--from"))
			o->from_ns = strtoull(next, NULL, 10);
		else if (!strcmp(a, "--to"))
			o->to_ns = strtoull(next, NULL, 10);
		else if (!strcmp(a, "--threads"))
			o->threads = (unsigned int)strtoul(next, NULL, 10);
		else if (!strcmp(a, "--cpu") && !cpuset_parse(cpus, next, NULL))
			o->cpus = cpus;
		else
			return NULL;
	}
	return file;
}

int main(int argc, char **argv)
{
	struct perfdata_options o = {0};
	struct error err = {0};
	struct cpuset cpus = {0};
	struct profile p;
	const char *file = argc > 2 ? take_options(&o, &cpus, argc, argv) : NULL;
	int ret;

	if (!file)
		return usage();
	profile_init(&p);
	if (!strcmp(argv[1], "samples"))
		ret = samples(&p, file, &err);
	else
		ret = perfdata_read(&p, file, &o, &err);
	if (ret)
		error_print(&err);
	if (!ret && strstr(argv[1], "health"))
		health(&p);
	if (!ret && strstr(argv[1], "functions"))
		functions(&p);
	else if (!ret && !strcmp(argv[1], "costs"))
		costs(&p);
	ret = ret ? EXIT_FAILED : p.health.truncated ? EXIT_LOSSY : EXIT_OK;
	profile_free(&p);
	return ret;
}
