// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/text.h"

#include "analyze/costs/costs.h"
#include "tests/unit/small_store.h"

static struct flat parsed(const char *text)
{
	struct error err = {0};
	struct flat flat;
	char *copy = strdup(text);

	if (perf_report_parse("t", copy, strlen(copy), NULL, &flat, &err))
		fail_msg("%s", err.text);
	free(copy);
	return flat;
}

static void refused(const char *text, int code, const char *says)
{
	struct error err = {0};
	struct flat flat;
	autofree char *copy = strdup(text);

	assert_int_equal(perf_report_parse("t", copy, strlen(copy), NULL, &flat, &err), -code);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
	assert_int_equal(flat.n, 0);
}

static void same(const char *a, const char *b)
{
	if (!b)
		assert_null(a);
	else if (!a || strcmp(a, b))
		fail_msg("'%s', expected '%s'", a ? a : "(none)", b);
}

static void check_row(const struct flat *f, size_t i, double total, double self, int64_t samples,
		      const char *comm, const char *dso, const char *symbol)
{
	const struct flat_row *row = &f->rows[i];

	assert_true(i < f->n);
	same(row->symbol, symbol);
	same(row->dso, dso);
	same(row->comm, comm);
	assert_int_equal(row->samples, samples);
	assert_true(row->self == self || (isnan(self) && isnan(row->self)));
	assert_true(row->total == total || (isnan(total) && isnan(row->total)));
}

TEST(stdio_table_is_read)
{
	struct flat f =
		parsed("# To display the perf.data header info\n#\n"
		       "# Total Lost Samples: 3\n#\n"
		       "# Samples: 484  of event 'cpu-clock'\n"
		       "# Event count (approx.): 242000000\n#\n"
		       "# Overhead       Samples  Command      Shared Object      Symbol\n"
		       "# ........  ............  ...........  .................  ......\n#\n"
		       "    26.45%           128  dd           [kernel.kallsyms]  [k] read_zero\n"
		       "            |\n            ---entry_SYSCALL_64\n"
		       "               |          \n"
		       "                --26.86%--ksys_read\n\n"
		       "     2.48%            12  Web Content  libstdc++.so.6     [.] "
		       "operator new(unsigned long)\n"
		       "     1.24%             6  sh           dash               [.] "
		       "0x0000000000014a9e\n"
		       "\n#\n# (Tip: Show current config key-value pairs: perf config)\n");

	assert_int_equal(f.n, 3);
	check_row(&f, 0, NAN, 26.45, 128, "dd", "[kernel.kallsyms]", "read_zero");
	check_row(&f, 1, NAN, 2.48, 12, "Web Content", "libstdc++.so.6",
		  "operator new(unsigned long)");
	check_row(&f, 2, NAN, 1.24, 6, "sh", "dash", "0x0000000000014a9e");
	assert_int_equal(f.rows[0].level, 'k');
	assert_int_equal(f.rows[1].line, 17);
	same(f.event, "cpu-clock");
	assert_true(f.samples == 484 && !f.samples_rounded && f.event_count == 242000000);
	assert_int_equal(f.lost, 3);
	assert_int_equal(f.tables, 1);
	assert_true(f.has_comm && f.has_dso && f.has_samples && f.has_self && !f.has_total);
	flat_free(&f);
}

/* Copies from the TUI, a slide or a browser have marks, commas, U+00A0, tabs and single spaces. */
TEST(copies_from_tui_slides_and_browsers_are_read)
{
	struct flat f =
		parsed("Samples: 199K of event 'cpu-cycles', Event count (approx.): 168906\n"
		       "Overhead Command Shared Object Symbol\n"
		       "+ 18,61% :18102 [kernel.kallsyms] [k] tcp_recvmsg_dmabuf\r\n"
		       "-\t8,54%\tswapper\t[idpf]\t<pre>[k] idpf_vport_splitq_napi_poll</pre>\n"
		       "+  \xc2\xa0 0,87%\xc2\xa0 :1 [kernel.kallsyms] [k]__inet_lookup\n"
		       "\xc3\xb7 \x1b[31m0.73%\x1b[m ksoftirqd/0 [kernel.vmlinux] [k] xas_load\n");

	assert_int_equal(f.n, 4);
	check_row(&f, 0, NAN, 18.61, -1, ":18102", "[kernel.kallsyms]", "tcp_recvmsg_dmabuf");
	check_row(&f, 1, NAN, 8.54, -1, "swapper", "[idpf]", "idpf_vport_splitq_napi_poll");
	check_row(&f, 2, NAN, 0.87, -1, ":1", "[kernel.kallsyms]", "__inet_lookup");
	check_row(&f, 3, NAN, 0.73, -1, "ksoftirqd/0", "[kernel.vmlinux]", "xas_load");
	assert_true(f.samples == 199000 && f.samples_rounded);
	flat_free(&f);
}

TEST(addresses_of_perf_report_v_are_skipped)
{
	struct flat f = parsed(
		"# Overhead  Command      Shared Object      Symbol\n"
		"    26.45%  swapper      [kernel.kallsyms]  0xffffffff81c00f5c k [k] native_halt\n"
		"     2.48%  Web Content  /lib/libc.so.6     0x1234             ! [.] memcpy\n"
		"     1.24%  sh           0x12               0x12               d [.] main\n");

	assert_int_equal(f.n, 3);
	check_row(&f, 0, NAN, 26.45, -1, "swapper", "[kernel.kallsyms]", "native_halt");
	check_row(&f, 1, NAN, 2.48, -1, "Web Content", "/lib/libc.so.6", "memcpy");
	check_row(&f, 2, NAN, 1.24, -1, "sh", "0x12", "main");
	flat_free(&f);
}

TEST(children_column_is_read)
{
	struct flat f = parsed("  Children      Self  Symbol                 IPC   [IPC Coverage]\n"
			       "+  100.00%     0.00%  [k] kthread            -      -            \n"
			       "-   86.37%    34.33%  [k] mlx5e_handle_rx_cqe  -      -\n"
			       "   - 29.40% napi_gro_receive\n"
			       "        24.50% netif_receive_skb_internal\n");

	assert_int_equal(f.n, 2);
	check_row(&f, 0, 100, 0, -1, NULL, NULL, "kthread");
	check_row(&f, 1, 86.37, 34.33, -1, NULL, NULL, "mlx5e_handle_rx_cqe");
	assert_int_equal(f.unmarked, 2);
	assert_true(f.has_total && f.has_self && !f.has_comm);
	flat_free(&f);
}

TEST(columns_before_and_behind_the_symbol_are_read)
{
	struct flat f = parsed("# Overhead  Symbol        Shared Object  IPC   [IPC Coverage]\n"
			       "     9.40%  [k] gen_pool  [idpf]         -      -\n");

	check_row(&f, 0, NAN, 9.4, -1, NULL, "[idpf]", "gen_pool");
	flat_free(&f);
	f = parsed("# Overhead       sys       usr        Period  CPU  Pid:Command  Symbol\n"
		   "     1.50%     1.00%     0.50%       3000000  -01    77:a b     [k] f\n");
	check_row(&f, 0, NAN, 1.5, -1, "a b", NULL, "f");
	flat_free(&f);
}

TEST(table_without_a_heading_is_read)
{
	struct flat f =
		parsed("perf report | grep 8139\n"
		       "7.15%          swapper  [kernel] [k] cp_start_xmit        [8139cp]\n"
		       "0.03%\xc2\xa0 \xc2\xa0  X  [kernel] [k] dma_map.clone.1 [8139cp]\n"
		       "0.02%     idle  [kernel] [k] f [clone .cold]\n");

	check_row(&f, 0, NAN, 7.15, -1, "swapper", "[8139cp]", "cp_start_xmit");
	check_row(&f, 1, NAN, 0.03, -1, "X", "[8139cp]", "dma_map.clone.1");
	check_row(&f, 2, NAN, 0.02, -1, "idle", "[kernel]", "f [clone .cold]");
	flat_free(&f);
	f = parsed("34.33%  mlx5e_handle_rx_cqe\n10,36 %  __build_skb\n");
	check_row(&f, 0, NAN, 34.33, -1, NULL, NULL, "mlx5e_handle_rx_cqe");
	check_row(&f, 1, NAN, 10.36, -1, NULL, NULL, "__build_skb");
	flat_free(&f);
	f = parsed("100.00%  0.10%  12 dd libc.so.6 [.] main\n");
	check_row(&f, 0, 100, 0.1, 12, "dd", "libc.so.6", "main");
	flat_free(&f);
}

TEST(only_the_first_table_is_read)
{
	struct flat f =
		parsed("# Samples: 5 of event 'cycles'\n# Overhead  Symbol\n 60.00%  [k] a\n"
		       "# Samples: 9 of event 'instructions'\n# Overhead  Symbol\n"
		       " 70.00%  [k] b\n");

	assert_int_equal(f.n, 1);
	assert_int_equal(f.tables, 2);
	same(f.event, "cycles");
	assert_true(f.samples == 5);
	flat_free(&f);
}

TEST(damaged_table_is_refused)
{
	struct flat flat;
	char binary[] = "PERFILE2\0\1\2";

	refused("", ENODATA, "t is empty");
	refused(" \n\n", ENODATA, "t is empty");
	refused("hello\nworld 5%\n", ENODATA, "perf report --stdio");
	refused("# Overhead  Shared Object\n 37.81%  libc.so.6\n", ENODATA, "line 1");
	refused("# Overhead  Symbol\n 37.81%  [k] a\n 1.00%  [k] \n", EBADMSG, "line 3: no symbol");
	refused("# Overhead  Symbol\n 3781%  [k] a\n", EBADMSG, "line 2: the share is above 100 %");
	refused("# Children  Self  Symbol\n 3.00%  103.00%  [k] a\n", EBADMSG,
		"line 2: the share is above");
	refused("# Children  Self  Symbol\n 3.00%  [k] a\n", EBADMSG,
		"line 2: the row has fewer percentages");
	refused("# Overhead  Symbol\n 3.00%  1.00%  [k] a\n", EBADMSG, "--group");
	refused("# Overhead  Command  Shared Object  Symbol\n 3.00%  dd  [k] a\n", EBADMSG,
		"line 2: the row has fewer columns");
	refused("# Overhead  Shared Object  Symbol\n 3.00%  dd  libc.so  [k] a\n", EBADMSG,
		"line 2: the row has more columns");
	refused("+ 18,61% :1 [k] a\t+ 22,57% :2 [k] b\n", EBADMSG, "side by side");
	refused("Overhead Symbol\tOverhead Symbol\n 1.00% [k] a\t1.00% [k] b\n", EBADMSG,
		"side by side");
	refused("# Overhead  Samples  Symbol\n 3.00%  x12  [k] a\n", EBADMSG, "Samples column");
	refused("# Overhead|Symbol\n 3.00% |[.] read\n", EBADMSG, "without -t");
	refused("1% 2% 3%  [k] a\n", EBADMSG, "no heading");
	refused("1%  [k] a\n1% 2% [k] b\n", EBADMSG, "line 2");
	assert_int_equal(perf_report_parse("-", binary, sizeof(binary) - 1, NULL, &flat, &err),
			 -EBADMSG);
	assert_non_null(strstr(err.text, "standard input is not text"));
	assert_non_null(strstr(err.text, "--perf"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(perf_report_parse("/nonexistent/report", NULL, 0, NULL, &flat, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/report"));
}

static struct table table_of(const struct flat *f, const struct query *q)
{
	struct query with = *q;

	with.bare.flat = f;
	return small_store_table(NULL, "functions", with);
}

static void near(double x, double y)
{
	if (!(fabs(x - y) < 1e-9 * fabs(y)) && x != y)
		fail_msg("%.12g, expected %.12g", x, y);
}

#define TWO_COMMS                                                                         \
	"# Samples: 1000 of event 'cycles'\n# Overhead  Command  Shared Object  Symbol\n" \
	" 30.00%  a  [veth]  [k] f\n 10.00%  b  [veth]  [k] f\n 60.00%  b  [veth]  [k] g\n"

TEST(functions_add_up_over_commands)
{
	freed(flat_free) struct flat f = parsed(TWO_COMMS);
	struct query q = {.work.rate = 1e7};
	struct table t = table_of(&f, &q);

	assert_int_equal(t.rows, 2); /* f of both commands is one function: 40 % of 100 ns */
	assert_float_equal(table_real(&t, 0, "self_share"), 60, 1e-9); /* sums are sorted again */
	cells_are(&t, "1 self_share = 40, 1 self_ns = 40");
	assert_true(isnan(table_interval(&t, 1, "self_ns").half)); /* one run */
	near(table_real(&t, 1, "self_sampling_error"),
	     1.959963984540054 * 100 * sqrt(0.4 * 0.6 / 1000));
	assert_true(isnan(table_real(&t, 1, "total_ns")) &&
		    isnan(table_real(&t, 1, "total_sampling_error")));
	assert_true(isnan(table_real(&t, 1, "samples")));
	small_store_says(&t, "all 2 rows: 100.00 % = 100.0 ns/packet");
	q.by = "comm";
	t = table_of(&f, &q);
	cells_are(&t, "rows = 3, 1 comm = b");
	q = (struct query){.comm = "b", .limit = 1};
	t = table_of(&f, &q);
	assert_int_equal(t.rows, 1); /* a share stays one of the whole event */
	cells_are(&t, "0 self_share = 10, 0 self_ns = -");
	small_store_says(&t, "all 2 rows: 70.00 % (the 1 shown: 10.00 %, --all shows all)");
}

/* f and g have 20 % each; the sums are sorted, because f has a row for each of two commands. */
TEST(functions_of_equal_share_stay_in_the_texts_order)
{
	struct flat f = parsed("# Overhead  Command  Symbol\n 20.00%  b  [k] g\n"
			       " 10.00%  a  [k] f\n 10.00%  b  [k] f\n 30.00%  b  [k] h\n");
	struct table t = table_of(&f, &(struct query){0});

	cells_are(&t, "0 symbol = h, 1 symbol = g, 2 symbol = f");
	flat_free(&f);
}

TEST(components_say_which_shares_have_no_name)
{
	struct flat f = parsed("# Children  Self  Symbol\n 90.00%  10.00%  [k] 0xffffffff81000000\n"
			       " 80.00%  20.00%  [k] zz_nobody_knows\n");
	struct table t = small_store_table(NULL, "components", (struct query){.bare.flat = &f});

	cells_are(&t, "rows = 1, 0 self_share = 30");
	small_store_says(&t, "unresolved addresses 10.00 %; unclassified functions 20.00 %");
	flat_free(&f);
	f = parsed("# Children  Symbol\n 90.00%  [k] 0xffffffff81000000\n 80.00%  [k] tcp_ack\n");
	t = small_store_table(NULL, "components", (struct query){.bare.flat = &f});
	assert_true(isnan(table_real(&t, 0, "self_share")));
	assert_false(small_store_noted(&t, "unresolved addresses"));
	flat_free(&f);
}

TEST(addresses_without_a_name_are_one_row_unless_all_are_wanted)
{
	struct flat f =
		parsed("# Overhead  Symbol\n 40.00%  [k] tcp_ack\n"
		       " 20.00%  [k] 0xffffffff81000000\n 10.00%  [k] 0xffffffff81000010\n");
	struct query q = {.bare.flat = &f, .by = "symbol"};
	struct table t = small_store_table(NULL, "components", q);

	cells_are(&t, "symbol = tcp_ack [unresolved], 1 self_share = 30");
	q.all = true;
	t = small_store_table(NULL, "components", q);
	small_store_column_is(&t, "symbol", "tcp_ack 0xffffffff81000000 0xffffffff81000010");
	flat_free(&f);
}

TEST(components_of_a_text_are_not_split_by_what_it_lacks)
{
	static const char *const keys[] = {"cpu", "context", "pid", "tid", "thread", "process"};
	freed(flat_free) struct flat f = parsed(TWO_COMMS);
	struct query q = {.bare.flat = &f};

	each (c, keys) {
		q.by = *c;
		small_store_refuses(NULL, "components", q, -EINVAL, "");
	}
}

TEST(costs_follow_the_basis)
{
	freed(flat_free) struct flat f = parsed(TWO_COMMS);
	struct query q = {.work.busy_ns = 4e9, .work.units = 2e7, .work.seconds = 10};
	struct table t = table_of(&f, &q);
	static const struct {
		struct query q;
		double ns;
	} small[] = {
		{{.work.rate = 0.5}, 2e9},
		{{.work.units = 0.5, .work.seconds = 0.5}, 1e9},
		{{.work.rate = 4, .work.units = 6, .work.seconds = 3}, 2.5e8},
		{{.work.busy_ns = 0.5, .work.units = 0.5}, 1},
		{{.work.busy_ns = 60, .work.rate = 10, .work.seconds = 0.5}, 12},
		{{.basis = BASIS_BUSY,
		  .work.busy_ns = 60,
		  .work.units = 5,
		  .work.rate = 10,
		  .work.seconds = 9},
		 12},
	};

	assert_float_equal(table_real(&t, 1, "self_ns"), 0.4 * 200,
			   1e-9); /* busy: 4 s for 2e7 units */
	q.basis = BASIS_WALL;
	t = table_of(&f, &q);
	assert_float_equal(table_real(&t, 1, "self_ns"), 0.4 * 500,
			   1e-9); /* wall: 2e6 units a second */
	each (c, small) {
		t = table_of(&f, &c->q);
		near(table_real(&t, 1, "self_ns"), 0.4 * c->ns);
	}
}

TEST(missing_columns_and_bases_are_refused)
{
	static const struct {
		struct query q;
		const char *says;
	} rows[] = {
		{{.by = "comm"}, "Command column"},
		{{.comm = "dd"}, "Command column"},
		{{.dso = "[veth]"}, "Shared Object column"},
		{{.by = "symbol,dso"}, "Shared Object column"},
		{{.by = "cpu"}, "--perf"},
		{{.basis = BASIS_BUSY, .work.rate = 5}, "--busy-ns"},
		{{.basis = BASIS_BUSY, .work.units = 5}, "--busy-ns"},
		{{.work.busy_ns = 5, .work.rate = 5}, "--busy-ns"},
	};
	freed(flat_free) struct flat f = parsed("34.33%  [k] a\n");
	struct query q;

	each (r, rows) {
		q = r->q;
		q.bare.flat = &f;
		small_store_refuses(NULL, "functions", q, -EINVAL, r->says);
	}
}
