// SPDX-License-Identifier: GPL-2.0-only
#include "capture/plan.h"
#include "capture/manifest.h"
#include "lib/words.h"
#include "lib/str.h"
#include "tests/unit/unit.h"

const char zcost_version[] = "test";

enum { RECEIVER, SENDER }; /* the order in which sides start */

static const char good[] = "# what it is for\n"
			   "[plan]\n"
			   "name = a try; with # signs\n"
			   "passes = syscalls measure\n"
			   "repeats = 3\n"
			   "syscalls_repeats = 2\n"
			   "warmup = 0.5\n"
			   "duration = 2s\n"
			   "estimator = middle\n"
			   "before = ip link set lo mtu 61512\n"
			   "  echo \"$HOME\" $${HOME}\n"
			   "; a comment between\n"
			   "after = true\n"
			   "\n"
			   "[vars]\n"
			   "size = 128K\n"
			   "rx = ${bindir}/tcpzc --size ${size}\n"
			   "[side receiver]\r\n"
			   "cpus = 0-3,8\n"
			   "prefix = ip netns exec x\n"
			   "[side sender]\n"
			   "call_graph = dwarf,4096\n"
			   "freq = 99\ntime_one_in = 16\n"
			   "[variant base-1]\n"
			   "what = send -> recv\n"
			   "receiver = ${rx} --rx recv\n"
			   "sender = sh -c 'a \"b\" c' \"d e\" f\\ g ''\n"
			   "[variant zc]\n"
			   "receiver = ${plandir}/x\n"
			   "sender = y\n";

TEST(trace_pass_runs_only_where_the_plan_names_it)
{
	freed(plan_free) struct plan none, named;

	plan_init(&none);
	plan_init(&named);
	assert_false(none.passes & 1 << PASS_TRACE);
	assert_int_equal(plan_parse(&named, "p.ini",
				    "[plan]\npasses = trace\n[side a]\nrole = sender\n"
				    "[variant v]\na = x\n",
				    "/opt", NULL),
			 0);
	assert_int_equal(named.passes, 1 << PASS_TRACE);
	assert_int_equal(plan_repeats(&named, PASS_TRACE), 1);
}

TEST(plan_with_every_section_is_read)
{
	freed(plan_free) struct plan p;

	plan_init(&p);
	assert_int_equal(plan_parse(&p, "dir/p.ini", good, "/opt", NULL), 0);
	assert_string_equal(p.name, "a try; with # signs");
	assert_int_equal(p.passes, 1 << PASS_MEASURE | 1 << PASS_SYSCALLS);
	assert_int_equal(p.repeats[PASS_MEASURE], 3);
	assert_int_equal(p.repeats[PASS_SYSCALLS], 2);
	assert_int_equal(plan_repeats(&p, PASS_SYSCALLS), 2);
	assert_int_equal(plan_repeats(&p, PASS_PROFILE), 3); /* the default: as many as repeats */
	assert_true(p.warmup_s == 0.5 && p.duration_s == 2);
	assert_string_equal(p.estimator, "middle");
	assert_string_equal(p.before, "ip link set lo mtu 61512\necho \"$HOME\" ${HOME}");
	assert_int_equal(p.nsides, 2);
	assert_string_equal(p.sides[RECEIVER].cpus, "0-3,8");
	assert_string_equal(p.sides[RECEIVER].prefix, "ip netns exec x");
	assert_string_equal(p.sides[SENDER].call_graph, "dwarf,4096");
	assert_string_equal(p.sides[RECEIVER].call_graph, "");
	assert_string_equal(p.sides[SENDER].freq, "99");
	assert_string_equal(p.sides[SENDER].time_one_in, "16");
	assert_string_equal(p.sides[RECEIVER].time_one_in, "");
	assert_int_equal(p.nvariants, 2);
	assert_string_equal(p.variants[0].what, "send -> recv");
	assert_string_equal(p.variants[0].command[RECEIVER], "/opt/tcpzc --size 128K --rx recv");
	assert_string_equal(p.variants[1].command[RECEIVER], "dir/x");
	assert_string_equal(p.text, good);
}

static struct plan plan_of(const char *text)
{
	struct plan p;

	plan_init(&p);
	if (plan_parse(&p, "p.ini", text, "/opt", &err))
		fail_msg("%s", err.text);
	return p;
}

/* ${bindir} differs between this host and a side's host, wherever the section is in the plan. */
static const char afar[] = "[plan]\nbefore = ${bindir}/b\n"
			   "[vars]\nx = ${bindir}/x\ny = ${x} ${x}\n"
			   "[side sender]\n"
			   "[variant v]\nreceiver = ${y} ${bindir}\nsender = ${y}\n"
			   "[side receiver]\nprefix = ${bindir}/p\nzcost = ${bindir}/zcost\n"
			   "host = ssh://root@b:22\n";

TEST(bindir_is_that_of_each_side)
{
	freed(plan_free) struct plan p = plan_of(afar);

	assert_string_equal(p.before, "/opt/b");
	assert_string_equal(p.variants[0].command[SENDER], "/opt/x /opt/x");
	assert_string_equal(p.sides[RECEIVER].host, "ssh://root@b:22");
	assert_string_equal(p.sides[RECEIVER].zcost, "/opt/zcost");
	plan_set_bindir(&p, RECEIVER, "/there");
	plan_set_bindir(&p, SENDER, "/there");
	assert_string_equal(p.variants[0].command[RECEIVER], "/there/x /there/x /there");
	assert_string_equal(p.variants[0].command[SENDER], "/opt/x /opt/x");
	assert_string_equal(p.sides[RECEIVER].prefix, "/there/p");
	assert_string_equal(p.sides[RECEIVER].zcost, "/opt/zcost");
	assert_string_equal(p.before, "/opt/b");
}

/* A matrix can give each combination of settings its sides. Hooks run on this host. */
TEST(bindir_is_that_of_each_side_in_a_matrix)
{
	static const char text[] = "[vars]\nx = ${bindir}/x\n"
				   "[setting s]\nvalues = 1 2\nbefore = ${x} ${s}\nafter = ${x}\n"
				   "[side receiver]\nhost = ssh://b\nprefix = ${x} ${s}\n"
				   "[variant a]\nreceiver = ${x} ${s}\n";
	freed(plan_free) struct plan p = plan_of(text);

	plan_set_bindir(&p, RECEIVER, "/there");
	assert_int_equal(p.nvariants, 2);
	assert_string_equal(p.variants[1].command[RECEIVER], "/there/x 2");
	assert_string_equal(plan_sides(&p, &p.variants[1])[RECEIVER].prefix, "/there/x 2");
	assert_string_equal(plan_combination(&p, 1)->set[0].hooks.before, "/opt/x 2");
}

/* Sides have free names. A variant may name them before their sections. */
TEST(sides_start_in_the_order_of_their_roles)
{
	static const char text[] = "[variant v]\nclient-1 = a\nserver = b\nmid = c\nsender = d\n"
				   "[side client-1]\nrole = sender\nwork = server\n"
				   "[side sender]\n[side mid]\nrole = proxy\n"
				   "[side server]\nrole = receiver\n";
	static const char *const names[] = {"server", "mid", "client-1", "sender"};
	static const char *const commands[] = {"b", "c", "a", "d"};
	static const double grace_s[] = {20, 15, 10, 10};
	freed(plan_free) struct plan p = plan_of(text);

	assert_int_equal(p.nsides, 4);
	for (int i = 0; i < 4; i++) {
		assert_string_equal(p.sides[i].name, names[i]);
		assert_string_equal(p.variants[0].command[i], commands[i]);
		assert_true(plan_grace(&p, i) == grace_s[i]);
	}
	assert_string_equal(p.sides[2].work, "server");
}

/* ${seconds} covers the window and 2 s of margin, and the time in which runs were seen to start. */
TEST(seconds_of_a_command_grow_with_the_start)
{
	static const char text[] =
		"[plan]\nwarmup = 0.2\nduration = 0.6\n"
		"[vars]\nsend = y -t ${seconds}\n[side receiver]\n[side sender]\n"
		"[variant v]\nreceiver = x\nsender = sh -c '${send}; ${send} -Z'\n";
	static const double start_s[] = {0, 0.3, 7};
	static const char *const want[] = {"sh -c 'y -t 3; y -t 3 -Z'", "sh -c 'y -t 4; y -t 4 -Z'",
					   "sh -c 'y -t 10; y -t 10 -Z'"};
	freed(plan_free) struct plan p = plan_of(text);
	autofree char *command;

	assert_string_equal(p.variants[0].command[1],
			    "sh -c 'y -t ${seconds}; y -t ${seconds} -Z'");
	assert_true(variant_has_seconds(&p, &p.variants[0]));
	for (int i = 0; i < 3; i++) {
		command = plan_command(&p, &p.variants[0], 1, start_s[i]);
		assert_string_equal(command, want[i]);
		free(command);
	}
	command = plan_command(&p, &p.variants[0], 0, 7);
	assert_string_equal(command, "x");
}

/* The seconds of the plan's own [vars] are a variable like any other. */
TEST(seconds_of_the_plan_are_not_replaced)
{
	static const char text[] = "[vars]\nseconds = 60\n[side receiver]\ncpus = ${seconds}\n"
				   "[variant v]\nreceiver = x ${seconds}\n";
	freed(plan_free) struct plan p = plan_of(text);

	assert_string_equal(p.sides[0].cpus, "60");
	assert_string_equal(p.variants[0].command[0], "x 60");
	assert_false(variant_has_seconds(&p, &p.variants[0]));
}

#define PLAN	"[plan]\n"
#define SIDE	"[side receiver]\n"
#define VARIANT "[variant a]\nreceiver = x\n"
#define SET	"[setting mtu]\nvalues = 1500 9000\nbefore = x\nafter = y\n"
#define LONG	"a-label-of-more-than-thirty-two-letters"

/* Every message names the line and says what is allowed. */
static const struct {
	const char *text, *says;
} bad[] = {
	{"", "p.ini: no [variant NAME] in it"},
	{PLAN SIDE, "p.ini: no [variant NAME] in it"},
	{PLAN "[variant a]\n", "p.ini: no [side NAME] in it, such as [side receiver]"},
	{"name = x\n", "p.ini:1: 'name = x' stands before the first [section]"},
	{PLAN "repeat = 3\n",
	 "p.ini:2: unknown key 'repeat' in [plan]; did you mean repeats? there are: name passes repeats "},
	{PLAN "\n\n[plann]\n",
	 "p.ini:4: unknown section [plann]; did you mean plan? there are [plan], [vars]"},
	{"[plan x]\n", "p.ini:1: unknown section [plan x]"},
	{PLAN "[plan]\n", "p.ini:2: [plan] appears twice"},
	{PLAN SIDE SIDE, "p.ini:3: [side receiver] appears twice"},
	{PLAN "[plan\n", "p.ini:2: a section is written [name]: '[plan'"},
	{PLAN "just words\n", "p.ini:2: neither '[section]' nor 'key = value': 'just words'"},
	{PLAN "name = a\nname = b\n", "p.ini:3: 'name' appears twice"},
	{PLAN "repeats = 0\n", "p.ini:2: repeats: '0' is not a number of repeats (1 to 999)"},
	{PLAN "repeats = -1\n", "p.ini:2: repeats: '-1' is not a number of repeats"},
	{PLAN "repeats =\n", "p.ini:2: repeats: '' is not a number of repeats"},
	{PLAN "warmup = soon\n", "p.ini:2: warmup: 'soon' is not a time in seconds"},
	{PLAN "warmup = nan\n", "p.ini:2: warmup: 'nan' is not a time in seconds"},
	{PLAN "duration = -1\n", "p.ini:2: duration: '-1' is not a time in seconds"},
	{PLAN "duration = 0\n" SIDE VARIANT, "p.ini: duration must be more than 0"},
	{PLAN "passes = measure,perf\n", "p.ini:2: passes: unknown pass 'perf'; there are"},
	{PLAN "passes = ,\n", "p.ini:2: passes: no pass given"},
	{PLAN "estimator = best\n", "p.ini:2: estimator: unknown estimator 'best'; there are"},
	{PLAN "[side receiver]\nwork = sender\n[variant a]\nreceiver = x\n",
	 "p.ini: [side receiver] work = sender: the plan has no other side 'sender'"},
	{PLAN "[side receiver]\nwork = receiver\n[variant a]\nreceiver = x\n",
	 "p.ini: [side receiver] work = receiver: the plan has no other side 'receiver'"},
	{"[side receiver]\nprefix = ${late}\n[vars]\nother = 1\nlate = 2\n",
	 "p.ini:2: prefix: ${late} is defined at line 5; move it above"},
	{"[side left]\n",
	 "p.ini:1: [side left] has no role; add 'role = receiver', 'role = sender' or"},
	{"[side left]\nrole = client\n",
	 "p.ini:2: role: unknown role 'client'; there are receiver sender proxy"},
	{"[side a.b]\n", "p.ini:1: 'a.b' is no name for a side: letters, digits, - _ only"},
	{"[side total]\n", "p.ini:1: 'total' is no name for a side"},
	{"[side what]\n", "p.ini:1: 'what' is no name for a side"},
	{SIDE VARIANT "receiver = y\n", "p.ini:4: 'receiver' appears twice"},
	{SIDE "cpus = 3-1\n", "p.ini:2: cpus: "},
	{SIDE "hots = ssh://x\n", "p.ini:2: unknown key 'hots' in [side]; there are: role prefix"},
	{SIDE "host = x\n", "p.ini:2: host: 'x' is not ssh://[user@]name[:port]"},
	{SIDE "host = ssh://\n", "p.ini:2: host: 'ssh://' is not ssh://"},
	{SIDE "host = ssh://-oProxyCommand=x\n", "p.ini:2: host: 'ssh://-oProxyCommand=x' is not"},
	{SIDE "host = ssh://u@-x\n", "p.ini:2: host: 'ssh://u@-x' is not"},
	{SIDE "host = ssh://x/y\n", "p.ini:2: host: 'ssh://x/y' is not"},
	{PLAN "ssh =\n", "p.ini:2: ssh: the command is missing"},
	{SIDE "call_graph = dwarf,99999\n",
	 "p.ini:2: call_graph: unknown call graph mode 'dwarf,99999'; there are fp, dwarf,"},
	{SIDE "time_one_in = -1\n", "p.ini:2: time_one_in: '-1' is not a number from 1 to 1000000"},
	{SIDE "prefix = 'open\n", "p.ini:2: prefix: a quote is not closed in: 'open"},
	{"[variant ../x]\n", "p.ini:1: '../x' is no name for a variant"},
	{"[variant .x]\n", "p.ini:1: '.x' is no name for a variant"},
	{"[variant]\n", "p.ini:1: '' is no name for a variant"},
	{SIDE VARIANT VARIANT, "p.ini:4: [variant a] appears twice"},
	{SIDE "[variant a]\nreceiver =\n", "p.ini:3: receiver: the command is missing"},
	{SIDE "[variant a]\nwhat = x\n", "p.ini: variant 'a' has no command for the side receiver"},
	{SIDE VARIANT "sender = y\n",
	 "p.ini:4: unknown key 'sender' in [variant]; there are: what receiver"},
	{SIDE "[variant a]\nreceiver = ${nix}\n",
	 "p.ini:3: receiver: unknown variable ${nix}; known here: ${bindir} ${plandir}"},
	{SIDE "[variant a]\nreceiver = ${nix\n", "p.ini:3: receiver: ${ without }"},
	{SIDE "[variant a]\nreceiver = x ${seconds}\n[vars]\nseconds = 1\n",
	 "p.ini:3: receiver: ${seconds} is defined at line 5; move it above"},
	{SIDE "[variant a]\nreceiver = sh -c 'seconds=1; x $${seconds}'\n",
	 "p.ini:3: receiver: $${seconds}: "},
	{PLAN "before = x ${seconds}\n", "p.ini:2: before: ${seconds} has a value in the commands"},
	{"[vars]\na = 1\na = 2\n", "p.ini:3: 'a' appears twice"},
	{"[vars]\nbindir = 1\n", "p.ini:2: variable 'bindir' is already defined"},
	{PLAN "order = random\n", "p.ini:2: order: unknown order 'random'; there are interleaved"},
	{"[setting 1x]\n", "p.ini:1: '1x' is no name for a setting: letters, digits and _"},
	{"[setting variant]\n", "p.ini:1: 'variant' is no name for a setting"},
	{SET SET, "p.ini:5: [setting mtu] appears twice"},
	{"[setting mtu]\n" SIDE VARIANT, "p.ini: setting 'mtu' has no values: add 'values = ...'"},
	{"[setting mtu]\nvalues =\n", "p.ini:2: values: the list is empty"},
	{"[setting mtu]\nvalues = 1 2 1\n", "p.ini:2: values: '1' appears twice"},
	{"[setting mtu]\nbefor = x\n",
	 "p.ini:2: unknown key 'befor' in [setting]; did you mean before? there are: values what save before after"},
	{SET "[value mtu]\n", "p.ini:5: [value mtu]: it is written [value SETTING=VALUE]"},
	{SET "[value gro=1]\n", "p.ini:5: [value gro=1]: it is written [value SETTING=VALUE]"},
	{SET "[value mtu=2]\n", "p.ini:5: [value mtu=2]: setting 'mtu' has no such value"},
	{SET "[value mtu=9000]\n[value mtu=9000]\n", "p.ini:6: [value mtu=9000] appears twice"},
	{"[vars]\ncpu = 1\n" SET "[value mtu=9000]\nbefor = x\n",
	 "p.ini:8: unknown key 'befor' in [value]; did you mean before? there are: what label "
	 "save before after, and the variables of [vars]: cpu"},
	{"[vars]\ncpu = 1\n" SET "[setting gro]\nvalues = on\n[value gro=on]\ncpu = 2\n"
	 "[value mtu=1500]\ncpu = 3\n",
	 "p.ini:12: variable 'cpu' is changed by setting 'gro' too"},
	{"[vars]\nmtu = 1\n" SET SIDE VARIANT, "p.ini:2: variable 'mtu' is already defined"},
	{SET "[matrix]\ncros = mtu\n",
	 "p.ini:6: unknown key 'cros' in [matrix]; did you mean cross? there are: cross"},
	{SET "[matrix]\ncross = gro\n", "p.ini:6: cross: there is no [setting gro]"},
	{SET "[matrix]\ncross = mtu mtu\n", "p.ini:6: cross: 'mtu' appears twice"},
	{SET "[matrix]\nexclude = mtu\n" SIDE VARIANT,
	 "p.ini:6: exclude: a line leaves out no combination"},
	{SET "[matrix]\nexclude = mtu=1500\n\tmtu=9000 variant=b\n" SIDE VARIANT,
	 "p.ini:6: exclude: a line leaves out no combination"},
	{SET "[matrix]\nexclude = mtu=*\n" SIDE VARIANT,
	 "p.ini: [matrix] exclude leaves no variant"},
	{"[setting s]\nvalues = 1 3-1\n[side receiver]\ncpus = ${s}\n" VARIANT, "p.ini:4: cpus: "},
	{SET "[side receiver]\ncpus = 0\n[variant a]\nreceiver = ${gro}\n",
	 "p.ini:8: receiver: unknown variable ${gro}; known here: ${bindir} ${plandir} ${mtu}"},
	{SET "[plan]\nwarmup = ${mtu}\n" SIDE VARIANT,
	 "p.ini:6: warmup: holds for all runs, but a setting changes it"},
	{"[setting mtu]\nvalues = 1\nbefore = x\n" SIDE VARIANT,
	 "p.ini: mtu=1 has a 'before' but no 'after' that undoes it"},
	{"[setting a]\nvalues = 1/2 1:2\n" SIDE VARIANT,
	 "p.ini: two combinations are named 'a+a1-2': give the values different labels"},
	{"[setting a]\nvalues = 1\n[value a=1]\nlabel = " LONG LONG "\n" SIDE VARIANT,
	 "p.ini: 'a+" LONG LONG "' is no name for a variant"},
};

TEST(bad_plan_is_refused_with_its_line)
{
	each (c, bad) {
		struct error err = {0};
		freed(plan_free) struct plan p;

		plan_init(&p);
		assert_int_equal(plan_parse(&p, "p.ini", c->text, "/opt", &err), -EINVAL);
		if (!str_starts(err.text, c->says))
			fail_msg("'%s' says '%s', not '%s'", c->text, err.text, c->says);
	}
}

static const char matrix[] = "[plan]\n"
			     "repeats = 2\n"
			     "passes = measure\n"
			     "[vars]\n"
			     "cpu = 0\n"
			     "run = taskset ${cpu} x\n"
			     "[setting mtu]\n"
			     "what = not shown\n"
			     "values = 1500 9000\n"
			     "save = cat mtu\n"
			     "before = mtu ${mtu}\n"
			     "after = mtu $saved\n"
			     "[setting unused]\n"
			     "values = 1 2\n"
			     "before = ${nonesuch}\n"
			     "[setting place]\n"
			     "values = one 2-3\n"
			     "[value place=one]\n"
			     "what = 1 CPU\n"
			     "[value place=2-3]\n"
			     "cpu = ${place}\n"
			     "label = two\n"
			     "before = move ${cpu} with ${mtu}\n"
			     "after = true\n"
			     "[matrix]\n"
			     "cross = place mtu\n"
			     "exclude = variant=z* mtu=9000\n"
			     "  place=one mtu=15*\n"
			     "[side receiver]\n"
			     "cpus = ${cpu}\n"
			     "[variant base]\n"
			     "what = plain\n"
			     "receiver = ${run} base ${mtu}\n"
			     "[variant zc]\n"
			     "receiver = ${run} zc\n";

static void check_order(const struct plan *p, const char *want);

/* The exclusions leave 4 of 2 variants x 2 places x 2 MTUs. */
TEST(matrix_leaves_out_excluded_combinations)
{
	const struct combination *c;
	freed(plan_free) struct plan p = plan_of(matrix);

	assert_int_equal(p.nvariants, 4);
	assert_string_equal(p.variants[0].name, "base+place-one+mtu9000");
	assert_string_equal(p.variants[0].what, "plain, 1 CPU, mtu 9000");
	assert_string_equal(p.variants[0].command[RECEIVER], "taskset 0 x base 9000");
	assert_string_equal(plan_sides(&p, &p.variants[0])[RECEIVER].cpus, "0");
	assert_string_equal(p.variants[2].name, "zc+two+mtu1500");
	assert_string_equal(p.variants[2].base, "zc");
	assert_string_equal(p.variants[2].what, "place 2-3, mtu 1500");
	assert_string_equal(p.variants[2].command[RECEIVER], "taskset 2-3 x zc");
	assert_string_equal(plan_sides(&p, &p.variants[2])[RECEIVER].cpus, "2-3");
	c = plan_combination(&p, p.variants[2].combination);
	assert_int_equal(c->n, 2);
	assert_string_equal(c->set[0].hooks.before, "move 2-3 with 1500");
	assert_string_equal(c->set[1].hooks.before, "mtu 1500");
	assert_string_equal(c->set[1].hooks.save, "cat mtu");
	assert_string_equal(c->set[1].hooks.after, "mtu $saved");
	check_order(&p, "base+two+mtu9000/measure-01 base+two+mtu1500/measure-01 "
			"zc+two+mtu1500/measure-01 base+place-one+mtu9000/measure-01 "
			"base+place-one+mtu9000/measure-02 zc+two+mtu1500/measure-02 "
			"base+two+mtu1500/measure-02 base+two+mtu9000/measure-02");
	free(p.order);
	p.order = xstrdup("blocks");
	check_order(&p, "base+place-one+mtu9000/measure-01 base+place-one+mtu9000/measure-02 "
			"base+two+mtu1500/measure-01 zc+two+mtu1500/measure-01 "
			"zc+two+mtu1500/measure-02 base+two+mtu1500/measure-02 "
			"base+two+mtu9000/measure-01 base+two+mtu9000/measure-02");
}

TEST(words_split_and_join_as_a_shell_does)
{
	static const char *const want[] = {"sh", "-c", "a \"b\" $c", "d'e", "f g", "",
					   "\\", "$x", "yz",	     "-p",  NULL};
	freed(words_free) struct words w = {0}, again = {0};
	autofree char *line;
	size_t i;

	assert_int_equal(words_split(&w,
				     "  sh -c 'a \"b\" $c' \"d'e\"\n f\\ g '' \\\\ "
				     "\"\\$x\" y\\\nz \\\n-p",
				     NULL),
			 0);
	line = words_join(w.word);
	assert_int_equal(words_split(&again, line, NULL), 0);
	for (i = 0; want[i]; i++) {
		assert_string_equal(w.word[i], want[i]);
		assert_string_equal(again.word[i], want[i]);
	}
	assert_int_equal(w.n, i);
	assert_null(w.word[i]);
	assert_int_equal(again.n, i);
	assert_int_equal(words_split(&w, "x \"", NULL), -EINVAL);
}

static void fill(struct plan *p, const char *const *names)
{
	char *command[] = {(char *)"x", NULL};

	plan_init(p);
	for (; *names; names++)
		assert_int_equal(plan_wrap(p, *names, command, NULL), 0);
}

static void check_order(const struct plan *p, const char *want)
{
	freed(order_free) struct order o;
	freed(str_free) struct str s = {0};

	order_make(&o, p);
	for (size_t i = 0; i < o.n; i++) {
		autofree char *name = run_name(p, &o.run[i]);

		str_printf(&s, "%s%s", i ? " " : "", name);
	}
	assert_string_equal(s.buf ? s.buf : "", want);
}

TEST(order_of_runs_is_random_in_each_round_and_there_and_back)
{
	static const char *const abc[] = {"a", "b", "c", NULL};
	freed(plan_free) struct plan p;

	fill(&p, abc);
	p.repeats[PASS_MEASURE] = 3;
	p.repeats[PASS_PROFILE] = 2;
	check_order(&p, "a/syscalls-01 b/measure-01 c/syscalls-01 b/syscalls-01 a/measure-01 "
			"c/measure-01 b/profile-01 c/profile-01 a/profile-01 "
			"a/profile-02 c/profile-02 b/profile-02 "
			"c/measure-02 a/measure-02 b/measure-02 "
			"a/measure-03 b/measure-03 c/measure-03");
	p.passes = 1 << PASS_SYSCALLS;
	check_order(&p, "a/syscalls-01 c/syscalls-01 b/syscalls-01");
	free(p.seed);
	p.seed = xstrdup("2");
	check_order(&p, "b/syscalls-01 c/syscalls-01 a/syscalls-01");
	p.nvariants = 1;
	check_order(&p, "a/syscalls-01");
	p.nvariants = 3;
}

/* Each run has each place of a round equally often: 500 times expected in 3000 orders. */
TEST(order_of_runs_is_fair)
{
	enum { RUNS = 6, SEEDS = 3000 };
	static const char *const abc[] = {"a", "b", "c", NULL};
	unsigned int count[RUNS][RUNS] = {{0}};
	freed(plan_free) struct plan p;
	struct order o;
	double chi2 = 0;

	fill(&p, abc);
	p.passes = 1 << PASS_MEASURE | 1 << PASS_PROFILE;
	p.repeats[PASS_MEASURE] = 1;
	for (int seed = 0; seed < SEEDS; seed++) {
		free(p.seed);
		p.seed = xasprintf("%d", seed);
		order_make(&o, &p);
		for (size_t i = 0; i < RUNS; i++)
			count[i][o.run[i].variant * 2 + o.run[i].pass]++;
		order_free(&o);
	}
	for (size_t i = 0; i < RUNS * RUNS; i++)
		chi2 += pow(count[i / RUNS][i % RUNS] - 500.0, 2) / 500;
	assert_true(chi2 > 7 && chi2 < 58); /* 25 degrees of freedom, p = 0.0002 on each side */
}

TEST(changed_settings_of_a_variant_are_refused)
{
	static const char *const a[] = {"a", NULL};
	json_t *one, *two;
	freed(plan_free) struct plan p;

	fill(&p, a);
	one = settings_of(&p, &p.variants[0]);
	p.repeats[PASS_MEASURE] = 99; /* another number of repeats does not change the settings */
	two = settings_of(&p, &p.variants[0]);
	assert_int_equal(settings_same(one, two, "a", &err), 0);
	json_decref(two);
	free(p.sides[0].cpus);
	p.sides[0].cpus = xstrdup("1");
	two = settings_of(&p, &p.variants[0]);
	assert_int_equal(settings_same(one, two, "a", &err), -EEXIST);
	assert_string_equal(err.text,
			    "variant 'a' was measured with local.cpus = '', and now it is '1'");
	err = (struct error){0};
	assert_int_equal(settings_same(two, one, "a", &err), -EEXIST);
	assert_string_equal(err.text,
			    "variant 'a' was measured with local.cpus = '1', and now it is ''");
	json_decref(one);
	json_decref(two);
}
