// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks unwinding: registers of each machine, address spaces at any time, and whole
 * recordings of x86-64 and aarch64 (both byte orders). The objects and stacks are made here,
 * so every word is known.
 */
#include "analyze/perfdata/sideband.h"
#include "analyze/perfdata/unwind.h"
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

#include <dwarf.h>
#include <elf.h>

static struct unwind_regs take(const struct unwind_arch *arch, uint64_t mask, const uint64_t *v,
			       size_t n, bool *ok)
{
	struct unwind_regs regs;

	*ok = unwind_regs_read(&regs, arch, mask, cursor_of(v, n * 8, false));
	return regs;
}

/* Each value is perf's number of the register. */
TEST(x86_registers_are_read)
{
	static const uint8_t dwarf_64[] = {0,  3,  2,  1,  4,  5,  6,  7, 16,
					   17, 18, 19, 20, 21, 22, 23, 8};
	const struct unwind_arch *arch = unwind_arch_find("x86_64", PERF_SAMPLE_REGS_ABI_64);
	uint64_t mask = 0xff0fff, v[20], n = 0, i; /* without ds, es, fs, gs, as perf records */
	struct unwind_regs regs;
	bool ok;

	for (i = 0; i < 64; i++)
		if (mask >> i & 1)
			v[n++] = i;
	regs = take(arch, mask, v, n, &ok);
	assert_true(ok);
	for (i = 0; i < sizeof(dwarf_64); i++)
		assert_int_equal(regs.value[i], dwarf_64[i]);
	assert_int_equal(regs.pc, 8);
}

TEST(aarch64_registers_are_read)
{
	const struct unwind_arch *arch = unwind_arch_find("aarch64", PERF_SAMPLE_REGS_ABI_64);
	struct unwind_regs regs;
	uint64_t v[33];
	bool ok;

	for (uint64_t i = 0; i < 33; i++)
		v[i] = i;
	v[32] = 0xff7f123456789abcULL; /* a pointer signature above 48 bits */
	regs = take(arch, 0x1ffffffff, v, 33, &ok);
	assert_true(ok);
	for (uint64_t i = 0; i < 32; i++)
		assert_int_equal(regs.value[i], i);
	assert_int_equal(regs.pc, 0x123456789abc);
	assert_null(unwind_arch_find("aarch64", PERF_SAMPLE_REGS_ABI_32));
}

TEST(missing_registers_are_refused)
{
	const struct unwind_arch *arch = unwind_arch_find("x86_64", PERF_SAMPLE_REGS_ABI_64);
	const uint64_t v[] = {1, 2, 3};
	struct unwind_regs regs;
	bool ok;

	regs = take(arch, 1 << 6 | 1 << 7 | 1 << 8, v, 3, &ok); /* bp, sp, ip */
	assert_true(ok);
	assert_int_equal(regs.value[6], 1);
	assert_int_equal(regs.value[7], 2);
	assert_int_equal(regs.pc, 3);
	assert_false(unwind_reg_known(&regs, 0));
	take(arch, 1 << 6 | 1 << 7, v, 2, &ok); /* no ip */
	assert_false(ok);
	take(arch, 1 << 6 | 1 << 8, v, 2, &ok); /* no sp */
	assert_false(ok);
	take(arch, 0xff0fff, v, 3, &ok); /* the mask has more registers than there are values */
	assert_false(ok);
	take(arch, 0, v, 3, &ok);
	assert_false(ok);
	assert_null(unwind_arch_find(NULL, PERF_SAMPLE_REGS_ABI_64));
	assert_null(unwind_arch_find("s390x", PERF_SAMPLE_REGS_ABI_64));
	assert_null(unwind_arch_find("x86_64", 0));
	assert_null(unwind_arch_find("x86_64", 3));
	assert_null(unwind_arch_find("x86_64", UINT64_MAX));
}

static unsigned int dice(unsigned int sides)
{
	static uint64_t seed = 42;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)(seed >> 33) % sides;
}

/*
 * The first records are those that perf synthesizes, without a time. Then threads start and
 * processes end.
 */
static void random_row(struct sideband *side, uint64_t order, uint64_t time)
{
	struct side_row row = {.time = time, .order = order, .pid = 1 + dice(8)};
	struct side_map map = {.start = 0x1000ULL * dice(16)};

	row.tid = row.pid;
	if (dice(6)) {
		map.end = map.start + 0x1000ULL * (1 + dice(6));
		map.pgoff = 0x100000ULL * dice(100);
		row.kind = SIDE_MAP;
		row.what = sideband_add_map(side, &map);
	} else {
		row.kind = SIDE_FORK;
		row.ppid = row.ptid = 1 + dice(8);
		row.alone = !dice(4);
		if (!dice(4)) { /* a thread with the number of an earlier process */
			row.tid = row.pid;
			row.pid = row.ppid;
		} else if (!dice(8)) {
			row.kind = SIDE_EXIT;
		}
	}
	sideband_add_row(side, &row);
}

enum { PIDS = 10, PAGES = 24 };

/* The object of each page of each process, as index + 1, one row of the side-band after the other.
 */
static void replay_row(uint32_t owner[PIDS][PAGES], const struct sideband *side,
		       const struct side_row *row)
{
	uint32_t key = side_fork_key(row);
	const struct side_map *m = &side->maps[row->what];

	for (uint32_t page = 0; page < PAGES; page++) {
		uint32_t *of = owner[row->kind == SIDE_MAP ? row->pid : key] + page;

		if (row->kind == SIDE_MAP && m->start <= 0x1000ULL * page &&
		    0x1000ULL * page < m->end)
			*of = row->what + 1;
		if (row->kind != SIDE_FORK || key == row->ppid)
			continue;
		if (row->late)
			*of = owner[row->ppid][page] ? owner[row->ppid][page] : *of;
		else
			*of = row->alone || side_is_thread(row) ? 0 : owner[row->ppid][page];
	}
}

TEST(maps_at_any_time_equal_a_replay)
{
	enum { ROWS = 2000 };
	static uint32_t owner[PIDS][PAGES];
	freed(intern_free) struct intern strings = {0};
	freed(sideband_free) struct sideband side = {.strings = &strings};
	freed(history_free) struct history h;
	uint32_t pid;
	size_t found = 0;

	for (uint32_t v = 0; v < ROWS; v++)
		random_row(&side, v, v < ROWS / 20 ? 0 : v);
	sideband_finish(&side);
	history_make(&h, &side);
	for (uint32_t v = 0; v < side.n; v++) {
		replay_row(owner, &side, &side.list[v]);
		for (pid = 0; pid < PIDS; pid++)
			for (uint32_t page = 0; page < PAGES; page++) {
				const struct side_map *m =
					history_find(&h, pid, 0x1000ULL * page + 7, v);

				assert_ptr_equal(m, owner[pid][page]
							    ? &side.maps[owner[pid][page] - 1]
							    : NULL);
				found += !!m;
			}
	}
	assert_true(found > ROWS);
	assert_null(history_find(&h, 1, 0x1007, UINT32_MAX));
}

/* A machine with an object and a stack made by hand. */
struct machine {
	const char *name;
	uint16_t elf;
	uint8_t sp, fp, ra; /* DWARF's numbers */
	bool big;
	uint64_t mask; /* a bit for each recorded register */
	uint8_t perf_sp, perf_fp, perf_pc, perf_lr;
	bool debug; /* the tables are in .debug_frame, not in .eh_frame */
};

static const struct machine machines[] = {
	{"x86_64", EM_X86_64, 7, 6, 16, false, 0xff0fff, 7, 6, 8, 63, false},
	{"aarch64", EM_AARCH64, 31, 29, 30, false, 0x1ffffffff, 31, 29, 32, 30, false},
	{"aarch64_be", EM_AARCH64, 31, 29, 30, true, 0x1ffffffff, 31, 29, 32, 30, false},
	{"x86_64", EM_X86_64, 7, 6, 16, false, 0xff0fff, 7, 6, 8, 63, true},
};

enum {			 /* functions of 0x100 bytes: their offsets */
       LEAF = 0x1000,	 /* has no frame */
       MIDDLE = 0x1100,	 /* has a frame pointer */
       MAIN = 0x1200,	 /* has no caller */
       HANDLER = 0x1300, /* a signal handler: returns to the trampoline */
       RETURNS = 0x1400, /* the trampoline: a signal frame */
       BARE = 0x1500,	 /* not in the tables */
       THUNK = 0x1600,	 /* has its return address in the frame pointer */
       MAKER = 0x1700,	 /* as THUNK, with another rule for the caller's frame pointer */
       FRAMES = 0x1800,	 /* .eh_frame */
       SYMBOLS = 0x1c00,
       STRINGS = 0x1e00,
       SECTIONS = 0x1f00,
       LINKED = 0x20000,   /* what the linker added to the offsets */
       MAPPED = 0x7000000, /* address of the mapping */
       STACK = 0x7fff0000,
};

static const char section_names[] = "\0.text\0.eh_frame\0.symtab\0.strtab\0.debug_frame";
static const char function_names[] = "leaf\0middle\0main\0handler\0returns\0bare\0thunk\0maker";

enum { WORD = 8, ABI = PERF_SAMPLE_REGS_ABI_64 };

static void w_until(struct writer *w, size_t at)
{
	assert_true(w->out.len <= at);
	while (w->out.len < at)
		w_bytes(w, "", 1);
}

/* Writes a CIE. `how` is its augmentation, "zR" or "zRS". Addresses are absolute. */
static size_t w_cie(struct writer *w, const struct machine *m, const char *how)
{
	uint8_t cfa = m->elf == EM_AARCH64 ? 0 : WORD;
	const uint8_t code[] = {1,			 /* code alignment */
				(uint8_t)(-WORD & 0x7f), /* data alignment */
				m->ra,
				1,
				DW_EH_PE_absptr,
				DW_CFA_def_cfa,
				m->sp,
				cfa,
				cfa ? (uint8_t)(DW_CFA_offset | m->ra)
				    : (uint8_t)DW_CFA_nop, /* at CFA - word */
				cfa ? 1 : DW_CFA_nop};
	size_t at = w->out.len;

	w32(w, 0);
	w32(w, m->debug ? UINT32_MAX : 0);
	w_int(w, 1, 1);
	w_bytes(w, how, strlen(how) + 1);
	w_bytes(w, code, sizeof(code));
	return at;
}

static void w_length(struct writer *w, size_t at)
{
	freed(writer_free) struct writer n = {.big = w->big};

	w_until(w, (w->out.len + 7) & ~7UL);
	if ((w->out.len - at) % 8 == 0)
		w_until(w, w->out.len + 4); /* the length does not count itself */
	w32(&n, w->out.len - at - 4);
	memcpy(w->out.buf + at, n.out.buf, 4);
}

static void w_fde(struct writer *w, const struct machine *m, size_t cie, uint64_t addr,
		  const uint8_t *code, size_t n)
{
	size_t at = w->out.len;

	w32(w, 0);
	w32(w, m->debug ? cie - FRAMES : at + 4 - cie);
	w64(w, LINKED + addr);
	w64(w, 0x80);
	w_int(w, 0, 1);
	w_bytes(w, code, n);
	w_length(w, at);
}

/*
 * Writes the rules of the functions. With a frame pointer, the stack has the caller's frame
 * pointer and the return address.
 */
static void w_frames(struct writer *w, const struct machine *m)
{
	uint8_t ra = (uint8_t)(DW_CFA_offset | m->ra), fp = (uint8_t)(DW_CFA_offset | m->fp);
	bool arm = m->elf == EM_AARCH64;
	const uint8_t framed[] = {DW_CFA_def_cfa,	  m->fp, (uint8_t)(2 * WORD), ra, 1, fp, 2,
				  arm ? 0x2d : DW_CFA_nop /* signed from here on */};
	const uint8_t first[] = {DW_CFA_undefined, m->ra};
	/* the interrupted pc, stack pointer and frame pointer are above the stack pointer */
	const uint8_t signal[] = {DW_CFA_expression,
				  m->ra,
				  2,
				  (uint8_t)(DW_OP_breg0 + m->sp),
				  8,
				  DW_CFA_expression,
				  m->fp,
				  2,
				  (uint8_t)(DW_OP_breg0 + m->sp),
				  16,
				  DW_CFA_def_cfa_expression,
				  3,
				  (uint8_t)(DW_OP_breg0 + m->sp),
				  24,
				  DW_OP_deref};
	/* CFA is two words below the caller's frame pointer */
	const uint8_t thunk[] = {DW_CFA_register,      m->ra, m->fp,
				 DW_CFA_val_offset_sf, m->fp, -2 & 0x7f};
	const uint8_t maker[] = {DW_CFA_register,
				 m->ra,
				 m->fp,
				 DW_CFA_val_expression,
				 m->fp,
				 2,
				 (uint8_t)(DW_OP_breg0 + m->sp),
				 (uint8_t)((arm ? 2 : 3) * WORD)};
	size_t cie = w_cie(w, m, "zR"), other;

	w_length(w, cie);
	w_fde(w, m, cie, LEAF, NULL, 0);
	w_fde(w, m, cie, MIDDLE, framed, sizeof(framed));
	w_fde(w, m, cie, MAIN, first, sizeof(first));
	w_fde(w, m, cie, HANDLER, framed, sizeof(framed));
	w_fde(w, m, cie, THUNK, thunk, sizeof(thunk));
	w_fde(w, m, cie, MAKER, maker, sizeof(maker));
	other = w_cie(w, m, "zRS");
	w_length(w, other);
	w_fde(w, m, other, RETURNS, signal, sizeof(signal));
	if (!m->debug)
		w32(w, 0);
}

static void w_section(struct writer *w, uint32_t name, uint32_t type, uint64_t flags, uint64_t at,
		      uint64_t size, uint32_t link, uint64_t entry)
{
	w32(w, name);
	w32(w, type);
	w64(w, flags);
	w64(w, flags ? LINKED + at : 0);
	w64(w, at);
	w64(w, size);
	w32(w, link);
	w32(w, 0);
	w64(w, 8);
	w64(w, entry);
}

static void w_symbols(struct writer *w)
{
	const char *name = function_names;

	w_until(w, SYMBOLS + sizeof(Elf64_Sym));
	for (int i = 0; i < 8; i++, name += strlen(name) + 1) {
		w32(w, sizeof(section_names) + (uint64_t)(name - function_names));
		w_int(w, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1);
		w_int(w, 0, 1);
		w16(w, 1);
		w64(w, LINKED + LEAF + 0x100 * i);
		w64(w, 0x100);
	}
}

static void w_segment(struct writer *w, uint32_t flags, uint64_t addr)
{
	w32(w, PT_LOAD);
	w32(w, flags);
	w64(w, 0);
	w64(w, addr);
	w64(w, addr);
	w64(w, SECTIONS);
	w64(w, SECTIONS);
	w64(w, 0x1000);
}

static void w_elf_head(struct writer *w, const struct machine *m)
{
	w_bytes(w,
		m->big ? "\x7f"
			 "ELF\2\2\1"
		       : "\x7f"
			 "ELF\2\1\1",
		7);
	w_until(w, EI_NIDENT);
	w16(w, ET_DYN);
	w16(w, m->elf);
	w32(w, EV_CURRENT);
	w64(w, 0);
	w64(w, sizeof(Elf64_Ehdr)); /* program headers */
	w64(w, SECTIONS);
	w32(w, 0);
	w16(w, sizeof(Elf64_Ehdr));
	w16(w, sizeof(Elf64_Phdr));
	w16(w, 3);
	w16(w, sizeof(Elf64_Shdr));
	w16(w, 5);
	w16(w, 4);
	w_segment(w, PF_R, 0); /* the same bytes as data, before and after the code */
	w_segment(w, PF_R | PF_X, LINKED);
	w_segment(w, PF_R, 3 * LINKED);
}

static void write_object(const struct machine *m, const char *path)
{
	freed(writer_free) struct writer w = {.big = m->big};
	size_t frames;

	w_elf_head(&w, m);
	w_until(&w, FRAMES);
	w_frames(&w, m);
	frames = w.out.len - FRAMES;
	w_symbols(&w);
	w_until(&w, STRINGS);
	w_bytes(&w, section_names, sizeof(section_names));
	w_bytes(&w, function_names, sizeof(function_names));
	w_until(&w, SECTIONS);
	w_section(&w, 0, SHT_NULL, 0, 0, 0, 0, 0);
	w_section(&w, 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, LEAF, 0x800, 0, 0);
	w_section(&w, m->debug ? 33 : 7, SHT_PROGBITS, m->debug ? 0 : SHF_ALLOC, FRAMES, frames, 0,
		  0);
	w_section(&w, 17, SHT_SYMTAB, 0, SYMBOLS, 9 * sizeof(Elf64_Sym), 4, sizeof(Elf64_Sym));
	w_section(&w, 25, SHT_STRTAB, 0, STRINGS, SECTIONS - STRINGS, 0, 0);
	assert_int_equal(file_write(path, w.out.buf, w.out.len, NULL), 0);
}

#define KERNEL 0xffffffff81000010ULL

/* The user part of a sample. */
struct kept {
	uint64_t abi, pc, sp, fp, lr;
	uint64_t words[512]; /* the stack, in words of the machine */
	size_t nwords;
	uint64_t claimed;  /* valid bytes in the record; 0 means nwords */
	uint64_t chain[6]; /* recorded in the kernel; 0 ends it */
	bool stackless;	   /* the recording has registers and no stacks */
};

enum { TYPE = W_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER };

static void w_kept_sample(struct writer *w, const struct machine *m, const struct kept *k)
{
	size_t at = w_begin(w, PERF_RECORD_SAMPLE,
			    *k->chain ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER),
	       n;
	size_t room = k->nwords * WORD, end;

	for (n = 0; n < array_size(k->chain) && k->chain[n]; n++)
		;
	w64(w, 1);
	w64(w, n ? k->chain[1] : k->pc);
	w32(w, 5);
	w32(w, 5);
	w64(w, 100);
	w64(w, 0);
	w64(w, 1000);
	w64(w, n);
	for (size_t i = 0; i < n; i++)
		w64(w, k->chain[i]);
	w64(w, k->abi);
	for (size_t i = 0; i < 64 && k->abi; i++)
		if (m->mask >> i & 1)
			w64(w, i == m->perf_pc	 ? k->pc
			       : i == m->perf_sp ? k->sp
			       : i == m->perf_fp ? k->fp
			       : i == m->perf_lr ? k->lr
						 : 0xdead);
	if (k->stackless) {
		w_end(w, at);
		return;
	}
	w64(w, room);
	end = w->out.len + room;
	for (size_t i = 0; i < k->nwords; i++)
		w64(w, k->words[i]);
	w_until(w, end);
	if (room)
		w64(w, k->claimed ? k->claimed : room);
	w_end(w, at);
}

static void w_machine_name(struct writer *w, const char *name)
{
	size_t at = w_begin(w, 80, 0), n = (strlen(name) + 8) & ~7UL, end;

	w64(w, 6); /* HEADER_ARCH */
	w32(w, n);
	end = w->out.len + n;
	w_bytes(w, name, strlen(name));
	w_until(w, end);
	w_end(w, at);
}

static char note[512]; /* the note of the last profile */

static void read_kept(struct profile *p, const struct machine *m, const struct kept *k, size_t n)
{
	uint64_t without = k->stackless ? PERF_SAMPLE_STACK_USER : 0;
	struct w_event e = {.sample_type = TYPE & ~without,
			    .id = 1,
			    .flags = W_ID_ALL,
			    .regs_user = m->mask,
			    .stack_user = 64};
	struct perfdata_options o = {.symfs = dir, .threads = 1};
	freed(writer_free) struct writer w = {.big = m->big};

	w_stream_head(&w, &e, 1);
	w_machine_name(&w, m->name);
	w_mmap2(&w, 1, 5, MAPPED + 0x1000, 0x1000, 0x1000, "/prog");
	while (n--)
		w_kept_sample(&w, m, k++);
	assert_int_equal(w_read(p, &w.out, &o, NULL), 0);
	snprintf(note, sizeof(note), "%s", p->unwind_note ? p->unwind_note : "");
}

/* Returns the chain of the only sample, leaf first, "a;b;c". The caller frees it. */
static char *chain_of(const struct machine *m, const struct kept *k, struct profile_unwinds *counts)
{
	struct str s = {0};
	struct profile p;

	read_kept(&p, m, k, 1);
	assert_int_equal(p.ncosts, 1);
	for (uint32_t f = p.costs[0].frame; f != PROFILE_NONE; f = p.frames[f].parent)
		str_printf(&s, "%s%s", s.len ? ";" : "",
			   profile_symbol_name(&p, p.frames[f].symbol));
	*counts = p.health.unwinds;
	profile_free(&p);
	return str_take(&s);
}

static void gives(const struct machine *m, const struct kept *k, const char *chain, uint64_t cut,
		  uint64_t lost)
{
	struct profile_unwinds n;
	autofree char *got = chain_of(m, k, &n);

	assert_string_equal(got, chain);
	assert_int_equal(n.cut, cut);
	assert_int_equal(n.lost, lost);
}

/* Returns a return address behind a call in the function. On aarch64 it has a signature. */
static uint64_t back_in(const struct machine *m, uint64_t function)
{
	return (m->elf == EM_AARCH64 ? 0x7a000000000000ULL : 0) + MAPPED + function + 0x20;
}

/* In a system call, the user part follows what the kernel recorded, unless it recorded that too. */
static void kernel_of(const struct machine *m, struct kept *k)
{
	struct profile_unwinds n;
	char *got;

	k->chain[0] = (uint64_t)PERF_CONTEXT_KERNEL;
	for (uint64_t i = 0; i < 3; i++) {
		k->chain[i + 1] = KERNEL + i;
		k->chain[i + 2] = 0;
		got = chain_of(m, k, &n);
		assert_ptr_equal(strstr(got, ";leaf;middle;main"), got + 19 * (i + 1) - 1);
		assert_int_equal(n.stacks, 1);
		free(got);
		k->chain[i + 2] = (uint64_t)PERF_CONTEXT_USER;
		k->chain[i + 3] = i < 2 ? MAPPED + MAIN : 0;
		got = chain_of(m, k, &n);
		assert_int_equal(strlen(got), 19 * (i + 1) - 1 + (i < 2 ? strlen(";main") : 0));
		assert_int_equal(n.stacks, 0);
		free(got);
	}
	memset(k->chain, 0, sizeof(k->chain));
}

/* Unwinds leaf, middle and main, and a stack copy that ends before main. */
static void frames_of(const struct machine *m)
{
	bool arm = m->elf == EM_AARCH64;
	uint64_t top = STACK;
	struct kept k = {.abi = ABI, .pc = MAPPED + LEAF + 4, .sp = STACK};

	/* aarch64's leaf has its return address in lr, x86's on the stack */
	k.lr = back_in(m, MIDDLE);
	if (!arm) {
		k.words[k.nwords++] = back_in(m, MIDDLE);
		top += WORD;
	}
	k.words[k.nwords++] = 0; /* middle's word */
	k.fp = top + WORD;
	k.words[k.nwords++] = 0xfeed; /* main's frame pointer */
	k.words[k.nwords++] = back_in(m, MAIN);
	gives(m, &k, "leaf;middle;main", 0, 0);
	kernel_of(m, &k);
	k.claimed = (k.nwords - 1) * WORD;
	gives(m, &k, "leaf;middle", 1, 0);
	k.claimed = UINT64_MAX; /* more than the copy has, so the copy's length counts */
	gives(m, &k, "leaf;middle;main", 0, 0);
	k.claimed = 0;
	k.words[k.nwords - 1] = 0; /* no caller */
	gives(m, &k, "leaf;middle", 0, 0);
	k.words[k.nwords - 1] = 0x123456; /* no mapping there */
	gives(m, &k, "leaf;middle", 0, 1);
	assert_null(strstr(note, "/prog")); /* its tables are not missing */
	k.fp = UINT64_MAX - WORD;
	gives(m, &k, "leaf;middle", 1, 0);
	k.abi = 0;
	gives(m, &k, "leaf", 0, 0);
	k.abi = 77;
	gives(m, &k, "leaf", 0, 1);
	k = (struct kept){.abi = ABI, .pc = MAPPED + LEAF + 4, .sp = STACK};
	gives(m, &k, "leaf", 1, 0);
	k.stackless = true;
	gives(m, &k, "leaf", 0, 0);
}

/* A signal interrupts the first instruction of `leaf`, so that address is exact. */
static void signals_of(const struct machine *m)
{
	struct kept k = {.abi = ABI, .pc = MAPPED + HANDLER + 8, .sp = STACK, .fp = STACK};

	k.words[0] = STACK;
	k.words[1] = MAPPED + RETURNS; /* the trampoline's first instruction */
	k.words[3] = MAPPED + LEAF;
	k.words[4] = STACK + 6 * WORD;
	k.words[5] = STACK + 6 * WORD; /* the interrupted stack pointer */
	k.words[6] = 0;
	k.nwords = 8;
	if (m->elf == EM_X86_64) /* leaf's return address is on the stack */
		k.words[6] = back_in(m, MAIN);
	k.lr = 0;
	gives(m, &k, m->elf == EM_X86_64 ? "handler;returns;leaf;main" : "handler;returns;leaf", 0,
	      m->elf != EM_X86_64);
	assert_null(strstr(note, "/prog"));
	/* The trampoline's system call is its last instruction. */
	memmove(k.words, k.words + 2, 6 * sizeof(k.words[0]));
	k.nwords = 6;
	k.pc = MAPPED + RETURNS + 0x80;
	k.sp = STACK + 2 * WORD;
	gives(m, &k, m->elf == EM_X86_64 ? "returns;leaf;main" : "returns;leaf", 0,
	      m->elf != EM_X86_64);
	k.pc++;
	gives(m, &k, "returns", 0, 1);
}

/* The caller's registers come from registers, from the CFA and from expressions. */
static void registers_of(const struct machine *m)
{
	uint64_t cfa = m->elf == EM_AARCH64 ? 0 : 1; /* in words above the stack pointer */
	struct kept k = {.abi = ABI, .sp = STACK, .nwords = 6};

	k.fp = back_in(m, MIDDLE);
	k.words[cfa + 3] = back_in(m, MAIN);
	k.pc = MAPPED + THUNK + 4;
	gives(m, &k, "thunk;middle;main", 0, 0);
	k.pc = MAPPED + MAKER + 4;
	gives(m, &k, "maker;middle;main", 0, 0);
	/* An epilogue has popped the frame pointer. aarch64's return address is in lr again. */
	k = (struct kept){.abi = ABI, .pc = MAPPED + MIDDLE + 4, .sp = STACK, .fp = 5, .nwords = 2};
	k.lr = back_in(m, MAIN);
	gives(m, &k, m->elf == EM_X86_64 ? "middle" : "middle;main", 0, m->elf == EM_X86_64);
}

/* Code without tables is unwound by the frame pointer, if its value is possible. */
static void bare_of(const struct machine *m)
{
	struct kept k = {.abi = ABI, .pc = MAPPED + BARE + 4, .sp = STACK, .nwords = 6};

	k.fp = STACK + 2 * WORD;
	k.words[3] = back_in(m, MAIN);
	gives(m, &k, "bare;main", 0, 0);
	k.fp = 0; /* the outermost frame */
	gives(m, &k, "bare", 0, 0);
	k.fp = STACK - WORD; /* impossible */
	gives(m, &k, "bare", 0, 1);
	assert_non_null(strstr(note, "reach code without unwind tables, most in /prog"));
	k.fp = STACK + 0x4001; /* too far away */
	gives(m, &k, "bare", 0, 1);
	k.fp = STACK + 0x4000; /* possible, but not in the copy */
	gives(m, &k, "bare", 1, 0);
	assert_null(strstr(note, "/prog"));
}

/* Each frame of `bare` calls the next. The last one has no caller. */
static void deep_of(const struct machine *m)
{
	struct kept k = {.abi = ABI, .pc = MAPPED + BARE + 4, .sp = STACK, .fp = STACK};
	struct profile_unwinds n;
	char *got;
	size_t i;

	for (uint32_t frames = UNWIND_FRAMES; frames <= UNWIND_FRAMES + 1; frames++) {
		for (i = 0; i + 1 < frames; i++) {
			k.words[2 * i] = STACK + (2 * i + 2) * WORD;
			k.words[2 * i + 1] = MAPPED + BARE + 0x20;
		}
		k.words[2 * i] = k.words[2 * i + 1] = 0;
		k.nwords = 2 * i + 2;
		got = chain_of(m, &k, &n);
		assert_int_equal(strlen(got), UNWIND_FRAMES * strlen("bare;") - 1);
		assert_int_equal(n.deep, frames - UNWIND_FRAMES);
		free(got);
	}
	assert_string_equal(note, "100 % of 1 user stacks end before their root: 1 have more than "
				  "127 frames");
}

/* The note names the object in which stacks were lost, and not one in which others ended well. */
static void notes_of(const struct machine *m)
{
	struct kept k[3] = {{.abi = ABI, .pc = MAPPED + BARE + 4, .sp = STACK, .nwords = 2}};
	freed(profile_free) struct profile p;

	k[1] = k[2] = k[0];
	k[1].fp = STACK; /* its caller is nowhere */
	k[1].words[1] = 0x123456;
	k[2].fp = STACK + 0x100; /* beyond the copy */
	read_kept(&p, m, k, 3);
	assert_int_equal(p.health.unwinds.stacks, 3);
	assert_string_equal(
		note,
		"66.7 % of 3 user stacks end before their root: 1 are longer than the recorded "
		"copies (perf record --call-graph dwarf,SIZE records more); 1 reach code without "
		"unwind tables");
}

TEST(chains_of_each_machine_are_unwound)
{
	snprintf(path, sizeof(path), "%s/prog", dir);
	for (const struct machine *m = machines; m < machines + array_size(machines); m++) {
		print_message("# %s\n", m->name);
		write_object(m, path);
		frames_of(m);
		signals_of(m);
		registers_of(m);
		bare_of(m);
		deep_of(m);
		notes_of(m);
	}
}
