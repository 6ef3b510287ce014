#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Checks the component of each function in published listings (tests/data): devmem TCP on idpf, XDP on
# mlx5, 8139cp, and two of perf top. At most 3 % of the listed shares may be unclassified in each set.
. "$(dirname "$0")/../lib.sh"
data=$tests/data

unclassified() { # LISTING SET: writes the unclassified percentage of the listing
	"$zcost" report components --component-set "$2" --perf-report "$data/$1.txt" --format tsv 2>err |
		tsv '{ n += $at["self_share"]; if ($1 == "unclassified") u = $at["self_share"] }
			END { if (!n) exit 1; printf "%.2f\n", 100 * u / n }' >share || { cat err; return 1; }
	awk '{ exit !($1 <= 3) }' share || { echo "$(cat share) %"; return 1; }
}
for listing in devmem-functions xdp-self xdp-tx 8139cp perf-top; do
	for set in fine basic; do
		ok "at most 3 % of $listing are unclassified in set $set" unclassified $listing $set
	done
done

is() { # COMPONENT DSO FUNCTION...
	want=$1 dso=$2
	shift 2
	for f; do
		printf '# Overhead  Shared Object  Symbol\n  50.00%%  %s  [%s] %s\n' "$dso" "${mark:-k}" "$f" >one
		got=$("$zcost" report components --perf-report one --format tsv 2>err | awk -F'\t' 'NR == 2 { print $1 }')
		[ "$got" = "$want" ] || { echo "$f: $got, not $want"; return 1; }
	done
}
K='[kernel.kallsyms]'
ok "functions of zero copy belong to zero copy" is 'zero copy' $K tcp_recvmsg_dmabuf gen_pool_alloc_algo_owner \
	net_is_devmem_iov io_zcrx_recv_skb msg_zerocopy_callback io_notif_complete_tw_ext
ok "functions that map pages belong to page mapping" is 'page mapping' $K tcp_zerocopy_receive vm_insert_pages zap_pte_range
ok "functions that pin pages belong to page pinning" is 'page pinning' $K pin_user_pages_fast gup_fast try_grab_folio unpin_user_page
ok "functions that look pages up and pass them on belong to splice" is splice $K filemap_get_pages xas_load splice_direct_to_actor \
	generic_pipe_buf_get
ok "functions that recycle buffers belong to page_pool" is page_pool $K page_pool_put_unrefed_netmem napi_pp_put_page
ok "functions of a driver's library that recycle buffers belong to page_pool" is page_pool '[libeth]' libeth_rx_recycle_slow
ok "functions of GRO belong to GRO" is GRO $K dev_gro_receive tcp4_gro_receive skb_gro_receive napi_gro_flush inet_gro_complete
ok "functions of a driver belong to netdevice" is netdevice '[idpf]' idpf_vport_splitq_napi_poll
ok "a driver's module decides about an unknown function" is netdevice '[mlx5_core]' surely_no_such_name
ok "functions of system call entry and exit belong to entry" is entry $K entry_SYSCALL_64_after_hwframe do_syscall_64 \
	syscall_exit_to_user_mode srso_alias_return_thunk
ok "functions of measuring belong to tracing" is tracing $K perf_event_overflow ftrace_ops_list_func __traceiter_sys_enter
ok "zcost's own BPF programs and what they call belong to tracing" is tracing $K bpf_prog_8b4f_zcost_sys_enter ktime_get_mono_fast_ns \
	bpf_ringbuf_reserve
ok "other BPF programs belong to filter" is filter $K bpf_prog_8b4f_drop
ok "the lookup in a BPF map belongs to filter, not to locks" is filter $K percpu_array_map_lookup_elem
ok "suffixes of compilers do not change the component" is TCP/IP $K tcp_ack.constprop.0 tcp_rcv_established.isra.0.cold
ok "a name with blanks belongs to the component of the name with underscores" is 'zero copy' $K 'tcp recvmsg dmabuf'
mark=.
ok "functions of libc belong to libraries" is libraries libc.so.6 __memmove_avx_unaligned
ok "functions of the dynamic linker belong to libraries" is libraries ld-linux-x86-64.so.2 _dl_relocate_object
ok "functions of a program belong to user" is user haproxy process_session

# --- the rules as a whole ---
rules=$top/analyze/costs/components.rules
of="$build/tests/tools/components_of"

# The expected components were checked by hand. They have the functions that profiles of transfers show most, and those
# that a glob of another component matches too.
listed() {
	cut -f 2 "$tests/data/components.tsv" | "$of" | diff "$tests/data/components.tsv" -
}
ok "each listed function of the kernel belongs to its component" listed

# Prints "component name" for a name that each pattern of names matches.
witnesses() {
	awk '/^#/ { next } { n = split($0, field, "|") } !/^[ \t]/ { c = field[1]; sub(/ *$/, "", c) }
		{ n = split(field[n], word, /[ \t]+/) }
		{ for (i = 1; i <= n; i++) if (word[i] && word[i] !~ /:/) { gsub(/\*/, "Zz", word[i]); print c "\t" word[i] } }' "$1"
}
each_decides() { # FILE
	witnesses "$1" >want
	cut -f 2 want | "$of" "$1" | diff want -
}
ok "no pattern of the rules is hidden by another one" each_decides "$rules"
ok "no pattern of the rules stands twice" sh -c "cut -f 2 want | sort | uniq -d | { ! grep .; }"
printf 'a | tcp_*\nb | tcp_*\n' >twice.rules
ok "a hidden pattern is found" sh -c '! "$@"' - each_decides twice.rules

# The same choice, written again: prints the component of each name of standard input, and to standard error each
# pattern that matches some of the names and whose component wins none of them.
cat >choose.pl <<'E2'
my (%exact, %glob, @other, $component);
open my $rules, "<", shift or die;
while (<$rules>) {
	next if /^#/ || !/\S/;
	$component = $1 if /^(\S[^|]*?) *\|/;
	for my $p (grep { !/:/ } split " ", s/.*\|//r) {
		my $rule = [$p, $component, length $p =~ s/[*?]//gr];
		if ($p !~ /[*?]/) { $exact{$p} = $rule }
		elsif ($p =~ /^([^*?]+)\*$/) { $glob{$1} = $rule }
		else { my $re = join ".*", map quotemeta, split /\*/, $p, -1; push @other, [@$rule, qr/^$re$/] }
	}
}
my (%matches, %wins);
while (my $symbol = <STDIN>) {
	chomp $symbol;
	my $name = $symbol =~ s/^__pi_//r =~ s/(?<=.)\.(isra\.|part\.|constprop\.|cold|llvm\.|lto_priv\.|localalias).*//r =~ s/_noprof$//r;
	my @rules = grep { defined } map { $glob{substr $name, 0, $_} } 1 .. length $name;
	push @rules, grep { $name =~ $_->[3] } @other;
	my ($best) = $exact{$name} || sort { $b->[2] <=> $a->[2] } @rules;
	print $best ? $best->[1] : "unclassified", "\t$symbol\n";
	$matches{$_->[0]} = 1, $wins{$_->[0]} |= $_->[1] eq $best->[1] for @rules;
}
print STDERR "$_\n" for grep { !$wins{$_} } sort keys %matches;
E2
names() {
	cut -f 2 "$tests/data/components.tsv"
	awk '$2 ~ /^[tTwW]$/ && $3 !~ /^__(pfx|cfi)_/ { print $3 }' /proc/kallsyms
}
names | sort -u >names
perl choose.pl "$rules" <names >want 2>lost
"$of" <names >got
ok "the most specific pattern decides for every function of this kernel" cmp want got
ok "every pattern that matches a function of this kernel decides for one, or its component does" sh -c '! grep . lost'

mark=
if command -v perf >/dev/null && perf record -q -a -g -e cpu-clock -F 3000 -o c.data -- \
	sh -c 'dd if=/dev/zero bs=64k count=20000 2>/dev/null | cat >/dev/null' 2>/dev/null; then
	printf 'in calls | context:syscall\nelsewhere | *\n' >own.rules
	share() { awk -F'\t' -v row="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$1 == row { print $at["self_share"] }' "$1"; }
	"$zcost" report components --perf c.data --components own.rules --format tsv >own 2>err
	"$zcost" report contexts --perf c.data --format tsv >contexts 2>err
	ok "a user's rule can match the context" near "$(share own 'in calls')" "$(share contexts syscall)" 1e-9
else
	skip "a user's rule can match the context" "perf cannot record here"
fi

done_testing
