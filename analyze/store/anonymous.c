// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies a store without what names people, hosts and programs. The copy is a new file, so nothing
 * of the old one is left in free pages. A text goes into the copy only by a rule below: a column
 * without a rule makes the copy fail. A hidden text becomes KIND-xxxxxxxx, a hash with a random
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
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { SALT = 32, HASH_DIGITS = 8, COLUMNS = 64 };

struct anonymous {
	uint8_t salt[SALT];
	const char *identity;
	struct intern kept; /* texts that went into the copy unchanged; notes may name them */
};

/* Returns what the copy has in place of a text, or NULL. `row` gives the other columns. */
typedef char *hide_text(struct anonymous *a, const char *text, sqlite3_stmt *row);

/* --- texts --- */

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

static bool text_is_in(const char *text, const char *const list[])
{
	for (; *list; list++)
		if (!strcmp(text, *list))
			return true;
	return false;
}

static bool text_begins_with(const char *text, const char *const list[])
{
	for (; *list; list++)
		if (str_starts(text, *list))
			return true;
	return false;
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
static const char *const public_programs[] = {"exec",	 "ip",	  "iperf3", "netns",   "netperf",
					      "numactl", "perf",  "sh",	    "swapper", "taskset",
					      "tcpzc",	 "zcost", NULL};

static char *hide_word(struct anonymous *a, const char *word)
{
	bool known = !*word || text_is_number(word) || text_is_option(word) ||
		     text_is_in(word, public_programs);
	const char *equals = strchr(word, '=');
	char *option, *value, *both;

	if (known)
		return xstrdup(word);
	option = equals ? xstrndup(word, (size_t)(equals - word)) : NULL;
	if (option && text_is_option(option)) {
		value = hide_word(a, equals + 1);
		both = xasprintf("%s=%s", option, value);
		free(value);
	} else {
		both = hide_by_hash(a, "word", word);
	}
	free(option);
	return both;
}

/* Hides the words of a command, except options and numbers. */
static char *hide_words(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	char *copy = xstrdup(text), *rest = copy, *word;
	struct str s = {0};

	(void)row;
	str_puts(&s, "");
	while ((word = str_token(&rest, ' '))) {
		char *hidden = hide_word(a, word);

		str_printf(&s, "%s%s", s.len ? " " : "", hidden);
		free(hidden);
	}
	free(copy);
	return str_take(&s);
}

static char *keep_text(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	(void)row;
	intern_str(&a->kept, text);
	return xstrdup(text);
}

/*
 * Keeps "host/eth0/link/rx_bytes", and lets notes name its parts. Hides the file of a meter's log
 * in "wall/csv/log.csv" of the power, which series have as "power_w:wall/csv/log.csv".
 */
static char *hide_object_of_metric(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	static const char log[] = "/csv/";
	const char *csv = strstr(text, log);
	const char *name = (const char *)sqlite3_column_text(row, 1);
	char *copy, *rest, *part, *hidden;

	if (csv && name && str_starts(name, "power_w")) {
		csv += sizeof(log) - 1;
		hidden = hide_by_hash(a, "file", csv);
		copy = xasprintf("%.*s%s", (int)(csv - text), text, hidden);
		free(hidden);
		return copy;
	}
	rest = copy = xstrdup(text);
	while ((part = strsep(&rest, ":/")))
		intern_str(&a->kept, part);
	free(copy);
	return keep_text(a, text, row);
}

/* --- the rules --- */

static char *hide_all(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	(void)a;
	(void)text;
	(void)row;
	return xstrdup("");
}

static char *hide_host(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	(void)row;
	return hide_by_hash(a, "host", text);
}

/* Keeps the names of the kernel's threads, and those that perf gives to unknown threads (:1234). */
static char *hide_comm(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	static const char *const kernel[] = {
		"cpuhp/",     "idle_inject/", "io_wq",	  "iou-",     "irq/",	  "kcompactd",
		"khugepaged", "ksoftirqd/",   "kswapd",	  "kthreadd", "kworker/", "migration/",
		"napi/",      "rcu_",	      "swapper/", ":",	      "...",	  NULL};

	(void)row;
	return !*text || text_is_in(text, public_programs) || text_begins_with(text, kernel)
		       ? xstrdup(text)
		       : hide_by_hash(a, "program", text);
}

/*
 * Objects of the kernel have names without a slash. Files of a distribution lie in the folders
 * below, or in one for an architecture (x86_64-linux-gnu) there. A deeper folder may name a
 * product.
 */
static bool object_is_public(const char *path)
{
	static const char *const folders[] = {
		"/bin/",     "/lib/",	    "/lib64/",	     "/sbin/",	   "/usr/bin/",
		"/usr/lib/", "/usr/lib64/", "/usr/libexec/", "/usr/sbin/", NULL};
	static const char *const modules[] = {"/lib/modules/", "/usr/lib/modules/", NULL};
	const char *name = path_base_name(path);
	char *folder = xstrndup(path, (size_t)(name - path)), *architecture;
	bool public = *path == '[' || !strchr(path, '/') || text_begins_with(path, modules);

	architecture = strstr(folder, "-linux-gnu");
	if (architecture && strchr(architecture, '/') == strrchr(folder, '/')) {
		while (architecture > folder && architecture[-1] != '/')
			architecture--;
		*architecture = '\0';
	}
	public = public || text_is_in(folder, folders);
	free(folder);
	return public;
}

static char *hide_object(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	const char *base = path_base_name(text);

	(void)row;
	if (text_is_in(base, public_programs))
		return xstrdup(object_is_public(text) ? text : base);
	return object_is_public(text) ? xstrdup(text) : hide_by_hash(a, "object", text);
}

static char *hide_build_id(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 1);

	return !*text || object_is_public(name ? name : "/") ? xstrdup(text)
							     : hide_by_hash(a, "build", text);
}

/* Hides the address and keeps the port behind its last colon. */
static char *hide_address(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	const char *port = strrchr(text, ':');
	char *address = xstrndup(text, port ? (size_t)(port - text) : strlen(text));
	char *hidden = hide_by_hash(a, "address", address), *both;

	(void)row;
	both = xasprintf("%s%s", hidden, port ? port : "");
	free(address);
	free(hidden);
	return both;
}

static char *hide_capture_value(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	static const char *const keep[] = {"created", "zcost_version", "estimator",
					   "order",   "inlines",       NULL};
	const char *key = (const char *)sqlite3_column_text(row, 0);

	if (key && !strcmp(key, "manifest_sha256"))
		return xstrdup(a->identity);
	return key && text_is_in(key, keep) ? xstrdup(text) : hide_words(a, text, row);
}

/* A value such as 9000, on or recv says how zcost measured. One with punctuation may be an address
 * or a path. */
static char *hide_setting(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	return text[strcspn(text, "/.:@\\")] && !text_is_number(text) ? hide_words(a, text, row)
								      : xstrdup(text);
}

/* Says whether the value of a sysctl cannot be an address, a path or a name of a host. */
static bool sysctl_is_public(const char *value)
{
	return !strpbrk(value, "/:.@");
}

static bool fact_of_host_is_kept(const char *name, const char *value)
{
	static const char *const of_host[] = {"arch",
					      "boot_options",
					      "clocksource",
					      "cpu_model",
					      "cpufreq_driver",
					      "cpuidle_driver",
					      "governor",
					      "cpuidle_governor",
					      "memory",
					      "online_cpus",
					      "release",
					      "smt",
					      "transparent_hugepage",
					      "turbo_off",
					      "version",
					      "virtualization",
					      NULL};

	if (str_starts(name, "vulnerability:"))
		return true;
	if (str_starts(name, "CONFIG_"))
		return *value != '"';
	if (str_starts(name, "sysctl:kernel."))
		return !value[strspn(value, "0123456789-, \t")];
	if (str_starts(name, "sysctl:"))
		return sysctl_is_public(value);
	return text_is_in(name, of_host);
}

static char *hide_fact(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	static const char *const of_side[] = {"call_graph", "collect", "cpus",	      "duration",
					      "events",	    "role",    "time_one_in", "warmup",
					      "work",	    NULL};
	bool of_host = sqlite3_column_type(row, 0) == SQLITE_TEXT;
	bool of_run = sqlite3_column_type(row, 2) == SQLITE_INTEGER;
	const char *name = (const char *)sqlite3_column_text(row, 3), *dot;

	if (!name)
		return hide_words(a, text, row);
	dot = strrchr(name, '.');
	if (of_run && !str_starts(name, "sysctl:"))
		return keep_text(a, text, row);
	if (of_host || of_run)
		return fact_of_host_is_kept(name, text) ? xstrdup(text) : hide_words(a, text, row);
	if (str_starts(name, "setting.") || str_ends(name, ".units"))
		return hide_setting(a, text, row);
	return text_is_in(dot ? dot + 1 : name, of_side) ? xstrdup(text) : hide_words(a, text, row);
}

/*
 * Texts that zcost writes into a conversion that can also be a text of the host: names of readings,
 * and the words around names of sides.
 */
static const char *const note_words[] = {"/proc/interrupts",
					 "/proc/net/snmp",
					 "/proc/net/sockstat",
					 "/proc/stat",
					 "and",
					 "idle.snap",
					 "nic.snap",
					 "sched.snap",
					 "side",
					 "sides",
					 "softnet_stat",
					 "tcp.snap",
					 "the",
					 "the workload's account",
					 "threads.snap",
					 "workload",
					 NULL};

static bool note_name_is_public(const struct anonymous *a, const char *name)
{
	return !strpbrk(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/:.") ||
	       text_is_number(name) || text_is_in(name, note_words) ||
	       intern_find(&a->kept, name, strlen(name)) != INTERN_NONE;
}

/* Returns whether the text is a public name, or a list of them such as "the sides a and b". */
static bool note_text_is_public(const struct anonymous *a, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *word;
	bool whole = note_name_is_public(a, text), words = true;

	while (!whole && words && (word = strsep(&rest, " ,+")))
		words = note_name_is_public(a, word);
	free(copy);
	return whole || words;
}

/* Hides the texts in the values of a note, except those of zcost and names that the copy has. */
static char *hide_note_values(struct anonymous *a, const char *text, sqlite3_stmt *row)
{
	const char *kind = (const char *)sqlite3_column_text(row, 2);
	const struct note_kind *known = kind ? note_kind_find(kind) : NULL;
	json_t *list = json_loads(text, JSON_DECODE_ANY, NULL), *value;
	char *hidden, *dump;
	size_t i;

	json_array_foreach (list, i, value) {
		const char *s = json_string_value(value);

		if (!s || (known && note_text_is_own(known, i)) || note_text_is_public(a, s))
			continue;
		hidden = hide_by_hash(a, "text", s);
		json_array_set_new(list, i, json_string(hidden));
		free(hidden);
	}
	dump = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(list);
	return dump ? dump : xstrdup("[]");
}

static const struct {
	const char *column;
	hide_text *hide;
} rules[] = {
	{"capture.key", keep_text},
	{"capture.value", hide_capture_value},
	{"variant.name", keep_text},
	{"variant.what", hide_all},
	{"variant.base", keep_text},
	{"setting.variant", keep_text},
	{"setting.name", keep_text},
	{"setting.value", hide_setting},
	{"host.name", hide_host},
	{"host.release", keep_text},
	{"host.arch", keep_text},
	{"host.cpu_model", keep_text},
	{"host.virtualization", keep_text},
	{"fact.host", hide_host},
	{"fact.variant", keep_text},
	{"fact.name", keep_text},
	{"fact.value", hide_fact},
	{"run.variant", keep_text},
	{"run.pass", keep_text},
	{"run.side", keep_text},
	{"run.host", hide_host},
	{"run.command", hide_words},
	{"run.cpus", keep_text},
	{"run.status", keep_text},
	{"run.why", hide_all},
	{"run.role", keep_text},
	{"collector.name", keep_text},
	{"collector.state", keep_text},
	{"collector.why", hide_all},
	{"metric.name", keep_text},
	{"metric.object", hide_object_of_metric},
	{"metric.unit", keep_text},
	{"metric.source", keep_text},
	{"series.name", hide_object_of_metric},
	{"event.name", keep_text},
	{"comm.name", hide_comm},
	{"dso.name", hide_object},
	{"dso.build_id", hide_build_id},
	{"symbol.name", keep_text},
	{"component.fine", keep_text},
	{"component.basic", keep_text},
	{"spot.line", keep_text},
	{"code.arch", keep_text},
	{"code.bytes", keep_text},
	{"syscall.comm", hide_comm},
	{"syscall.name", keep_text},
	{"syscall_hist.comm", hide_comm},
	{"syscall_hist.kind", keep_text},
	{"thread.comm", hide_comm},
	{"thread.allowed", keep_text},
	{"thread.cpus", keep_text},
	{"socket.local", hide_address},
	{"socket.peer", hide_address},
	{"socket.congestion", keep_text},
	{"socket.state", keep_text},
	{"topology.host", hide_host},
	{"topology.kind", keep_text},
	{"topology.name", keep_text},
	{"topology.cpus", keep_text},
	{"topology.distances", keep_text},
	{"note.severity", keep_text},
	{"note.kind", keep_text},
	{"note.vals", hide_note_values},
};

static hide_text *rule_find(const char *table, const char *column)
{
	char *name = xasprintf("%s.%s", table, column);
	hide_text *found = NULL;
	size_t i;

	for (i = 0; i < array_size(rules) && !found; i++)
		if (!strcmp(rules[i].column, name))
			found = rules[i].hide;
	free(name);
	return found;
}

/* --- the copy --- */

struct copying {
	struct anonymous *a;
	struct store *from, *to;
	const char *table;
	sqlite3_stmt *read, *write;
	hide_text *hide[COLUMNS]; /* a function for each column, or NULL */
};

/* The code of the user's own programs is left out, and that of the kernel stays. */
static char *copy_read_sql(const char *table)
{
	return sqlite3_mprintf("SELECT * FROM \"%w\"%s", table,
			       strcmp(table, "code")
				       ? ""
				       : " WHERE symbol IN (SELECT y.id FROM symbol y JOIN dso d "
					 "ON d.id = y.dso WHERE d.kind IN (1, 2))");
}

static char *copy_write_sql(const char *table, int columns)
{
	char *sql = sqlite3_mprintf("INSERT INTO \"%w\" VALUES (?", table);
	int i;

	for (i = 1; i < columns; i++)
		sql = sqlite3_mprintf("%z, ?", sql);
	return sqlite3_mprintf("%z)", sql);
}

static int copy_bind_text(struct copying *c, int i, struct error *err)
{
	const char *text = (const char *)sqlite3_column_text(c->read, i);
	char *hidden;
	int rc;

	if (!c->hide[i])
		return error_set(err, EINVAL, "%s: %s.%s has a text, and no rule to hide it",
				 c->from->path, c->table, sqlite3_column_name(c->read, i));
	hidden = c->hide[i](c->a, text ? text : "", c->read);
	rc = sqlite3_bind_text(c->write, i + 1, hidden, -1, SQLITE_TRANSIENT);
	free(hidden);
	return rc ? sql_error(c->to, err) : 0;
}

static int copy_row(struct copying *c, struct error *err)
{
	int i, rc = 0, n = sqlite3_column_count(c->read);

	for (i = 0; i < n && !rc; i++) {
		int type = sqlite3_column_type(c->read, i);

		if (type == SQLITE_TEXT || type == SQLITE_BLOB)
			rc = copy_bind_text(c, i, err);
		else if (sqlite3_bind_value(c->write, i + 1, sqlite3_column_value(c->read, i)))
			rc = sql_error(c->to, err);
	}
	if (!rc && sqlite3_step(c->write) != SQLITE_DONE)
		rc = sql_error(c->to, err);
	sqlite3_reset(c->write);
	return rc;
}

static int copy_table(struct copying *c, struct error *err)
{
	char *read = copy_read_sql(c->table), *write = NULL;
	int rc = sqlite3_prepare_v2(c->from->db, read, -1, &c->read, NULL) ? sql_error(c->from, err)
									   : 0,
	    i;

	for (i = 0; !rc && i < sqlite3_column_count(c->read) && i < COLUMNS; i++)
		c->hide[i] = rule_find(c->table, sqlite3_column_name(c->read, i));
	if (!rc)
		write = copy_write_sql(c->table, i);
	if (!rc && sqlite3_prepare_v2(c->to->db, write, -1, &c->write, NULL))
		rc = sql_error(c->to, err);
	while (!rc && (rc = sql_next(c->from, c->read, err)) > 0)
		rc = copy_row(c, err);
	sqlite3_finalize(c->read);
	sqlite3_finalize(c->write);
	c->read = c->write = NULL;
	sqlite3_free(read);
	sqlite3_free(write);
	return rc;
}

/* Copies the tables that the schema leaves empty, notes last: they may name what is in the others.
 */
static int copy_tables(struct copying *c, struct error *err)
{
	const char **names;
	int n = sql_names(c->to, &names, err,
			  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
			  "'sqlite_%' AND name NOT IN ('context', 'dso_kind', 'note_kind') "
			  "ORDER BY name = 'note', rowid"),
	    i, rc = n < 0 ? n : 0;

	for (i = 0; i < n && !rc; i++) {
		c->table = names[i];
		rc = copy_table(c, err);
	}
	if (n >= 0)
		free(names);
	return rc;
}

int store_write_anonymous(struct store *from, const char *path, const char *identity,
			  struct error *err)
{
	struct anonymous a = {.identity = identity};
	struct copying c = {.a = &a, .from = from};
	int rc = 0;

	if (getrandom(a.salt, SALT, 0) != SALT)
		return error_sys(err, errno, "no random bytes for the names");
	rc = store_create(&c.to, path, err);
	if (rc)
		return rc;
	rc = store_begin(c.to, err);
	if (!rc)
		rc = copy_tables(&c, err);
	if (!rc)
		rc = store_capture_put(c.to, "anonymous", "1", err);
	if (!rc)
		rc = store_commit(c.to, err);
	if (!rc)
		rc = store_commit_all(c.to, err);
	explicit_bzero(a.salt, SALT);
	intern_free(&a.kept);
	return store_close(c.to, rc, err);
}
