#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kernel.sh VMLINUZ MODULES COMMAND...: runs the command as root on another kernel, in a virtual machine of two CPUs without KVM, so
# slowly. MODULES: the kernel's lib/modules/VERSION. The machine sees this machine's files, and what it writes is lost. Its network
# card, virtio_net, reaches nothing; with SSH_PORT, that port of loopback leads to port 22. It ends with the command, whose
# exit code this script returns, or after LIMIT seconds (900). With TCG=single, one thread emulates both CPUs: still slower, but with two
# threads, a kernel that switches tracepoints may panic (int3). It needs qemu-system-x86_64, busybox-static and cpio.
#
#   apt-get download linux-image-6.1.0-40-amd64 && dpkg -x linux-image-6.1.0-40-amd64_*.deb k
#   sh tests/kernel.sh k/boot/vmlinuz-* k/lib/modules/* env ZCOST_BUILD=$PWD/build-check sh tests/cmd/host-path.t
set -eu
[ $# -ge 3 ] || { sed -n '3,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
vmlinuz=$1 modules=$(cd "$2" && pwd) version=$(basename "$2")
shift 2
dir=$(mktemp -d)
machine=
trap '[ -z "$machine" ] || kill $machine 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

# The first root has the modules that lead to this machine's files, in the order in which each finds its symbols.
needed='virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net
	netfs fscache 9pnet 9pnet_virtio 9p overlay'
mkdir -p "$dir/root/bin" "$dir/root/proc" "$dir/root/dev" "$dir/root/host" "$dir/root/new" "$dir/root/written" "$dir/out"
cp "$(command -v busybox)" "$dir/root/bin/busybox"
for name in $needed; do
	file=$(find "$modules" -name "$name.ko*" | head -1)
	case $file in
	*.xz) xz -dc "$file" ;;
	*.zst) zstd -qdc "$file" ;;
	*.ko) cat "$file" ;;
	*) continue ;;
	esac >"$dir/root/$name.ko"
done
cat >"$dir/root/init" <<END
#!/bin/busybox sh
b=/bin/busybox
\$b mount -t devtmpfs none /dev
for name in $(echo $needed); do [ ! -e \$name.ko ] || \$b insmod \$name.ko; done
\$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /host &&
	\$b mount -t tmpfs none /written && \$b mkdir /written/upper /written/work &&
	\$b mount -t overlay -o lowerdir=/host,upperdir=/written/upper,workdir=/written/work none /new &&
	\$b mount --move /dev /new/dev && exec \$b switch_root /new /bin/sh "$dir/start"
\$b poweroff -f
END
chmod +x "$dir/root/init"
(cd "$dir/root" && find . | cpio -o -H newc --quiet) >"$dir/initramfs"

: >"$dir/command"
for word; do printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")" >>"$dir/command"; done
cat >"$dir/start" <<END
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc none /proc; mount -t sysfs none /sys; mount -t tracefs none /sys/kernel/tracing; mount -t bpf none /sys/fs/bpf
mkdir -p /dev/pts /dev/shm; mount -t devpts none /dev/pts; mount -t tmpfs none /dev/shm; mount -t tmpfs none /run
rm -rf /lib/modules; ln -s "$(dirname "$modules")" /lib/modules
mount -t 9p -o trans=virtio,version=9p2000.L out /mnt
hostname guest; ip link set lo up; ip link set eth0 up; ip address add 10.0.2.15/24 dev eth0
cd "$PWD"; . "$dir/command" >/mnt/out 2>&1; echo \$? >/mnt/code
sync; busybox poweroff -f
END
[ -e "$modules/modules.dep" ] || depmod -b "${modules%/lib/modules/*}" "$version"
: >"$dir/out/out"
timeout "${LIMIT:-900}" qemu-system-x86_64 -accel "tcg,thread=${TCG:-multi}" -cpu max -smp 2 -m "${MEMORY:-4096}" -display none -no-reboot \
	-serial "file:$dir/console" -kernel "$vmlinuz" -initrd "$dir/initramfs" \
	-append "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable net.ifnames=0" \
	-fsdev local,id=host,path=/,readonly=on,security_model=none,multidevs=remap -device virtio-9p-pci,fsdev=host,mount_tag=host \
	-fsdev "local,id=out,path=$dir/out,security_model=none" -device virtio-9p-pci,fsdev=out,mount_tag=out \
	-netdev "user,id=net,restrict=on${SSH_PORT:+,hostfwd=tcp:127.0.0.1:$SSH_PORT-:22}" -device virtio-net-pci,netdev=net </dev/null &
machine=$!
tail -f -n +1 --pid=$machine "$dir/out/out"
wait $machine || echo "kernel.sh: the machine did not end within ${LIMIT:-900} s" >&2
machine=
[ -e "$dir/out/code" ] || { tail -20 "$dir/console" >&2; exit 125; }
exit "$(cat "$dir/out/code")"
