// SPDX-License-Identifier: GPL-2.0-only
/* socket_copies.tsv: data of sockets that the kernel copied or pinned, in bytes. */
#include "analyze/probes/ingest.h"
#include "analyze/probes/tsv.h"

#include "lib/str.h"

#include <string.h>

static const struct {
	const char *event, *metric;
} events[] = {
	{"skb_copy_datagram_iovec", "rx_kernel_copied_bytes"},
	{"skb_copy_ubufs", "host_tx_kernel_copied_bytes"},
	{"__zerocopy_sg_from_iter", "tx_kernel_pinned_bytes"},
};

static int socket_copies_read_file(struct ingest *in, const char *path, struct error *err)
{
	size_t row, i, bad;
	uint64_t bytes;
	struct tsv t;
	int rc = tsv_read(&t, path, '\t', err);

	if (rc)
		return rc;
	bad = t.short_rows;
	rc = tsv_require(&t, err, "event", "calls", "bytes", NULL);
	for (row = 0; !rc && row < t.rows; row++) {
		const char *event = tsv_cell(&t, row, tsv_column(&t, "event"));
		bool good = parse_u64(tsv_cell(&t, row, tsv_column(&t, "bytes")), &bytes);

		bad += !good;
		for (i = 0; good && i < array_size(events); i++)
			if (!strcmp(events[i].event, event))
				ingest_metric(in, events[i].metric, "B", (double)bytes);
	}
	if (bad)
		note_add(&in->notes, socket_copies_bad_rows, bad);
	tsv_free(&t);
	return rc;
}

const struct parser parser_socket_copies = {.files = {"socket_copies.tsv"},
					    .read = socket_copies_read_file};
