// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/slice.h"

#include "analyze/perfdata/recording.h"
#include "analyze/perfdata/sample.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { NS_DIGITS = 9 };

int time_point_parse(struct time_point *p, const char *text)
{
	bool relative = *text == '+';
	const char *at = text + relative;
	uint64_t seconds, ns = 0;
	int digits = 0;
	char *end;

	if (!isdigit((unsigned char)*at))
		return -EINVAL;
	errno = 0;
	seconds = strtoull(at, &end, 10);
	if (errno || seconds > UINT64_MAX / 2000000000)
		return -EINVAL;
	if (*end == '.')
		for (end++; isdigit((unsigned char)*end); end++)
			if (digits++ < NS_DIGITS)
				ns = ns * 10 + (uint64_t)(*end - '0');
	if (*end)
		return -EINVAL;
	for (; digits < NS_DIGITS; digits++)
		ns *= 10;
	*p = (struct time_point){seconds * 1000000000 + ns, true, relative};
	return 0;
}

/* Of the first and the last sample; buffers of several CPUs follow each other, so all are seen. */
static bool sample_times(const struct recording *r, uint64_t *first, uint64_t *last)
{
	struct chunk_reader reader = {0};
	struct chunk_sample at;
	struct sample s;
	size_t i;
	long event;

	*first = UINT64_MAX;
	*last = 0;
	for (i = 0; i < r->nchunks; i++) {
		chunk_read(&reader, &r->chunks[i], r->swap);
		while (chunk_next(&reader, &at)) {
			event = sample_event(&r->events, at.body);
			if (event < 0 || !(r->events.list[event].sample_type & PERF_SAMPLE_TIME) ||
			    !sample_decode(&s, &r->events.list[event], &at.body))
				continue;
			*first = s.time < *first ? s.time : *first;
			*last = s.time > *last ? s.time : *last;
		}
	}
	free(reader.buf);
	return *first <= *last;
}

static uint64_t absolute(const struct time_point *p, uint64_t first, uint64_t otherwise)
{
	return p->given ? p->ns + (p->relative ? first : 0) : otherwise;
}

int slice_resolve(const struct time_slice *s, const struct recording *r, uint64_t *from,
		  uint64_t *to, struct error *err)
{
	uint64_t first, last;

	*from = *to = 0;
	if (!s->from.given && !s->to.given)
		return 0;
	if (!sample_times(r, &first, &last))
		return error_set(err, ENODATA, "%s: --from and --to: no sample of it has a time",
				 r->path);
	*from = absolute(&s->from, first, 0);
	*to = absolute(&s->to, first, UINT64_MAX);
	if (*from<*to && * from <= last && * to> first)
		return 0;
	return error_set(
		err, EINVAL,
		"%s: no sample between --from and --to; its samples are from %.6f to %.6f s "
		"(+%.6f)",
		r->path, (double)first / 1e9, (double)last / 1e9, (double)(last - first) / 1e9);
}
