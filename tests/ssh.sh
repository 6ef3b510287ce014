# SPDX-License-Identifier: GPL-2.0-only
# Two hosts that the test makes; source it after lib.sh. They are two network namespaces, `here` and `there`, joined by
# veth. `there` runs an sshd with keys and configuration in the scratch folder. Its clock is 100 s ahead if the kernel
# has time namespaces. It has the same host name and another boot id.
#
# The test neither reads nor writes the system's /etc/ssh, ~/.ssh and /run/sshd.

here=zcost-ssh-a-$$
there=zcost-ssh-b-$$
ahead=

need ssh
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || skip_all "needs sshd (openssh-server)"
need root

in_here() {
	ip netns exec $here "$@"
}

cleanup() {
	for ns in $here $there; do
		ip netns pids $ns 2>/dev/null | while read -r p; do kill -KILL "$p" 2>/dev/null; done
		ip netns del $ns 2>/dev/null
	done
}

namespaces() {
	cleanup # removes the namespaces of a killed test that had the same pid
	ip netns add $here && ip netns add $there &&
		ip link add a$$ netns $here type veth peer name b$$ netns $there || return 1
	ip -n $here addr add 192.0.2.1/30 dev a$$
	ip -n $there addr add 192.0.2.2/30 dev b$$
	for d in lo a$$; do ip -n $here link set $d up; done
	for d in lo b$$; do ip -n $there link set $d up; done
}

# A mount namespace gives sshd its own /run/sshd, a boot id, and a root that may log in. Since OpenSSH 9.8 sshd refuses,
# for a while, an address that has lost a session.
cat >there.sh <<EOF
set -e
mount --make-rprivate /
mount -t tmpfs none /run
mkdir -m 755 /run/sshd
mount --bind $scratch/boot_id /proc/sys/kernel/random/boot_id
mount --bind $scratch/shadow /etc/shadow
mkdir -p $scratch/tmp $scratch/tiny
mount -t tmpfs -o size=\${1}k none $scratch/tiny
shift
echo \$\$ >$scratch/sshd.pid
"\$1" -t -o PerSourcePenalties=no -f $scratch/sshd_config 2>/dev/null && set -- "\$@" -o PerSourcePenalties=no
exec "\$@"
EOF

start_sshd() {
	unshare -T --monotonic 100 true 2>/dev/null && ahead=100
	ip netns exec $there unshare -m ${ahead:+-T --monotonic $ahead} sh there.sh 600 \
		"$sshd" -D -e -f "$scratch/sshd_config" >sshd.log 2>&1 &
	n=0
	until grep -qs listening sshd.log; do
		n=$((n + 1))
		[ $n -lt 400 ] || { sed 's/^/# /' sshd.log; return 1; }
		sleep 0.05
	done
	sshd_pid=$(cat sshd.pid)
}

# pids_there PATTERN: prints the processes of `there` with a matching command line, without sshd itself.
pids_there() {
	for p in $(ip netns pids $there); do
		[ "$p" = "$sshd_pid" ] && continue
		tr '\0' ' ' 2>/dev/null <"/proc/$p/cmdline" | grep -q -- "$1" && echo "$p"
	done
	true
}

ssh_world() {
	echo "0badc0de-0000-4000-8000-$(printf %012d $$)" >boot_id
	printf 'root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n' >shadow
	for k in host user; do ssh-keygen -q -t ed25519 -N '' -C "" -f $k.key || return 1; done
	cat >sshd_config <<-EOF
		Port 2222
		ListenAddress 192.0.2.2
		HostKey $scratch/host.key
		AuthorizedKeysFile $scratch/user.key.pub
		StrictModes no
		UsePAM no
		PidFile none
		PermitRootLogin yes
		PasswordAuthentication no
		SetEnv TMPDIR=$scratch/tmp
	EOF
	echo "[192.0.2.2]:2222 $(cut -d' ' -f1,2 host.key.pub)" >known_hosts
	cat >ssh_config <<-EOF
		Host *
		UserKnownHostsFile $scratch/known_hosts
		GlobalKnownHostsFile /dev/null
		IdentityFile $scratch/user.key
		IdentitiesOnly yes
		IdentityAgent none
	EOF
	chmod 600 user.key.pub
	namespaces && start_sshd
}
