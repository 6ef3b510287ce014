// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks which files name kernel addresses: kallsyms of a capture, of perf's cache and of the user,
 * with and without proof that it is the recorded kernel.
 */
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

#include "analyze/symbols/symtab.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#define KERNEL 0xffffffff81000000ULL
#define MODULE 0xffffffffc0000000ULL
#define BOOT   0x2000000ULL /* distance to the kernel's place after another boot */

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000300 T tcp_sendmsg\n"
			       "ffffffff81000a00 T _etext\n"
			       "ffffffffc0000000 t veth_xmit\t[veth]\n";

/* The notes of a kernel with this build-id of one repeated byte. */
static void write_notes(const char *name, uint8_t byte)
{
	freed(writer_free) struct writer w = {0};

	w32(&w, 4);
	w32(&w, 20);
	w32(&w, 3);
	w_bytes(&w, "GNU", 4);
	for (int i = 0; i < 20; i++)
		w_int(&w, byte, 1);
	put_bytes(name, w.out.buf, w.out.len);
}

enum { TEXT = 0x1000, TEXT_SIZE = 0xa00 }; /* place in the file */

/* The byte of code at a distance from the kernel's start. */
static uint8_t code_byte(uint64_t at)
{
	return (uint8_t)(at * 7 + (at >> 8));
}

/* Writes an ELF kernel that is linked BOOT below the place of kallsyms. `byte` 0: no build-id. */
static void write_vmlinux(const char *name, uint8_t byte)
{
	enum { NOTES = 0x1a00, SYMS = 0x1b00, NAMES = 0x1c00, SECTIONS = 0x1d00 };
	static const char names[] = "\0_text\0tcp_sendmsg\0.text\0.note\0.symtab\0.strtab";
	static uint8_t file[0x1f00];
	const uint64_t linked = KERNEL - BOOT;
	const Elf64_Shdr sections[] = {
		{0},
		{19, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, linked, TEXT, TEXT_SIZE, 0, 0, 16, 0},
		{25, byte ? SHT_NOTE : SHT_PROGBITS, SHF_ALLOC, linked + 0x2000, NOTES, 36, 0, 0, 4,
		 0},
		{31, SHT_SYMTAB, 0, 0, SYMS, 3 * sizeof(Elf64_Sym), 4, 1, 8, sizeof(Elf64_Sym)},
		{39, SHT_STRTAB, 0, 0, NAMES, sizeof(names), 0, 0, 1, 0},
	};
	const Elf64_Sym symbols[] = {
		{0},
		{1, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, 1, linked, 0},
		{7, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, linked + 0x300, 0x100},
	};

	*(Elf64_Ehdr *)file =
		(Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_EXEC,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 1,
			     .e_shoff = SECTIONS,
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = 5,
			     .e_shstrndx = 4};
	*(Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)) = (Elf64_Phdr){.p_type = PT_LOAD,
								  .p_flags = PF_R | PF_X,
								  .p_offset = TEXT,
								  .p_vaddr = linked,
								  .p_filesz = TEXT_SIZE,
								  .p_memsz = TEXT_SIZE};
	for (size_t i = 0; i < TEXT_SIZE; i++)
		file[TEXT + i] = code_byte(i);
	memcpy(file + NOTES, "\4\0\0\0\x14\0\0\0\3\0\0\0GNU", 16);
	memset(file + NOTES + 16, byte, 20);
	memcpy(file + SYMS, symbols, sizeof(symbols));
	memcpy(file + NAMES, names, sizeof(names));
	memcpy(file + SECTIONS, sections, sizeof(sections));
	put_bytes(name, file, sizeof(file));
}

static void make_folder(void)
{
	put_bytes("same/kallsyms", kallsyms, sizeof(kallsyms) - 1);
	write_notes("same/notes", 0xaa);
	put_bytes("bare/kallsyms", kallsyms, sizeof(kallsyms) - 1);
	put_bytes("new/[kernel.kallsyms]/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/kallsyms",
		  kallsyms, sizeof(kallsyms) - 1);
	write_vmlinux("elf/.build-id/aa/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/elf", 0xaa);
	write_vmlinux("debug/usr/lib/debug/boot/vmlinux-6.1", 0xaa);
	write_vmlinux("boot/boot/vmlinux-6.1", 0xaa);
	write_vmlinux("modules/usr/lib/debug/lib/modules/6.1/vmlinux", 0xaa);
	write_vmlinux("build/lib/modules/6.1/build/vmlinux", 0xaa);
	write_vmlinux("without-id", 0);
	put_bytes("core/kallsyms", kallsyms, sizeof(kallsyms) - 1);
	write_notes("core/notes", 0xaa);
	write_vmlinux("core/kcore", 0);
	write_vmlinux("root/w/prog", 0);
}

/* The header's row of the kernel. The build-id is in hexadecimal digits. */
static void w_kernel_id_of(struct writer *w, const char *id, const char *name, uint16_t mode)
{
	size_t at = w_begin(w, 67, mode);
	unsigned int byte = 0;

	w32(w, UINT32_MAX);
	for (int i = 0; i < 24; i++)
		w_int(w, i < 20 && sscanf(id + 2 * i, "%2x", &byte) == 1 ? byte : 0, 1);
	w_name(w, name);
	w_end(w, at);
}

/* The same with a build-id of one repeated byte. */
static void w_kernel_id(struct writer *w, uint8_t byte, const char *name, uint16_t mode)
{
	char id[41];

	for (int i = 0; i < 20; i++)
		snprintf(id + 2 * i, 3, "%02x", byte);
	w_kernel_id_of(w, id, name, mode);
}

static void w_release(struct writer *w, const char *release)
{
	size_t at = w_begin(w, 80, 0);

	w64(w, 4);
	w32(w, 4);
	w_bytes(w, release, 4);
	w_end(w, at);
}

/* A kernel at this place with the build-id of the captures. */
static void w_kernel(struct writer *w, uint64_t start)
{
	w_kernel_map(w, start, 0xa00, start, "[kernel.kallsyms]_text");
	w_kernel_id(w, 0xaa, "[kernel.kallsyms]", PERF_RECORD_MISC_KERNEL);
}

static void w_kernel_sample(struct writer *w, uint64_t weight, uint64_t addr)
{
	struct w_sample s = {.time = 1,
			     .period = weight,
			     .mode = PERF_RECORD_MISC_KERNEL,
			     .chain = {(uint64_t)PERF_CONTEXT_KERNEL, addr}};

	w_sample(w, &s);
}

static void read_stream(struct profile *p, const struct writer *records,
			const struct perfdata_options *o)
{
	freed(writer_free) struct writer w = {0};

	w_pipe(&w, &records->out);
	assert_int_equal(w_read(p, &w.out, o, NULL), 0);
}

/* The symbol of the row with this weight. */
static uint32_t symbol_of(const struct profile *p, uint64_t weight)
{
	size_t i;

	for (i = 0; i < p->ncosts && p->costs[i].weight != weight; i++)
		;
	assert_true(i < p->ncosts);
	return p->frames[p->costs[i].frame].symbol;
}

enum { NOTHING, CAPTURE, CACHE, NAMED, SYMFS, VMLINUX };
static const struct {
	int from;
	const char *place;
	uint8_t recorded; /* byte of the build-id; 0: none */
	bool moved;	  /* the recorded boot had the kernel elsewhere */
	enum unresolved why;
	const char *note; /* the note, or NULL without one */
} proofs[] = {
	{CAPTURE, "same", 0xaa, false, RESOLVED, NULL},
	{CAPTURE, "same", 0xaa, true, RESOLVED, NULL},
	{CAPTURE, "same", 0xbb, false, UNRESOLVED_MISMATCH,
	 "recorded on the kernel with build-id bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, "
	 "the capture has aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; give its kallsyms"},
	{CAPTURE, "same", 0, false, RESOLVED, NULL},
	{CAPTURE, "same", 0, true, UNRESOLVED_NO_SYMBOLS,
	 "nothing proves that the kernel of the capture is the recorded one (no build-id, "
	 "and _text lies elsewhere)"},
	{CAPTURE, "bare", 0xaa, false, RESOLVED, NULL},
	{CAPTURE, "bare", 0xaa, true, UNRESOLVED_NO_SYMBOLS, "nothing proves that"},
	{CAPTURE, "none", 0xaa, false, UNRESOLVED_NO_SYMBOLS,
	 "no kallsyms of the recorded host; give it with --kallsyms"},
	{NOTHING, "", 0xaa, false, UNRESOLVED_NO_SYMBOLS, "no kallsyms of the"},
	{CACHE, "new", 0xaa, true, RESOLVED, NULL},
	{CACHE, "new", 0xbb, false, UNRESOLVED_NO_SYMBOLS, "no kallsyms of the"},
	{CACHE, "new", 0, false, UNRESOLVED_NO_SYMBOLS, "no kallsyms of the"},
	{NAMED, "bare/kallsyms", 0xbb, true, RESOLVED, NULL},
	{CACHE, "elf", 0xaa, false, RESOLVED, NULL},
	{SYMFS, "debug", 0xaa, false, RESOLVED, NULL},
	{SYMFS, "boot", 0xaa, false, RESOLVED, NULL},
	{SYMFS, "modules", 0xaa, true, RESOLVED, NULL},
	{SYMFS, "build", 0xaa, false, RESOLVED, NULL},
	{SYMFS, "boot", 0, false, UNRESOLVED_NO_SYMBOLS, "no kallsyms of the"},
	{SYMFS, "boot", 0xbb, false, UNRESOLVED_MISMATCH,
	 "/boot/boot/vmlinux-6.1 has aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	{VMLINUX, "without-id", 0, false, RESOLVED, NULL},
	{VMLINUX, "boot/boot/vmlinux-6.1", 0, true, RESOLVED, NULL},
	{VMLINUX, "without-id", 0xaa, false, UNRESOLVED_MISMATCH, "without-id has none"},
	{VMLINUX, "none", 0, false, UNRESOLVED_NO_SYMBOLS, "none: cannot open"},
	{NAMED, "none", 0xbb, false, UNRESOLVED_NO_SYMBOLS, "none: cannot open"},
};

TEST(kernel_symbols_need_proof)
{
	for (size_t i = 0; i < array_size(proofs); i++) {
		uint64_t at = KERNEL - (proofs[i].moved ? BOOT : 0);
		autofree char *path = xasprintf("%s/%s", dir, proofs[i].place);
		struct perfdata_options o = {
			.threads = 1,
			.host_dir = proofs[i].from == CAPTURE ? path : NULL,
			.buildid_dir = proofs[i].from == CACHE ? path : NULL,
			.kallsyms = proofs[i].from == NAMED ? path : NULL,
			.symfs = proofs[i].from == SYMFS ? path : NULL,
			.vmlinux = proofs[i].from == VMLINUX ? path : NULL,
		};
		freed(writer_free) struct writer records = {0};
		freed(profile_free) struct profile p;

		w_kernel_map(&records, at, 0xa00, at, "[kernel.kallsyms]_text");
		w_kernel_map(&records, MODULE, 0x1000, 0, "[veth]");
		w_kernel_map(&records, MODULE - BOOT, 0x20, 0, "[veth]");
		w_release(&records, "6.1");
		w_kernel_id(&records, 0xcc, "[kernel.kallsyms]", PERF_RECORD_MISC_USER);
		w_kernel_id(&records, 0xcc, "/lib/veth.ko", PERF_RECORD_MISC_KERNEL);
		if (proofs[i].recorded)
			w_kernel_id(&records, proofs[i].recorded,
				    i % 2 ? "[kernel.kallsyms]" : "/boot/vmlinux-6",
				    PERF_RECORD_MISC_KERNEL);
		w_kernel_sample(&records, 1, at + 0x310);
		w_kernel_sample(&records, 2, MODULE + 0x10);
		w_kernel_sample(&records, 4, MODULE - 0x10);
		w_kernel_sample(&records, 8, MODULE - BOOT + 0x18);
		read_stream(&p, &records, &o);
		assert_string_equal(profile_symbol_name(&p, symbol_of(&p, 1)),
				    proofs[i].why ? "0x310" : "tcp_sendmsg");
		assert_int_equal(p.symbols[symbol_of(&p, 1)].unresolved, proofs[i].why);
		assert_string_equal(profile_symbol_dso(&p, symbol_of(&p, 1)), "[kernel.kallsyms]");
		/* modules lie elsewhere after another boot, and an ELF kernel has none */
		assert_string_equal(profile_symbol_name(&p, symbol_of(&p, 2)),
				    !proofs[i].why && !proofs[i].moved && proofs[i].from == CAPTURE
					    ? "veth_xmit"
					    : "0x10");
		assert_string_equal(profile_symbol_dso(&p, symbol_of(&p, 2)), "[veth]");
		assert_string_equal(profile_symbol_dso(&p, symbol_of(&p, 4)), "[unknown]");
		assert_int_not_equal(p.symbols[symbol_of(&p, 8)].unresolved, RESOLVED);
		if (!proofs[i].note)
			assert_null(p.kernel_note);
		else
			assert_non_null(strstr(p.kernel_note, proofs[i].note));
	}
}

/* Without an address to compare, the kernel with the recorded build-id lies where kallsyms says. */
TEST(kernel_without_an_address_lies_where_kallsyms_says)
{
	autofree char *host = xasprintf("%s/same", dir);
	const struct perfdata_options o = {.threads = 1, .host_dir = host};
	freed(writer_free) struct writer records = {0};
	freed(profile_free) struct profile p;

	w_kernel_map(&records, KERNEL, 0xa00, 0, "[kernel.kallsyms]");
	w_kernel_id(&records, 0xaa, "[kernel.kallsyms]", PERF_RECORD_MISC_KERNEL);
	w_kernel_sample(&records, 1, KERNEL + 0x2ff);
	w_kernel_sample(&records, 2, KERNEL + 0x300);
	read_stream(&p, &records, &o);
	assert_string_equal(profile_symbol_name(&p, symbol_of(&p, 1)), "_text");
	assert_string_equal(profile_symbol_name(&p, symbol_of(&p, 2)), "tcp_sendmsg");
}

/* A mapping with a build-id counts before the header's row. */
TEST(mapping_has_the_build_id_of_the_kernel)
{
	autofree char *host = xasprintf("%s/same", dir);
	const struct perfdata_options o = {.threads = 1, .host_dir = host};

	for (int byte = 0xaa; byte <= 0xab; byte++) {
		freed(writer_free) struct writer records = {0};
		size_t at = w_begin(&records, PERF_RECORD_MMAP2, PERF_RECORD_MISC_KERNEL | 1 << 14);
		freed(profile_free) struct profile p;

		w32(&records, UINT32_MAX);
		w32(&records, 0);
		w64(&records, KERNEL);
		w64(&records, 0xa00);
		w64(&records, KERNEL);
		w_int(&records, 20, 1);
		w_bytes(&records, "\0\0", 3);
		for (int i = 0; i < 20; i++)
			w_int(&records, (uint64_t)byte, 1);
		w64(&records, 5);
		w_name(&records, "[kernel.kallsyms]_text");
		w_trailer(&records, 0, 0, 0);
		w_end(&records, at);
		w_kernel_id(&records, 0xcc, "[kernel.kallsyms]", PERF_RECORD_MISC_KERNEL);
		w_kernel_sample(&records, 1, KERNEL + 0x310);
		read_stream(&p, &records, &o);
		assert_int_equal(p.symbols[symbol_of(&p, 1)].unresolved,
				 byte == 0xaa ? RESOLVED : UNRESOLVED_MISMATCH);
	}
}

/* The symbol that the recording names gives the distance to the linked addresses. */
TEST(vmlinux_needs_the_symbol_of_the_recording)
{
	static const struct {
		const char *map;
		bool known;
	} rows[] = {
		{"[kernel.kallsyms]_text", true},
		{"[kernel.kallsyms]_stext", false},
		{"[kernel.kallsyms]", false},
	};
	autofree char *vmlinux = xasprintf("%s/without-id", dir);
	const struct perfdata_options o = {.threads = 1, .vmlinux = vmlinux};

	for (size_t i = 0; i < array_size(rows); i++) {
		const char *symbol = strchr(rows[i].map, ']') + 1;
		char *note = xasprintf("%s or the recording lacks the address of %s", vmlinux,
				       *symbol ? symbol : "_text");
		freed(writer_free) struct writer records = {0};
		freed(profile_free) struct profile p;

		w_kernel_map(&records, KERNEL, 0xa00, KERNEL, rows[i].map);
		/* only the first counts */
		w_kernel_map(&records, KERNEL + 0x100, 0xa00, KERNEL + 0x100,
			     i ? rows[i].map : "[kernel.kallsyms]_stext");
		w_kernel_sample(&records, 1, KERNEL + 0x310);
		read_stream(&p, &records, &o);
		assert_string_equal(profile_symbol_name(&p, symbol_of(&p, 1)),
				    rows[i].known ? "tcp_sendmsg"
				    : i == 2	  ? "0x210"
						  : "0x310");
		if (rows[i].known)
			assert_null(p.kernel_note);
		else
			assert_non_null(strstr(p.kernel_note, note));
		free(note);
	}
}

/* A recording of this host, where the copy of kallsyms has another name than the kernel itself. */
TEST(kallsyms_that_perf_saved_since_the_boot_name_the_kernel_itself)
{
	static const struct {
		uint64_t outside; /* the address of another sample; 0: none */
		uint64_t shift;	  /* _text in the copy is that far above its real address */
		bool old, called; /* called: `outside` is a caller */
		bool saved;	  /* the copy gives the names */
	} cases[] = {{.saved = true},
		     {.outside = MODULE + 0x10},
		     {.outside = MODULE + 0x10, .called = true},
		     {.outside = KERNEL - 0x1000000000},
		     {.shift = BOOT},
		     {.old = true}};
	static const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	const struct perfdata_options o = {.threads = 1, .use_this_host = true};
	autofree char *path = NULL;
	struct error err = {0};
	uint64_t text;
	char id[65];

	if (!notes_build_id("/sys/kernel/notes", id, &err) ||
	    !kallsyms_address("/proc/kallsyms", "_text", &text, &err) || !text)
		skip();
	path = xasprintf("%s/.debug/[kernel.kallsyms]/%s/kallsyms", dir, id);
	setenv("HOME", dir, 1);
	for (size_t i = 0; i < array_size(cases); i++) {
		uint64_t at = text + cases[i].shift;
		autofree char *saved = xasprintf(
			"%" PRIx64 " T _text\n%" PRIx64 " T saved_name\n%" PRIx64 " T _end\n%s", at,
			at + 0x300, at + 0xa00, strstr(kallsyms, "ffffffffc"));
		struct w_sample s = {
			.time = 1,
			.period = 2,
			.mode = PERF_RECORD_MISC_KERNEL,
			.chain = {(uint64_t)PERF_CONTEXT_KERNEL, text + 0x310, cases[i].outside}};
		freed(writer_free) struct writer records = {0};
		freed(profile_free) struct profile p;

		put_bytes(path + strlen(dir) + 1, saved, strlen(saved));
		if (cases[i].old)
			assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
		w_kernel_map(&records, text, 0xa00, text, "[kernel.kallsyms]_text");
		w_kernel_id_of(&records, id, "[kernel.kallsyms]", PERF_RECORD_MISC_KERNEL);
		w_kernel_sample(&records, 1, text + 0x310);
		if (cases[i].called)
			w_sample(&records, &s);
		else if (cases[i].outside)
			w_kernel_sample(&records, 2, cases[i].outside);
		read_stream(&p, &records, &o);
		assert_null(p.kernel_note);
		assert_int_equal(!strcmp(profile_symbol_name(&p, symbol_of(&p, 1)), "saved_name"),
				 cases[i].saved);
	}
}

/* perf has no records of modules and BPF programs that were loaded before it began. */
TEST(kallsyms_name_what_was_not_recorded)
{
	static const char text[] = "ffffffff81000000 T _text\n"
				   "ffffffff81000300 T tcp_sendmsg\n"
				   "ffffffff81000a00 T _etext\n"
				   "ffffffffc0000000 t veth_xmit\t[veth]\n"
				   "ffffffffc0000100 t veth_end\t[veth]\n"
				   "ffffffffc1000000 t bpf_prog_1_drop\t[bpf]\n"
				   "ffffffffc1000100 t bpf_prog_2_last\t[bpf]\n";
	autofree char *host = xasprintf("%s/early", dir);
	const struct perfdata_options o = {.threads = 1, .host_dir = host};
	int recorded; /* bits: a module elsewhere, a program elsewhere */

	put_bytes("early/kallsyms", text, sizeof(text) - 1);
	for (recorded = 0; recorded < 4; recorded++) {
		freed(writer_free) struct writer records = {0};
		freed(profile_free) struct profile p;

		w_kernel_map(&records, KERNEL, 0xa00, KERNEL, "[kernel.kallsyms]_text");
		if (recorded & 1)
			w_kernel_map(&records, MODULE + 0x10000, 0x1000, 0, "[nf]");
		if (recorded & 2)
			w_ksymbol(&records, 0, MODULE + 0x2000000, 64, false, "bpf_prog_3");
		w_kernel_sample(&records, 1, MODULE + 0x10);
		w_kernel_sample(&records, 2, MODULE + 0x1000010);
		read_stream(&p, &records, &o);
		assert_string_equal(profile_symbol_dso(&p, symbol_of(&p, 1)),
				    recorded & 1 ? "[unknown]" : "[veth]");
		assert_string_equal(profile_symbol_dso(&p, symbol_of(&p, 2)),
				    recorded & 2 ? "[unknown]" : "bpf_prog_1_drop");
		if (!(recorded & 1))
			assert_string_equal(profile_symbol_name(&p, symbol_of(&p, 1)), "veth_xmit");
		if (!(recorded & 2))
			assert_string_equal(profile_symbol_name(&p, symbol_of(&p, 2)),
					    "bpf_prog_1_drop");
	}
}

/* The header's row of a file. */
static void w_file_id(struct writer *w, uint8_t byte, const char *name)
{
	w_kernel_id(w, byte, name, PERF_RECORD_MISC_USER);
}

/* The note has the number of files, and the reason for the first. */
TEST(files_of_other_builds_are_noted)
{
	autofree char *root = xasprintf("%s/builds", dir);
	const struct perfdata_options o = {.threads = 1, .symfs = root};

	for (size_t n = 1; n < 4; n++) {
		autofree char *file = xasprintf("builds/w/p%zu", n - 1), *start;
		freed(writer_free) struct writer records = {0};
		freed(profile_free) struct profile p;

		write_vmlinux(file, 0xaa);
		for (size_t i = 0; i < n; i++) {
			autofree char *name = xasprintf("/w/p%zu", i);

			w_file_id(&records, 0xbb, name);
			w_mmap2(&records, 0, 200, 0x400000 + i * 0x10000, 0x1000, TEXT, name);
		}
		for (size_t i = 0; i < n; i++)
			w_add_sample(&records, 1ULL << i, 1, 200, 0x400310 + i * 0x10000);
		read_stream(&p, &records, &o);
		assert_int_equal(p.symbols[symbol_of(&p, 1)].unresolved, UNRESOLVED_MISMATCH);
		start = n > 1 ? xasprintf("symbols of %zu files are not used: %s/w/p0: ", n, root)
			      : xasprintf("%s/w/p0: ", root);
		assert_ptr_equal(strstr(p.dso_note, start), p.dso_note);
	}
}

/* A name of up to 4096 bytes is whole. A longer one ends with dots, between two characters. */
TEST(long_names_are_cut)
{
	static const struct {
		size_t len;
		const char *end; /* the end of the name */
		size_t cut_len;	 /* with the dots; 0: it is whole */
	} cases[] = {
		{4096, "", 0},
		{4097, "", 4096},
		{5000, "", 4096},
		/* a character of two bytes at the limit, 4093 */
		{4093, "\u00e9\u00e9", 4096},
		{4092, "\u00e9\u00e9\u00e9", 4095},
		{4091, "\u20ac\u20ac", 4094},
	};
	autofree char *host = xasprintf("%s/long", dir);
	const struct perfdata_options o = {.threads = 1, .host_dir = host};
	freed(writer_free) struct writer records = {0};
	freed(str_free) struct str map = {0};
	freed(profile_free) struct profile p;

	str_puts(&map, "ffffffff81000000 T _text\n");
	w_kernel_map(&records, KERNEL, 0xa00, KERNEL, "[kernel.kallsyms]_text");
	for (size_t i = 0; i < array_size(cases); i++) {
		str_printf(&map, "%llx T %zu", KERNEL + 0x10 * (i + 1), i);
		for (size_t k = 1; k < cases[i].len; k++)
			str_putc(&map, 'x');
		str_printf(&map, "%s\n", cases[i].end);
		w_kernel_sample(&records, 1ULL << i, KERNEL + 0x10 * (i + 1));
	}
	w_kernel_id(&records, 0xaa, "[kernel.kallsyms]", PERF_RECORD_MISC_KERNEL);
	put_bytes("long/kallsyms", map.buf, map.len);
	write_notes("long/notes", 0xaa);
	read_stream(&p, &records, &o);
	for (size_t i = 0; i < array_size(cases); i++) {
		const char *name = profile_symbol_name(&p, symbol_of(&p, 1ULL << i));

		assert_int_equal(*name, '0' + i);
		assert_int_equal(strlen(name), cases[i].cut_len ? cases[i].cut_len : cases[i].len);
		assert_int_equal(str_ends(name, "..."), cases[i].cut_len > 0);
	}
}

static void check_spot(const struct profile *p, size_t i, const char *event, uint64_t offset,
		       uint64_t samples, uint64_t weight)
{
	const struct profile_spot *s = &p->spots[i];

	assert_string_equal(intern_get(&p->strings, p->events[s->event].name), event);
	assert_string_equal(profile_symbol_name(p, s->symbol), "tcp_sendmsg");
	assert_int_equal(s->offset, offset);
	assert_int_equal(s->samples, samples);
	assert_int_equal(s->weight, weight);
	assert_int_equal(s->line, PROFILE_NONE);
}

/*
 * Samples of one function in the kernel or in a program, of two events: two at one instruction with
 * two callers, one behind it and one at its last byte. One more is below the first symbol.
 */
static void w_spots(struct writer *w, uint64_t start, bool user, uint64_t last)
{
	static const uint64_t ids[] = {W_EVENT_ID, W_OTHER_ID};
	const uint64_t at[] = {0x310, 0x314, 0x310, last, (uint64_t)-0x200};

	for (size_t i = 0; i < array_size(at); i++)
		for (size_t k = 0; k < 2; k++) {
			struct w_sample s = {.time = i + 1,
					     .period = (k ? 100 : 1) << i,
					     .pid = 200,
					     .tid = 200,
					     .mode = user ? PERF_RECORD_MISC_USER
							  : PERF_RECORD_MISC_KERNEL,
					     .chain = {user ? (uint64_t)PERF_CONTEXT_USER
							    : (uint64_t)PERF_CONTEXT_KERNEL,
						       start + at[i], start + 0x20 + i},
					     .id = ids[k]};

			w_sample(w, &s);
		}
}

static void check_spots(const struct str *file, const struct perfdata_options *o, uint64_t last,
			uint64_t code_at, size_t code_size)
{
	freed(profile_free) struct profile p;

	assert_int_equal(w_read(&p, file, o, NULL), 0);
	assert_int_equal(p.nspots, 6);
	for (uint64_t k = 0; k < 2; k++) {
		const char *event = k ? intern_get(&p.strings, p.events[1].name)
				      : intern_get(&p.strings, p.events[0].name);

		check_spot(&p, 3 * k, event, 0x10, 2, (k ? 100 : 1) * 5);
		check_spot(&p, 3 * k + 1, event, 0x14, 1, (k ? 100 : 1) * 2);
		check_spot(&p, 3 * k + 2, event, last - 0x300, 1, (k ? 100 : 1) * 8);
	}
	assert_int_equal(p.ncodes, code_size > 0);
	if (code_size) {
		assert_int_equal(p.codes[0].symbol, p.spots[0].symbol);
		assert_int_equal(p.codes[0].at, code_at);
		assert_int_equal(p.codes[0].size, code_size);
		for (size_t i = 0; i < code_size; i++)
			assert_int_equal(p.codes[0].bytes[i], code_byte(0x300 + i));
	}
}

/* The code is that of the vmlinux, of the capture's copy of kernel memory, or of the program. */
TEST(spots_are_instructions_of_a_function)
{
	enum { VMLINUX, CORE, NO_CORE, PROGRAM };
	const uint64_t moved = KERNEL - BOOT;
	char *paths[] = {xasprintf("%s/without-id", dir), xasprintf("%s/core", dir),
			 xasprintf("%s/same", dir), xasprintf("%s/root", dir)};

	for (int from = VMLINUX; from <= PROGRAM; from++) {
		struct perfdata_options o = {
			.threads = 1,
			.spots = true,
			.vmlinux = from == VMLINUX ? paths[from] : NULL,
			.host_dir = from == CORE || from == NO_CORE ? paths[from] : NULL,
			.symfs = from == PROGRAM ? paths[from] : NULL,
		};
		uint64_t at = from == VMLINUX ? moved + 0x1000 : moved;
		uint64_t last = from == CORE || from == NO_CORE ? 0x9ff : 0x3ff;
		struct writer records = {0}, w = {0};

		if (from == PROGRAM) {
			at = 0x400000;
			w_mmap2(&records, 0, 200, at, 0x1000, TEXT, "/w/prog");
		} else {
			w_kernel_map(&records, at, 0xa00, at, "[kernel.kallsyms]_text");
		}
		if (from == CORE || from == NO_CORE)
			w_kernel_id(&records, 0xaa, "[kernel.kallsyms]", PERF_RECORD_MISC_KERNEL);
		w_spots(&records, at, from == PROGRAM, last);
		w_pipe(&w, &records.out);
		check_spots(&w.out, &o, last,
			    from == VMLINUX   ? moved + 0x300
			    : from == PROGRAM ? TEXT + 0x300
					      : KERNEL + 0x300,
			    from == NO_CORE ? 0 : last + 1 - 0x300);
		str_free(&records.out);
		str_free(&w.out);
		free(paths[from]);
	}
}

/* Functions of two objects are sampled in turn. The code of each object is together. */
TEST(code_is_in_the_order_of_objects)
{
	static const uint64_t at[] = {0x910, 0x10, 0x310};
	autofree char *core = xasprintf("%s/core", dir), *root = xasprintf("%s/root", dir);
	const struct perfdata_options o = {
		.threads = 1, .spots = true, .host_dir = core, .symfs = root};
	freed(writer_free) struct writer records = {0};
	freed(profile_free) struct profile p;

	w_kernel(&records, KERNEL - BOOT);
	w_mmap2(&records, 0, 200, 0x400000, 0x1000, TEXT, "/w/prog");
	w_add_sample(&records, 4, 1, 200, 0x400310);
	each (c, at) {
		w_kernel_sample(&records, 1, KERNEL - BOOT + *c);
		w_add_sample(&records, 4, 1, 200, 0x400310);
	}
	read_stream(&p, &records, &o);
	assert_int_equal(p.nspots, 4);
	assert_int_equal(p.ncodes, 3);
	for (size_t i = 0; i < 3; i++) {
		static const char *const dsos[] = {"/w/prog", "[kernel.kallsyms]",
						   "[kernel.kallsyms]"};

		assert_string_equal(profile_symbol_dso(&p, p.codes[i].symbol), dsos[i]);
		for (size_t k = 0; k < p.codes[i].size; k++) {
			uint64_t start = i ? p.codes[i].at - KERNEL : p.codes[i].at - TEXT;

			assert_int_equal(p.codes[i].bytes[k], code_byte(start + k));
		}
	}
	assert_int_equal(p.codes[1].size + p.codes[2].size, 0xa00);
}

/* A function below a thousandth of the weight of all samples of the event has no spots. */
TEST(cheap_functions_have_no_spots)
{
	static const struct {
		uint64_t costly, cheap[2];
		size_t nspots;
	} rows[] = {{1998, {1, 0}, 2}, {1999, {1, 0}, 1}, {2997, {1, 1}, 3}, {2998, {1, 1}, 1}};
	autofree char *host = xasprintf("%s/same", dir);
	const struct perfdata_options o = {.threads = 1, .spots = true, .host_dir = host};

	each (r, rows) {
		freed(writer_free) struct writer records = {0};
		freed(profile_free) struct profile p;

		w_kernel(&records, KERNEL);
		w_kernel_sample(&records, r->costly, KERNEL + 0x310);
		for (size_t k = 0; k < 2; k++)
			if (r->cheap[k])
				w_kernel_sample(&records, r->cheap[k], KERNEL + 0x10 + k);
		read_stream(&p, &records, &o);
		assert_int_equal(p.nspots, r->nspots);
		if (p.nspots == 1)
			assert_int_equal(p.spots[0].weight, r->costly);
	}
}

AROUND_TESTS(make_folder, NULL)
