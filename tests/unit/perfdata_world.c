// SPDX-License-Identifier: GPL-2.0-only
/* Checks the profile of the recording of perfdata_world.h, in every form of perf.data. */
#include "tests/unit/perfdata_world.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <sys/mman.h>

/* Functions of 0x100 bytes each, the first at 0x1000 in the file. */
static const struct object {
	const char *path, *functions[4];
} objects[] = {
	{"/w/server", {"main", "serve", "recurse"}},
	{"/w/libx.so", {"xa", "xb", "xc"}},
	{"/w/client", {"main", "ask"}},
	{"/w/liby.so", {"ya", "yb", "yc"}},
};

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 T entry_SYSCALL_64_after_hwframe\n"
			       "ffffffff81000200 T do_syscall_64\n"
			       "ffffffff81000300 T tcp_sendmsg\n"
			       "ffffffff81000400 T handle_softirqs\n"
			       "ffffffff81000500 T net_rx_action\n"
			       "ffffffff81000600 T asm_sysvec_apic_timer_interrupt\n"
			       "ffffffff81000700 T do_idle\n"
			       "ffffffff81000800 T kthread\n"
			       "ffffffff81000900 t __private\n"
			       "ffffffff81000900 T alias_wins_as_the_last\n"
			       "ffffffff81000a00 T _etext\n"
			       "ffffffffc0000000 t veth_xmit\t[veth]\n"
			       "ffffffffc0000100 t veth_poll\t[veth]\n";

/* The offsets of the parts of the ELF files here. */
enum { TEXT = 0x1000, SYMS = 0x1800, NAMES = 0x2000, SECTIONS = 0x2800, FILE_SIZE = 0x2c00 };
static const char section_names[] = "\0.text\0.symtab\0.strtab";

static void fill_symbols(uint8_t *file, const struct object *o)
{
	Elf64_Sym *sym = (Elf64_Sym *)(file + SYMS) + 1;
	char *names = (char *)file + NAMES + sizeof(section_names), *at = names;

	memcpy(file + NAMES, section_names, sizeof(section_names));
	for (size_t i = 0; i < 4 && o->functions[i]; i++, sym++) {
		*sym = (Elf64_Sym){.st_name = (uint32_t)(at - names + sizeof(section_names)),
				   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				   .st_shndx = 1,
				   .st_value = TEXT + 0x100 * i,
				   .st_size = 0x100};
		at = stpcpy(at, o->functions[i]) + 1;
	}
}

/* Makes a shared object with a text section and a symbol table only. */
static void write_object(const struct object *o)
{
	static uint8_t file[FILE_SIZE];
	const Elf64_Shdr sections[] = {
		{0},
		{1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, TEXT, 0x400, 0, 0, 16, 0},
		{7, SHT_SYMTAB, 0, 0, SYMS, 5 * sizeof(Elf64_Sym), 3, 1, 8, sizeof(Elf64_Sym)},
		{15, SHT_STRTAB, 0, 0, NAMES, 0x100, 0, 0, 1, 0},
	};
	autofree char *path = xasprintf("%s%s", dir, o->path);

	memset(file, 0, sizeof(file));
	*(Elf64_Ehdr *)file =
		(Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof(Elf64_Ehdr),
			     .e_shoff = SECTIONS,
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 1,
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = 4,
			     .e_shstrndx = 3};
	*(Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)) = (Elf64_Phdr){.p_type = PT_LOAD,
								  .p_flags = PF_R | PF_X,
								  .p_offset = TEXT,
								  .p_vaddr = TEXT,
								  .p_filesz = 0x400,
								  .p_memsz = 0x400};
	memcpy(file + SECTIONS, sections, sizeof(sections));
	fill_symbols(file, o);
	assert_int_equal(file_write(path, file, sizeof(file), NULL), 0);
}

static void make_world(void)
{
	autofree char *path = xasprintf("%s/w", dir);

	assert_int_equal(dir_make(path, NULL), 0);
	free(path);
	for (size_t i = 0; i < 4; i++)
		write_object(&objects[i]);
	path = xasprintf("%s/kallsyms", dir);
	assert_int_equal(file_write(path, kallsyms, sizeof(kallsyms) - 1, NULL), 0);
}

/* The expected rows, worked out by hand. */
static const struct expected {
	const char *dso, *symbol;
	uint64_t self, total;
} functions[] = {
	{"/w/server", "main", 0, 1000 + 4000 + 8000},
	{"/w/server", "serve", 4000, 1000 + 2000 + 4000 + 8000},
	{"/w/server", "recurse", 1000, 1000},
	{"/w/libx.so", "xa", 2000 + 8192000, 2000 + 128000 + 8192000},
	{"/w/libx.so", "xb", 64000, 64000},
	{"/w/libx.so", "xc", 0, 128000},
	{"/w/liby.so", "yb", 128000, 128000},
	{"/w/client", "main", 0, 16000 + 32000},
	{"/w/client", "ask", 16000, 16000 + 32000},
	{"[kernel.kallsyms]", "entry_SYSCALL_64_after_hwframe", 0, 8000 + 32000},
	{"[kernel.kallsyms]", "do_syscall_64", 8000, 8000 + 32000},
	{"[kernel.kallsyms]", "tcp_sendmsg", 0, 32000},
	{"[kernel.kallsyms]", "handle_softirqs", 0, 32000},
	{"[kernel.kallsyms]", "net_rx_action", 0, 32000},
	{"[veth]", "veth_poll", 32000, 32000},
	{"[kernel.kallsyms]", "do_idle", 256000, 256000 + 512000},
	{"[kernel.kallsyms]", "asm_sysvec_apic_timer_interrupt", 0, 512000},
	{"[kernel.kallsyms]", "alias_wins_as_the_last", 512000, 512000},
	{"bpf_prog_0123_drop", "bpf_prog_0123_drop", 1024000, 1024000},
	{"[kernel.kallsyms]", "kthread", 0, 1024000 + 2048000},
	{"[unknown]", "0xffffffffc1000008", 2048000, 2048000},
	{"[unknown]", "[unknown]", 4096000 + 16384000, 4096000 + 16384000},
};
enum { NFUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static const struct {
	const char *comm;
	enum context context;
	uint64_t weight;
} contexts[] = {
	{"server", CTX_USER, 1000 + 4000}, /* the child has the server's name before its exec */
	{"rx-thread", CTX_USER, 2000},
	{"client", CTX_SYSCALL, 8000},
	{"client", CTX_USER, 16000},
	{"client", CTX_SOFTIRQ_IN_SYSCALL, 32000},
	{"worker", CTX_USER, 64000 + 128000 + 4096000 + 8192000},
	{"swapper", CTX_IDLE, 256000},
	{"swapper", CTX_HARDIRQ, 512000},
	{"swapper", CTX_KTHREAD, 1024000 + 2048000},
	{":300", CTX_USER, 16384000},
};

static const char *symbol_of(const struct profile *p, uint32_t frame)
{
	return profile_symbol_name(p, p->frames[frame].symbol);
}

static bool is(const struct profile *p, uint32_t frame, const struct expected *e)
{
	return !strcmp(symbol_of(p, frame), e->symbol) &&
	       !strcmp(profile_symbol_dso(p, p->frames[frame].symbol), e->dso);
}

static void check_function(const struct profile *p, const struct expected *e)
{
	uint64_t self = 0, total = 0;
	uint32_t f;

	for (size_t i = 0; i < p->ncosts; i++) {
		if (is(p, p->costs[i].frame, e))
			self += p->costs[i].weight;
		for (f = p->costs[i].frame; f != PROFILE_NONE && !is(p, f, e);)
			f = p->frames[f].parent;
		total += f == PROFILE_NONE ? 0 : p->costs[i].weight;
	}
	if (self != e->self || total != e->total)
		print_message("# %s %s\n", e->dso, e->symbol);
	assert_int_equal(self, e->self);
	assert_int_equal(total, e->total);
}

static void check_context(const struct profile *p, size_t n)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < p->ncosts; i++)
		if (p->costs[i].context == contexts[n].context &&
		    !strcmp(intern_get(&p->strings, p->costs[i].comm), contexts[n].comm))
			weight += p->costs[i].weight;
	if (weight != contexts[n].weight)
		print_message("# %s %s\n", contexts[n].comm, context_names[contexts[n].context]);
	assert_int_equal(weight, contexts[n].weight);
}

static void check_world(const struct profile *p)
{
	uint64_t sum = 0;

	assert_int_equal(p->nevents, 2);
	assert_string_equal(intern_get(&p->strings, p->events[0].name), "cpu-clock");
	assert_true(p->events[0].is_time);
	assert_int_equal(p->events[0].samples, NSAMPLES - 1);
	for (size_t i = 0; i < NFUNCTIONS; i++) {
		check_function(p, &functions[i]);
		sum += functions[i].self;
	}
	assert_int_equal(p->events[0].weight, sum);
	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++)
		check_context(p, i);
	assert_int_equal(p->health.lost_records, 7);
	assert_int_equal(p->health.lost_samples, 3);
	assert_int_equal(p->health.unknown_ids, 1);
	assert_int_equal(p->health.bad_chains, 1);
	assert_false(p->health.truncated);
	assert_int_equal(p->first_ns, 20);
	assert_int_equal(p->last_ns, 95);
}

static int read_bytes(struct profile *p, const void *data, size_t len, struct error *err,
		      bool symbols, const struct perfdata_options *more)
{
	struct perfdata_options o = more ? *more : (struct perfdata_options){0};
	int ret, fd = memfd_create("perf.data", MFD_CLOEXEC);
	autofree char *path = xasprintf("/proc/self/fd/%d", fd),
		      *kall = xasprintf("%s/kallsyms", dir);

	assert_int_equal(write(fd, data, len), len);
	o.symfs = symbols ? dir : NULL;
	o.kallsyms = symbols ? kall : NULL;
	profile_init(p);
	ret = perfdata_read(p, path, &o, err);
	close(fd);
	return ret;
}

TEST(every_form_gives_the_same_profile)
{
	static const uint32_t attr_sizes[] = {0, 64, 72, 80, 96, 104, 112, 136, 160};
	struct profile p;
	struct str file;

	for (int bits = 0; bits < 8; bits++)
		each (c, attr_sizes) {
			file = form(bits & 1, bits & 2, bits & 4, *c);
			if (read_bytes(&p, file.buf, file.len, &err, true, NULL))
				print_message("# form %d: %s\n", bits, err.text);
			assert_int_equal(err.code, 0);
			w_save(file.buf, file.len);
			check_world(&p);
			profile_free(&p);
			str_free(&file);
		}
}

/*
 * As perf record -C 1 --tail-synthesize writes it: the client's exec on CPU 0 is not in the file,
 * an earlier exec on CPU 1 is.
 */
TEST(samples_after_a_missed_exec_have_the_name_and_program_of_the_end)
{
	static const struct w_sample sample = {
		50, 1000, CLIENT, CLIENT, 1, USER, {IN_USER, EXE + 0x110}, 0};
	freed(writer_free) struct writer records = {0}, w = {0};
	const struct profile_cost *c;
	freed(profile_free) struct profile p;
	size_t fork;

	w_comm(&records, 10, SERVER, SERVER, true, "server");
	w_task(&records, PERF_RECORD_FORK, 25, CLIENT, SERVER, CLIENT, SERVER);
	w_comm(&records, 30, CLIENT, CLIENT, true, "ip");
	w_mmap2(&records, 31, CLIENT, EXE, 0x1000, 0x1000, "/w/server");
	w_sample(&records, &sample);
	fork = records.out.len;
	w_task(&records, PERF_RECORD_FORK, 0, CLIENT, SERVER, CLIENT, SERVER);
	w_patch16(&records, fork + 4, PERF_RECORD_MISC_COMM_EXEC); /* perf wrote it */
	w_comm(&records, 0, CLIENT, CLIENT, false, "client");
	w_mmap2(&records, 0, CLIENT, EXE, 0x1000, 0x1000, "/w/client");
	w_file(&w, &records.out, 112);
	assert_int_equal(read_bytes(&p, w.out.buf, w.out.len, NULL, true, NULL), 0);
	assert_int_equal(p.ncosts, 1);
	c = &p.costs[0];
	assert_string_equal(intern_get(&p.strings, c->comm), "client");
	assert_string_equal(symbol_of(&p, c->frame), "ask");
}

/* Filters by [from, to) of perf's clock and by a set of CPUs. */
TEST(window_and_cpus_filter_samples)
{
	struct perfdata_options o = {.from_ns = 21, .to_ns = 60};
	struct cpuset one = {0};
	freed(profile_free) struct profile p;
	freed(str_free) struct str file = form(false, false, false, 112);

	assert_int_equal(read_bytes(&p, file.buf, file.len, NULL, true, &o), 0);
	assert_int_equal(p.events[0].weight, 2000 + 4000 + 8000 + 16000 + 32000);
	assert_int_equal(p.health.outside_window, NSAMPLES - 1 - 5);
	profile_free(&p);

	cpuset_add(&one, 1);
	o = (struct perfdata_options){.cpus = &one};
	assert_int_equal(read_bytes(&p, file.buf, file.len, NULL, true, &o), 0);
	assert_int_equal(p.events[0].weight, 2000 + 16000 + 32000 + 4096000 + 8192000 + 16384000);
}

/* Without symbols addresses are shown, and no file of this machine explains them. */
TEST(foreign_addresses_stay_without_names)
{
	struct perfdata_options o = {.use_this_host = true};
	freed(profile_free) struct profile p;
	freed(str_free) struct str file = form(false, false, false, 112);

	assert_int_equal(read_bytes(&p, file.buf, file.len, NULL, false, &o), 0);
	assert_non_null(p.kernel_note);
	for (size_t i = 0; i < p.nsymbols; i++)
		assert_true(p.symbols[i].unresolved ||
			    !strcmp(profile_symbol_name(&p, (uint32_t)i), "bpf_prog_0123_drop"));
}

/* Neither the recording nor the kernel's file has a build-id. */
TEST(kernel_file_without_proof_is_not_used)
{
	const struct object kernel = {"/boot/vmlinux-6.1", {"tcp_sendmsg"}};
	struct w_event e = {.sample_type = W_SAMPLE_TYPE, .id = W_EVENT_ID, .flags = W_ID_ALL};
	struct w_sample s = {.time = 1, .period = 1, .mode = KERN, .chain = {IN_KERN, KERNEL}};
	struct perfdata_options o = {.threads = 1, .symfs = dir};
	autofree char *boot = xasprintf("%s/boot", dir);
	freed(writer_free) struct writer w = {0};
	freed(profile_free) struct profile p;
	size_t at;

	assert_int_equal(dir_make(boot, NULL), 0);
	write_object(&kernel);
	w_stream_head(&w, &e, 1);
	at = w_begin(&w, 80, 0);
	w64(&w, 4); /* HEADER_OSRELEASE */
	w32(&w, 8);
	w_bytes(&w, "6.1\0\0\0\0", 8);
	w32(&w, 0);
	w_end(&w, at);
	w_sample(&w, &s);
	assert_int_equal(w_read(&p, &w.out, &o, NULL), 0);
	assert_int_equal(p.ncosts, 1);
	assert_true(p.symbols[p.frames[p.costs[0].frame].symbol].unresolved);
	assert_non_null(p.kernel_note);
}

/* The samples with whole records before the cut count. */
TEST(samples_before_the_cut_count)
{
	freed(str_free) struct str file = form(false, false, false, 112);
	freed(profile_free) struct profile p;

	assert_int_equal(read_bytes(&p, file.buf, file.len - 400, NULL, true, NULL), 0);
	assert_true(p.health.truncated);
	assert_non_null(strstr(p.health.why, "the file ends before its data does"));
	assert_in_range(p.events[0].samples, NSAMPLES - 6, NSAMPLES - 2);
	check_function(&p, &functions[2]);
}

static void check_message(const char *data, size_t len, const char *expected)
{
	struct error err = {0};
	freed(profile_free) struct profile p;

	assert_true(read_bytes(&p, data, len, &err, false, NULL) < 0);
	if (!strstr(err.text, expected))
		print_message("# %s\n", err.text);
	assert_non_null(strstr(err.text, expected));
}

TEST(messages_name_the_cause_and_the_way_out)
{
	static const char text[] = "# Overhead  Command\n 12.3% swapper\n";
	static const char script[] = "import os\nprint('%d' % os.getpid())\n";

	check_message("", 0, "is empty");
	check_message(text, sizeof(text) - 1, "is not a perf.data file (starts with \"# Overhead");
	check_message(text, sizeof(text) - 1, "; texts have options of their own: --perf-report");
	check_message(script, sizeof(script) - 1,
		      "\"import os\"); texts have options of their own: --perf-report");
	check_message("PERFILE2", 8, "is not a perf.data file");
	check_message("PERFILE2\x68\0\0\0\0\0\0\0", 16, "ends inside its header");
	check_message("PERFILE2\x10\0\0\0\0\0\0", 15, "is not a perf.data file");
	check_message("PERFILE2\x10\0\0\0\0\0\0\0", 16, "describes no event");
	check_message("\001abcdefghijklmnopqrstuvwxyz", 27, "\".abcdefghijklmnopqrstuv\")");
	check_message("ab", 2, "\"ab\")");
}

enum { DATA_SIZE = 48, IDS_SIZE = 120 + 64 + 8 }; /* places in a file */

/* Writes one sample as a file, with a number of the header replaced. */
static void check_header(size_t at, uint64_t value, const char *why, uint64_t offset)
{
	freed(writer_free) struct writer records = {0}, w = {0}, number = {0};
	freed(profile_free) struct profile p;
	autofree char *end;

	w_add_sample(&records, 5, 1, 1, 0x1000);
	w_file(&w, &records.out, 0);
	if (value == UINT64_MAX)
		value = w.out.len + 1;
	w64(&number, value);
	if (at)
		memcpy(w.out.buf + at, number.out.buf, 8);
	end = xasprintf("%s at offset %llu;", why,
			(unsigned long long)(offset ? offset : w.out.len));
	assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
	assert_int_equal(p.events[0].weight, at == IDS_SIZE ? 0 : 5); /* whose sample is it? */
	assert_int_equal(p.health.truncated, *why != '\0');
	if (*why)
		assert_non_null(strstr(p.health.why, end));
}

TEST(damaged_header_is_named)
{
	check_header(0, 0, "", 1);
	check_header(DATA_SIZE, 0, "the header has no size of the data,", 40);
	check_header(DATA_SIZE, UINT64_MAX, "the file ends before its data does,", 0);
	check_header(IDS_SIZE, 1 << 20, "an event's ids lie past the end of the file", 104);
}

/* What the last bytes of a stream say. The sample before them counts. */
TEST(last_record_of_a_stream_is_checked)
{
	static const struct {
		uint16_t size;
		size_t len; /* the length of what there is of it */
		const char *why;
	} rows[] = {
		{8, 8, NULL},
		{16, 16, NULL},
		{7, 8, "a record of impossible size"},
		{0, 8, "a record of impossible size"},
		{7, 16, "a record of impossible size"},
		{9, 8, "the last record is cut off"},
		{16, 15, "the last record is cut off"},
		{8, 7, "the last record is cut off"},
		{0, 1, "the last record is cut off"},
	};
	size_t at;

	each (r, rows) {
		freed(writer_free) struct writer records = {0}, w = {0};
		freed(profile_free) struct profile p;
		autofree char *end;

		w_add_sample(&records, 5, 1, 1, 0x1000);
		w_pipe(&w, &records.out);
		at = w.out.len;
		w_begin(&w, 68, 0);
		w_patch16(&w, at + 6, r->size);
		w64(&w, 0);
		w.out.len = at + r->len;
		end = xasprintf("%s at offset %zu;", r->why ? r->why : "", at);
		assert_int_equal(w_read(&p, &w.out, NULL, NULL), 0);
		assert_int_equal(p.events[0].weight, 5);
		assert_int_equal(p.health.truncated, r->why != NULL);
		if (r->why)
			assert_non_null(strstr(p.health.why, end));
	}
}

AROUND_TESTS(make_world, NULL)
