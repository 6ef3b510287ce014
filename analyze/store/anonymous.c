// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies a store without what names people, hosts and programs. The copy is a new file, so nothing
 * of the old one is left in free pages. A hidden text becomes KIND-xxxxxxxx, a hash with a random
 * salt that no file holds. Equal texts stay equal in one copy, and nobody can try names against the
 * hash.
 */
#include "analyze/store/sql.h"

#include "analyze/model/notes.h"

#include "lib/file.h"
#include "lib/sha256.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <sys/random.h>

enum { SALT = 32, HASH_DIGITS = 8 };

/*
 * THE TABLE of what goes into the copy: a SELECT for each table, with the functions of `hiders`. A
 * table with a text of the user has all its columns here, so that a new column makes the copy fail
 * until somebody decides about the column. substr(x, 1, 0) is "" for a text. Notes are last,
 * because notes may name what is in the other tables.
 */
static const struct {
	const char *table, *select;
} copies[] = {
	{"capture",
	 "key, CASE WHEN key = 'manifest_sha256' THEN identity(key) WHEN key IN ('created', "
	 "'zcost_version', 'estimator', 'order', 'inlines') THEN value ELSE words(value) END "
	 "FROM capture"},
	{"variant", "id, name, substr(what, 1, 0), base FROM variant"},
	{"setting", "id, variant, name, setting(value) FROM setting"},
	{"host", "id, host(name), release, arch, cpu_model, cpus, virtualization FROM host"},
	{"fact",
	 "host(host), variant, run, name, CASE WHEN run IS NOT NULL AND name NOT LIKE 'sysctl:%' "
	 "THEN value WHEN host IS NOT NULL OR run IS NOT NULL THEN fact_of_host(value, name) "
	 "WHEN name LIKE 'setting.%' OR name LIKE '%.units' THEN setting(value) "
	 "ELSE fact_of_side(value, name) END FROM fact"},
	{"run",
	 "id, variant, pass, repeat, side, host(host), words(command), cpus, ncpus, start_ns, "
	 "end_ns, position, status, substr(why, 1, 0), role FROM run"},
	{"collector", "run, name, state, substr(why, 1, 0), lost FROM collector"},
	{"metric",
	 "run, name, cpu, object_of_metric(object, name), unit, value, source FROM metric"},
	{"series", "run, object_of_metric(name, name), t_ns, value FROM series"},
	{"event", "* FROM event"},
	{"comm", "id, comm(name) FROM comm"},
	{"dso", "id, object(name), build_id(build_id, name), kind FROM dso"},
	{"symbol", "y.id, symbol(y.name, d.name), y.dso, y.unresolved FROM symbol y JOIN dso d ON "
		   "d.id = y.dso"},
	{"frame", "* FROM frame"},
	{"cost", "* FROM cost"},
	{"packed", "* FROM packed"},
	{"process", "* FROM process"},
	{"function", "* FROM function"},
	{"component", "* FROM component"},
	{"spot", "* FROM spot"},
	/* the code of the kernel, not that of the user's own programs */
	{"code",
	 "* FROM code WHERE symbol IN (SELECT y.id FROM symbol y JOIN dso d ON d.id = y.dso WHERE "
	 "d.kind IN (1, 2))"},
	{"syscall",
	 "run, comm(comm), pid, tid, nr, name, calls, errors, total_ns, min_ns, max_ns, m2, bytes, "
	 "unfinished FROM syscall"},
	{"syscall_hist", "run, comm(comm), pid, tid, nr, kind, bucket, count FROM syscall_hist"},
	{"thread",
	 "run, pid, tid, comm(comm), first_ns, last_ns, run_ns, user_ns, system_ns, migrations, "
	 "allowed, cpus, sched_run_ns, wait_ns, slices, voluntary, involuntary FROM thread"},
	{"socket",
	 "run, pid, address(local), address(peer), congestion, state, first_ns, last_ns, readings, "
	 "rtt_us, rttvar_us, min_rtt_us, cwnd, ssthresh, mss, delivery_rate, pacing_rate, rcv_rtt_us, "
	 "rcv_space, snd_wnd, unacked, notsent, rmem, rcvbuf, wmem, sndbuf, app_limited_pct, "
	 "bytes_acked, bytes_received, bytes_sent, bytes_retrans, segs_out, segs_in, retrans, busy_us, "
	 "rwnd_limited_us, sndbuf_limited_us, reordered, dsacks, out_of_order, drops FROM socket"},
	{"topology",
	 "host(host), kind, name, cpus, package, node, size_kib, distances, speed, up FROM topology"},
	{"note", "run, severity, kind, note(vals, kind) FROM note"},
};

/* The names in the copy that notes may have. The parts of an object are names, too. */
#define KEPT_NAMES                                                                                   \
	"SELECT name FROM variant UNION SELECT name FROM setting UNION SELECT variant FROM run "     \
	"UNION SELECT pass FROM run UNION SELECT side FROM run UNION SELECT name FROM collector "    \
	"UNION SELECT state FROM collector UNION SELECT name FROM metric UNION SELECT unit FROM "    \
	"metric UNION SELECT object FROM metric WHERE name <> 'power_w' AND (name NOT LIKE 'waits%'" \
	" OR name = 'waits_account_ns') UNION SELECT name FROM event UNION SELECT name FROM syscall UNION SELECT name FROM topology"

struct anonymous {
	uint8_t salt[SALT];
	const char *identity;
	struct intern kept; /* the words of KEPT_NAMES */
};

/* Returns what the copy has in place of a text. `other` is another column of the row, or "". */
typedef char *hide_text(struct anonymous *a, const char *text, const char *other);

static char *hide_by_hash(const struct anonymous *a, const char *kind, const char *text)
{
	struct sha256 h;
	char hex[65];

	sha256_begin(&h);
	sha256_add(&h, a->salt, SALT);
	sha256_add(&h, kind, strlen(kind) + 1);
	sha256_add(&h, text, strlen(text));
	sha256_hex(&h, hex);
	return xasprintf("%s-%.*s", kind, HASH_DIGITS, hex);
}

/* Numbers with a unit and lists of CPUs: 128k, 1.5, 0-3,8. An address has two dots. */
static bool text_is_number(const char *text)
{
	size_t n = strspn(text, "0123456789.,-"), letters = 0;
	const char *dot = memchr(text, '.', n);

	while (isalpha((unsigned char)text[n + letters]))
		letters++;
	return isdigit((unsigned char)*text) && !text[n + letters] && letters <= 2 &&
	       !(dot && memchr(dot + 1, '.', n - (size_t)(dot + 1 - text)));
}

/* -x or --option: longer words behind one dash may hold a value, as in -pSECRET. */
static bool text_is_option(const char *text)
{
	const char *p = text + strspn(text, "-");

	if (p - text == 1)
		return isalpha((unsigned char)*p) && !p[1];
	return p - text == 2 && *p && !p[strspn(p, "abcdefghijklmnopqrstuvwxyz-")];
}

/* Programs that every reader knows. */
static const char public_programs[] =
	"exec ip iperf3 netns netperf numactl perf sh swapper taskset tcpzc "
	"zcost";

/* --- the functions --- */

static char *hide_identity(struct anonymous *a, const char *text, const char *other)
{
	(void)text;
	(void)other;
	return xstrdup(a->identity);
}

static char *hide_host(struct anonymous *a, const char *text, const char *other)
{
	(void)other;
	return hide_by_hash(a, "host", text);
}

/* Hides the words of a command, also those behind a "=", except options and numbers. */
static char *hide_words(struct anonymous *a, const char *text, const char *other)
{
	struct str s = {0};
	size_t n;

	(void)other;
	str_puts(&s, "");
	for (; *text; text += n) {
		bool after = s.len && s.buf[s.len - 1] == '=';
		autofree char *word = NULL, *hidden = NULL;

		n = strcspn(text, " =");
		word = xstrndup(text, n);
		hidden = !n || text_is_number(word) || text_is_option(word) ||
					 str_matches_any(public_programs, word)
				 ? xstrdup(word)
				 : hide_by_hash(a, "word", word);
		str_printf(&s, "%s%.*s", hidden, text[n] != '\0' && !(after && text[n] == '='),
			   text + n);
		n += text[n] != '\0';
	}
	return str_take(&s);
}

/* Keeps the names of the kernel's threads, and those that perf gives to unknown threads (:1234). */
static char *hide_comm(struct anonymous *a, const char *text, const char *other)
{
	static const char kernel[] =
		"cpuhp/* idle_inject/* io_wq* iou-* irq/* kcompactd* khugepaged* "
		"ksoftirqd/* kswapd* kthreadd* kworker/* migration/* napi/* "
		"rcu_* swapper/* :* ...*";

	(void)other;
	return !*text || str_matches_any(public_programs, text) || str_matches_any(kernel, text)
		       ? xstrdup(text)
		       : hide_by_hash(a, "program", text);
}

/* Adds "softirq NET_RX", or "other NAME" without the name, which is all that ends the text. */
static void hide_waker(struct anonymous *a, struct str *s, const char *waker)
{
	static const char *const threads[] = {"workload ", "other "};
	autofree char *hidden = NULL;

	for (size_t i = 0; i < array_size(threads) && !hidden; i++)
		if (str_starts(waker, threads[i])) {
			hidden = hide_comm(a, waker + strlen(threads[i]), NULL);
			str_puts(s, threads[i]);
		}
	str_puts(s, hidden ?: waker);
}

/* Hides the names of threads in "NAME;blocked;read;other NAME", an object of waits. */
static char *hide_threads(struct anonymous *a, const char *text)
{
	autofree char *copy = xstrdup(text), *name = NULL;
	char *rest = copy;
	struct str s = {0};

	name = hide_comm(a, str_token(&rest, ';'), NULL);
	str_puts(&s, name);
	for (const char *part; (part = str_token(&rest, ';'));) {
		str_putc(&s, ';');
		hide_waker(a, &s, part);
	}
	return str_take(&s);
}

/* Hides the name of a thread in "woken by other NAME", which ends the stack of a wait. */
static char *hide_symbol(struct anonymous *a, const char *text, const char *dso)
{
	const char *by = strstr(text, " by ");
	struct str s = {0};

	if (!by || strcmp(dso, "[waits]"))
		return xstrdup(text);
	str_printf(&s, "%.*s", (int)(by + strlen(" by ") - text), text);
	hide_waker(a, &s, by + strlen(" by "));
	return str_take(&s);
}

/*
 * Keeps "host/eth0/link/rx_bytes". Hides the file of a meter's log in "wall/csv/log.csv" of the
 * power, which series have as "power_w:wall/csv/log.csv".
 */
static char *hide_object_of_metric(struct anonymous *a, const char *text, const char *metric)
{
	static const char log[] = "/csv/";
	const char *csv = str_starts(metric, "power_w") ? strstr(text, log) : NULL;
	autofree char *hidden = NULL;

	if (str_starts(metric, "waits") && strcmp(metric, "waits_account_ns") != 0)
		return hide_threads(a, text);
	if (!csv)
		return xstrdup(text);
	csv += sizeof(log) - 1;
	hidden = hide_by_hash(a, "file", csv);
	return xasprintf("%.*s%s", (int)(csv - text), text, hidden);
}

/*
 * Objects of the kernel have names without a slash. Files of a distribution lie in the folders
 * below, or in one for an architecture (x86_64-linux-gnu) there. A deeper folder may name a
 * product.
 */
static bool object_is_public(const char *path)
{
	static const char files[] =
		"* /bin/* /lib/* /lib/*-linux-gnu/* /lib64/* /sbin/* /usr/bin/* "
		"/usr/lib/* /usr/lib/*-linux-gnu/* /usr/lib64/* /usr/libexec/* "
		"/usr/sbin/*";
	const char *pattern;

	if (*path == '[' || str_starts(path, "/lib/modules/") ||
	    str_starts(path, "/usr/lib/modules/"))
		return true;
	each_part (pattern, files, ' ')
		if (!fnmatch(pattern, path, FNM_PATHNAME)) /* a '*' matches no slash */
			return true;
	return false;
}

static char *hide_object(struct anonymous *a, const char *text, const char *other)
{
	const char *base = path_base_name(text);

	(void)other;
	if (object_is_public(text))
		return xstrdup(text);
	return str_matches_any(public_programs, base) ? xstrdup(base)
						      : hide_by_hash(a, "object", text);
}

static char *hide_build_id(struct anonymous *a, const char *text, const char *object)
{
	autofree char *both = xasprintf("%s %s", object, text); /* two paths may get one name */
	bool named = str_matches_any(public_programs, path_base_name(object));

	return object_is_public(object) || (!*text && !named) ? xstrdup(text)
							      : hide_by_hash(a, "build", both);
}

/* Hides the address and keeps the port behind its last colon. */
static char *hide_address(struct anonymous *a, const char *text, const char *other)
{
	const char *port = strrchr(text, ':') ?: "";
	autofree char *address = xstrndup(text, strlen(text) - strlen(port));
	autofree char *hidden = hide_by_hash(a, "address", address);

	(void)other;
	return xasprintf("%s%s", hidden, port);
}

/* A value such as 9000, on or recv says how zcost measured. One with punctuation may be an address
 * or a path. */
static char *hide_setting(struct anonymous *a, const char *text, const char *other)
{
	return strpbrk(text, "/.:@\\") && !text_is_number(text) ? hide_words(a, text, other)
								: xstrdup(text);
}

/* Keeps a setting of the kernel that cannot be an address, a path or a name of a host. */
static char *hide_fact_of_host(struct anonymous *a, const char *text, const char *name)
{
	static const char kept[] =
		"arch boost boot_options clocksource cpu_model cpufreq_driver cpuidle_driver "
		"epp governor cpuidle_governor memory online_cpus release smt "
		"transparent_hugepage turbo_off version virtualization vulnerability:* nic:*/qdisc";
	bool known = str_starts(name, "CONFIG_")	  ? *text != '"'
		     : str_starts(name, "sysctl:kernel.") ? !text[strspn(text, "0123456789-, \t")]
		     : str_starts(name, "sysctl:")	  ? !strpbrk(text, "/:.@")
							  : str_matches_any(kept, name);

	return known ? xstrdup(text) : hide_words(a, text, name);
}

static char *hide_fact_of_side(struct anonymous *a, const char *text, const char *name)
{
	static const char kept[] =
		"call_graph collect cpus duration events role time_one_in warmup work";
	const char *dot = strrchr(name, '.');

	return str_matches_any(kept, dot ? dot + 1 : name) ? xstrdup(text)
							   : hide_words(a, text, name);
}

/* Bytes above 127 are letters of other alphabets. */
static bool word_has_no_letters(const char *w)
{
	while (*w && !((unsigned char)*w > 127 || isalpha((unsigned char)*w) || strchr("/:.", *w)))
		w++;
	return !*w;
}

/* Returns whether each word is a number, a name in the copy, or one that zcost writes itself. */
static bool note_text_is_public(const struct anonymous *a, const char *text)
{
	static const char own[] =
		"/proc/interrupts /proc/net/snmp /proc/net/sockstat /proc/stat account "
		"and idle.snap interface nic.snap power.tsv queues.snap sched.snap side sides "
		"softnet_stat tcp.snap the threads.snap workload workload's";
	autofree char *copy = xstrdup(text);

	for (char *rest = copy, *word; (word = strsep(&rest, " ,+"));)
		if (!word_has_no_letters(word) && !text_is_number(word) &&
		    !str_matches_any(own, word) &&
		    intern_find(&a->kept, word, strlen(word)) == INTERN_NONE)
			return false;
	return true;
}

/* Hides the texts in the values of a note, except those of zcost and names that the copy has. */
static char *hide_note(struct anonymous *a, const char *text, const char *kind)
{
	const struct note_kind *known = note_kind_find(kind);
	json_auto_t *list = json_loads(text, JSON_DECODE_ANY, NULL);
	json_t *value;
	size_t i;

	json_array_foreach (list, i, value) {
		const char *s = json_string_value(value);
		autofree char *hidden = NULL;

		if (!s || (known && note_text_is_own(known, i)) || note_text_is_public(a, s))
			continue;
		hidden = hide_by_hash(a, "text", s);
		json_array_set_new(list, i, json_string(hidden));
	}
	return json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(17)) ?: xstrdup("[]");
}

static const struct hider {
	const char *name;
	hide_text *hide;
	int arguments;
} hiders[] = {
	{"identity", hide_identity, 1},
	{"host", hide_host, 1},
	{"words", hide_words, 1},
	{"object_of_metric", hide_object_of_metric, 2},
	{"comm", hide_comm, 1},
	{"symbol", hide_symbol, 2},
	{"object", hide_object, 1},
	{"build_id", hide_build_id, 2},
	{"address", hide_address, 1},
	{"setting", hide_setting, 1},
	{"fact_of_host", hide_fact_of_host, 2},
	{"fact_of_side", hide_fact_of_side, 2},
	{"note", hide_note, 2},
};

/* --- the copy --- */

struct hiding {
	struct anonymous *a;
	hide_text *hide;
};

/* NULL stays NULL. */
static void hiding_call(sqlite3_context *context, int n, sqlite3_value **v)
{
	const struct hiding *h = sqlite3_user_data(context);
	const char *text = (const char *)sqlite3_value_text(v[0]);
	const char *other = n > 1 ? (const char *)sqlite3_value_text(v[1]) : NULL;

	if (text)
		sqlite3_result_text(context, h->hide(h->a, text, other ? other : ""), -1, free);
}

static int hiding_start(struct anonymous *a, struct store *s, struct error *err)
{
	for (size_t i = 0; i < array_size(hiders); i++) {
		struct hiding *h = xmalloc(sizeof(*h));

		*h = (struct hiding){a, hiders[i].hide};
		if (sqlite3_create_function_v2(s->db, hiders[i].name, hiders[i].arguments,
					       SQLITE_UTF8, h, hiding_call, NULL, NULL, free))
			return sql_error(s, err);
	}
	return 0;
}

static int hiding_read_kept(struct anonymous *a, struct store *s, struct error *err)
{
	autofree const char **names = NULL;
	int n = sql_names(s, &names, err,
			  "SELECT name FROM (" KEPT_NAMES ") WHERE name IS NOT NULL");

	for (int i = 0; i < n; i++) {
		autofree char *copy = xstrdup(names[i]);

		intern_str(&a->kept, names[i]);
		for (char *rest = copy, *part; (part = strsep(&rest, ":/"));)
			intern_str(&a->kept, part);
	}
	return n < 0 ? n : 0;
}

static int copy_row(struct store *to, sqlite3_stmt *read, sqlite3_stmt *write, struct error *err)
{
	int rc = 0, n = sqlite3_column_count(read);

	for (int i = 0; i < n && !rc; i++)
		rc = sqlite3_bind_value(write, i + 1, sqlite3_column_value(read, i));
	if (!rc && sqlite3_step(write) == SQLITE_DONE)
		rc = sqlite3_reset(write);
	else
		rc = -1;
	return rc ? sql_error(to, err) : 0;
}

static int copy_table(struct store *from, struct store *to, const char *table, const char *select,
		      struct error *err)
{
	sqlite3_stmt *read = NULL, *write = NULL;
	char *get = sqlite3_mprintf("SELECT %s", select), *put;
	int rc = sqlite3_prepare_v2(from->db, get, -1, &read, NULL) ? sql_error(from, err) : 0;

	put = sqlite3_mprintf("INSERT INTO \"%w\" VALUES (?", table);
	for (int i = 1; i < sqlite3_column_count(read); i++)
		put = sqlite3_mprintf("%z, ?", put);
	put = sqlite3_mprintf("%z)", put);
	if (!rc && sqlite3_prepare_v2(to->db, put, -1, &write, NULL))
		rc = sql_error(to, err);
	while (!rc && (rc = sql_next(from, read, err)) > 0)
		rc = copy_row(to, read, write, err);
	sqlite3_finalize(read);
	sqlite3_finalize(write);
	sqlite3_free(get);
	sqlite3_free(put);
	return rc;
}

int store_write_anonymous(struct store *from, const char *path, const char *identity,
			  struct error *err)
{
	struct anonymous a = {.identity = identity};
	struct store *to;
	int rc = 0;

	if (getrandom(a.salt, SALT, 0) != SALT)
		return error_sys(err, errno, "no random bytes for the names");
	rc = store_create(&to, path, err);
	if (rc)
		return rc;
	rc = hiding_start(&a, from, err);
	rc = rc ?: hiding_read_kept(&a, from, err);
	rc = rc ?: store_begin(to, err);
	for (size_t i = 0; i < array_size(copies) && !rc; i++)
		rc = copy_table(from, to, copies[i].table, copies[i].select, err);
	rc = rc ?: store_capture_put(to, "anonymous", "1", err);
	rc = rc ?: store_commit(to, err);
	rc = rc ?: store_commit_all(to, err);
	explicit_bzero(a.salt, SALT);
	intern_free(&a.kept);
	return store_close(to, rc, err);
}
