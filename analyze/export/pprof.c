// SPDX-License-Identifier: GPL-2.0-only
/*
 * A gzipped profile.proto, which pprof, Pyroscope, Parca and speedscope read. Messages of Profile
 * one after another are one message with the lists of all. So each sample, function and mapping is
 * written alone, and memory holds the compressed bytes.
 */
#include "analyze/export/export.h"

#include "analyze/export/profile.pb-c.h"
#include "analyze/costs/components.h"
#include "lib/late.h"

#include <errno.h>

enum { PPROF_LABELS = 8 };

struct pprof {
	struct samples s;
	const char *unit; /* the unit of work; NULL: no costs */
	struct intern strings;
	struct components *components;
	struct map written; /* symbols and mappings (WRITTEN_DSO) that are in the file */
	struct libarchive late;
	struct archive *gzip; /* writes into `file`; NULL: the file is not compressed */
	struct str piece, *file;
	uint64_t *chain;
	size_t chain_cap;
	struct picoseconds sum;
	uint64_t samples, weight, duration_ns;
};

#define WRITTEN_DSO (1ULL << 32)

static int64_t pprof_string(struct pprof *w, const char *s)
{
	return intern_str(&w->strings, s ? s : "");
}

/* --- bytes --- */

static la_ssize_t pprof_compressed(struct archive *a, void *pprof, const void *data, size_t len)
{
	struct pprof *w = pprof;

	(void)a;
	str_add(w->file, data, len);
	return (la_ssize_t)len;
}

static int pprof_gzip_error(const struct pprof *w, struct error *err)
{
	const char *why = w->gzip ? w->late.archive_error_string(w->gzip) : NULL;

	return error_set(err, EIO, "cannot compress the profile: %s",
			 why ? why : "libarchive names no reason");
}

static int pprof_open_gzip(struct pprof *w, struct error *err)
{
	struct archive_entry *e;
	int rc = LATE_LOAD_ARCHIVE(&w->late, err);

	if (rc)
		return rc;
	e = w->late.archive_entry_new();
	w->gzip = w->late.archive_write_new();
	w->late.archive_entry_set_filetype(e, AE_IFREG);
	w->late.archive_write_set_format_raw(w->gzip);
	w->late.archive_write_add_filter_gzip(w->gzip);
	w->late.archive_write_set_filter_option(w->gzip, "gzip", "timestamp", NULL);
	w->late.archive_write_set_bytes_in_last_block(w->gzip, 1);
	rc = w->late.archive_write_open(w->gzip, w, NULL, pprof_compressed, NULL);
	rc = rc ? rc : w->late.archive_write_header(w->gzip, e);
	w->late.archive_entry_free(e);
	return rc == ARCHIVE_OK ? 0 : pprof_gzip_error(w, err);
}

/* Compression into memory has no errors but those that w->late.archive_write_close() repeats. */
static void pprof_write(struct pprof *w, const Pprof__Profile *piece)
{
	size_t size = pprof__profile__get_packed_size(piece);

	if (w->piece.cap < size) {
		w->piece.buf = xrealloc(w->piece.buf, size);
		w->piece.cap = size;
	}
	pprof__profile__pack(piece, (uint8_t *)w->piece.buf);
	if (w->gzip)
		w->late.archive_write_data(w->gzip, w->piece.buf, size);
	else
		str_add(w->file, w->piece.buf, size);
}

/* Writes a piece with a single message in the list `member`. */
#define PPROF_WRITE(w, member, message)                               \
	do {                                                          \
		Pprof__Profile piece = PPROF__PROFILE__INIT;          \
		piece.n_##member = 1;                                 \
		piece.member = (__typeof__(message) *[]){&(message)}; \
		pprof_write(w, &piece);                               \
	} while (0)

/* --- functions --- */

static void pprof_write_mapping(struct pprof *w, const struct profile *p, uint32_t dso)
{
	const struct profile_dso *d = &p->dsos[dso];
	Pprof__Mapping m = PPROF__MAPPING__INIT;

	if ((*map_at(&w->written, WRITTEN_DSO | dso))++)
		return;
	m.id = dso + 1;
	m.memory_limit = INT64_MAX;
	m.filename = pprof_string(w, intern_get(&p->strings, d->name));
	m.build_id = pprof_string(
		w, d->build_id == PROFILE_NONE ? "" : intern_get(&p->strings, d->build_id));
	m.has_functions = true; /* else pprof looks for names in the files of this host */
	PPROF_WRITE(w, mapping, m);
}

/* Writes a location with a function. Only addresses without a name have their address. */
static void pprof_write_symbol(struct pprof *w, const struct profile *p, uint32_t symbol)
{
	const struct profile_symbol *y = &p->symbols[symbol];
	const char *name = profile_symbol_name(p, symbol);
	autofree char *object =
		y->unresolved ? sample_object_name(profile_symbol_dso(p, symbol)) : NULL;
	Pprof__Location l = PPROF__LOCATION__INIT;
	Pprof__Function f = PPROF__FUNCTION__INIT;
	Pprof__Line line = PPROF__LINE__INIT;

	if (!(*map_at(&w->written, symbol))++) {
		pprof_write_mapping(w, p, y->dso);
		f.id = l.id = line.function_id = symbol + 1;
		f.name = f.system_name = pprof_string(w, object ? object : name);
		l.mapping_id = y->dso + 1;
		l.address = y->unresolved ? strtoull(name, NULL, 16) : 0;
		l.n_line = 1;
		l.line = (Pprof__Line *[]){&line};
		PPROF_WRITE(w, function, f);
		PPROF_WRITE(w, location, l);
	}
}

/* Fills w->chain from the leaf to the root. Returns the number of frames. */
static size_t pprof_write_chain(struct pprof *w, const struct profile *p, uint32_t frame)
{
	size_t n = 0;

	for (; frame != PROFILE_NONE; frame = p->frames[frame].parent) {
		pprof_write_symbol(w, p, p->frames[frame].symbol);
		array_add(w->chain, n, w->chain_cap, p->frames[frame].symbol + 1);
	}
	return n;
}

/* --- samples --- */

struct pprof_labels {
	Pprof__Label label[PPROF_LABELS], *list[PPROF_LABELS];
	size_t n;
};

static Pprof__Label *pprof_add_label(struct pprof *w, struct pprof_labels *l, const char *key,
				     const char *text)
{
	Pprof__Label *label = &l->label[l->n];

	pprof__label__init(label);
	label->key = pprof_string(w, key);
	label->str = pprof_string(w, text);
	l->list[l->n++] = label;
	return label;
}

static void pprof_add_labels(struct pprof *w, struct pprof_labels *l, const struct sample_run *r,
			     const struct profile_cost *c)
{
	uint32_t symbol = r->p->frames[c->frame].symbol;
	const struct function fn = {profile_symbol_name(r->p, symbol), profile_module(r->p, symbol),
				    r->p->dsos[r->p->symbols[symbol].dso].kind,
				    components_context(w->components, c->context)};

	pprof_add_label(w, l, "comm", sample_comm(r, c));
	pprof_add_label(w, l, "context", context_names[c->context]);
	pprof_add_label(w, l, "component", components_of(w->components, &fn));
	if (!r->run)
		return;
	pprof_add_label(w, l, "variant", r->run->variant);
	pprof_add_label(w, l, "side", r->run->side);
	pprof_add_label(w, l, "pass", r->run->pass);
	pprof_add_label(w, l, "host", r->run->host);
	pprof_add_label(w, l, "run", NULL)->num = r->run->repeat;
}

static void pprof_write_sample(struct pprof *w, const struct sample_run *r,
			       const struct profile_cost *c)
{
	int64_t values[] = {(int64_t)c->samples, (int64_t)c->weight, 0};
	struct pprof_labels labels = {.n = 0};
	Pprof__Sample s = PPROF__SAMPLE__INIT;

	if (r->block->unit)
		values[2] = picoseconds_round(&w->sum, sample_ns(r, c));
	pprof_add_labels(w, &labels, r, c);
	s.n_location_id = pprof_write_chain(w, r->p, c->frame);
	s.location_id = w->chain;
	s.n_value = w->unit ? 3 : 2;
	s.value = values;
	s.n_label = labels.n;
	s.label = labels.list;
	PPROF_WRITE(w, sample, s);
	w->samples += c->samples;
	w->weight += c->weight;
}

/* Adds up what differs in the CPU, the process or the thread alone. */
static void pprof_add_run(void *pprof, const struct sample_run *r)
{
	struct pprof *w = pprof;
	freed(profile_free) struct profile merged;

	profile_init(&merged);
	for (size_t i = 0; i < r->p->ncosts; i++) {
		struct profile_cost c = r->p->costs[i];

		if (!samples_select(r, &c))
			continue;
		c.cpu = c.pid = c.tid = PROFILE_NONE;
		profile_add(&merged, &c);
	}
	for (size_t i = 0; i < merged.ncosts; i++)
		pprof_write_sample(w, r, &merged.costs[i]);
	w->duration_ns +=
		r->run ? r->run->end_ns - r->run->start_ns : r->p->last_ns - r->p->first_ns;
}

/* --- the file --- */

static Pprof__ValueType pprof_type(struct pprof *w, const char *type, const char *unit)
{
	Pprof__ValueType t = PPROF__VALUE_TYPE__INIT;

	t.type = pprof_string(w, type);
	t.unit = pprof_string(w, unit);
	return t;
}

/*
 * Values are whole numbers, and pprof knows no unit below the nanosecond. The picoseconds of a unit
 * of work are the nanoseconds of 1000 units.
 */
static void pprof_write_types(struct pprof *w)
{
	autofree char *cost = xasprintf("cost_per_1000_%s", w->unit ? w->unit : "");
	Pprof__ValueType samples = pprof_type(w, "samples", "count"),
			 weight = w->s.is_time ? pprof_type(w, "cpu", "nanoseconds")
					       : pprof_type(w, w->s.event, "count"),
			 per_unit = pprof_type(w, w->unit ? cost : "", "nanoseconds");
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	piece.n_sample_type = w->unit ? 3 : 2;
	piece.sample_type = (Pprof__ValueType *[]){&samples, &weight, &per_unit};
	piece.default_sample_type = w->unit ? per_unit.type : weight.type;
	piece.duration_nanos = (int64_t)w->duration_ns;
	piece.period_type = &weight;
	piece.period = w->samples ? (int64_t)(w->weight / w->samples) : 0;
	pprof_write(w, &piece);
}

static void pprof_write_strings(struct pprof *w)
{
	autofree char **list = xcalloc(w->strings.n, sizeof(*list));
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	for (uint32_t i = 0; i < w->strings.n; i++)
		list[i] = (char *)intern_get(&w->strings, i);
	piece.n_string_table = w->strings.n;
	piece.string_table = list;
	pprof_write(w, &piece);
}

int pprof_encode(struct export *x, bool compressed, struct str *file, struct error *err)
{
	struct pprof w = {.s = {.store = x->store, .q = x->q, .notes = &x->notes, .costs = true},
			  .file = file};
	int rc = samples_open(&w.s, err);

	pprof_string(&w, ""); /* place 0 */
	rc = rc ?: samples_unit(&w.s, &w.unit, err);
	rc = rc ?: components_read(&w.components, NULL, NULL, err);
	rc = rc || !compressed ? rc : pprof_open_gzip(&w, err);
	rc = rc ?: samples_read(&w.s, pprof_add_run, &w, err);
	if (!rc) {
		pprof_write_types(&w);
		pprof_write_strings(&w);
		if (w.gzip && w.late.archive_write_close(w.gzip) != ARCHIVE_OK)
			rc = pprof_gzip_error(&w, err);
	}
	if (w.gzip)
		w.late.archive_write_free(w.gzip);
	components_free(w.components);
	map_free(&w.written);
	intern_free(&w.strings);
	str_free(&w.piece);
	free(w.chain);
	samples_close(&w.s);
	return rc;
}

static int export_pprof(struct export *x, struct error *err)
{
	freed(str_free) struct str file = {0};
	int rc = pprof_encode(x, true, &file, err);
	FILE *out;

	if (rc)
		return rc;
	out = export_open(x, err);
	if (!out)
		return -err->code;
	fwrite(file.buf, file.len, 1, out);
	return 0;
}

const struct format format_pprof = {
	.name = "pprof",
	.what = "gzipped profile.proto: samples, CPU time and cost per unit of work (pprof, Pyroscope, Parca)",
	.options = {[SOURCE_CAPTURE] = OPT_EXPORT_RUNS, [SOURCE_PERF] = OPT_EXPORT_FILE},
	.binary = true,
	.write = export_pprof,
};
