#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tcpzc --rx devmem and --rx zcrx, which need a NIC with spare queues: the real refusals of this kernel with their reasons, and
# memory of a GPU.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

rx=devmem
ok "a receiver without an interface is refused" usage '^tcpzc: --rx devmem: which interface\? --nic IF$' --listen --rx devmem
ok "a sender without an interface is refused" usage '^tcpzc: --tx devmem: which interface\? --nic IF$' --connect ::1 --tx devmem
ok "a server with devmem responses and no interface is refused" usage '--tx devmem: which interface' --listen --rr --rx recv --tx devmem
exec 7<&- # the shell may have inherited it
ok "a receiver refuses a descriptor that is not a dmabuf" refused 'dmabuf-fd 7 is not a dmabuf' --nic lo --dmabuf-fd 7
if [ -e /dev/udmabuf ] && [ "$(id -u)" = 0 ]; then
	ok "an interface that does not exist is an error" refused 'devmem on none0: there is no such interface' --nic none0
	ok "loopback is an error with the reason" refused 'cannot receive into device memory' --nic lo
	ok "memory that is too small for a NIC is an error" refused 'larger --area' --nic lo --area 1M
else
	ok "the error about a missing udmabuf says what to do" refused 'udmabuf.*Way out: modprobe udmabuf|Permission' --nic lo
	skip "loopback is an error with the reason" "no /dev/udmabuf, or no root"
fi

# An inherited dmabuf. tcpzc only asks for its size, so any file reaches the kernel's netdev family.
head -c 4194304 /dev/zero >plain
if [ "$(id -u)" = 0 ] && "$zcost" doctor devmem --format tsv 2>/dev/null | grep -q "^devmem	kernel	yes"; then
	given() {
		"$tcpzc" --listen=127.0.0.1 --port $port --accept-timeout 1 --rx devmem --nic lo --dmabuf-fd 9 9<>plain >out 2>err
		[ $? = 1 ] && grep -qE 'no dmabuf|cannot receive into device memory' err || { cat err; return 1; }
	}
	ok "the error explains the kernel's refusal" given
else
	skip "the error explains the kernel's refusal" "no devmem TCP in this kernel, or no root"
fi

"$tcpzc" --connect 127.0.0.1 --tx devmem --nic lo --dmabuf-fd 7 --connect-timeout 0.1 >out 2>err
ok "a sender refuses a descriptor that is not a dmabuf" says 'dmabuf-fd 7 is not a dmabuf' err

# Memory of a GPU, by a library that stands in for that of the driver (tests/fake/cuda.c).
rx=devmem
gpu() { # gpu PATTERN [OPTIONS]: a receiver with memory of GPU 2 fails with that error, in one line
	: >calls
	refused "$@" --nic lo --memory cuda:2 && [ "$(wc -l <err)" = 1 ]
}
fails() { # fails NAME:CODE PATTERN: the call fails, and tcpzc gives back what it got until then
	CUDA_FAIL=$1
	export CUDA_FAIL
	gpu "$2"
	rc=$?
	unset CUDA_FAIL
	awk '{ n[$1]++ } END { exit n["cuDevicePrimaryCtxRetain"] - n["cuDevicePrimaryCtxRelease_v2"] != (failed == "cuDevicePrimaryCtxRetain") }' \
		failed="${1%:*}" calls && return $rc
}
ok "memory that is neither udmabuf nor a GPU is refused" usage "'gpu' is not udmabuf or cuda:N" --listen --rx devmem --nic lo --memory gpu
ok "--memory with --dmabuf-fd is refused" usage 'exclude each other' --listen --rx devmem --nic lo --memory udmabuf --dmabuf-fd 3
ldconfig -p 2>/dev/null | grep -q libcuda.so.1 ||
	ok "the error about a missing libcuda says what to install" gpu 'cuda:2: libcuda.so.1: cannot open .*install this library .*CUDA 11.7'
if ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o libcuda.so.1 "$tests/fake/cuda.c" 2>cc.err && mkdir old &&
	${CC:-cc} -D_GNU_SOURCE -D NO_HANDLE -shared -fPIC -o old/libcuda.so.1 "$tests/fake/cuda.c"; then
	CUDA_LOG=$PWD/calls LD_LIBRARY_PATH=$PWD/old
	export CUDA_LOG LD_LIBRARY_PATH
	ok "the error about an old driver names the missing function" gpu 'undefined symbol: cuMemGetHandleForAddressRange.*CUDA 11.7'
	LD_LIBRARY_PATH=$PWD
	page=$(getconf PAGESIZE)
	order() { # 5000001 bytes become whole pages, and the range begins at a page
		gpu 'devmem on lo: ' --area 5000001
		size=$(((5000001 + page - 1) / page * page))
		at=$(printf 0x7000%08x "$page")
		printf '%s\n' 'cuInit 0' 'cuDeviceGet 2' 'cuDeviceGetAttribute 124 12' 'cuDevicePrimaryCtxRetain 12' 'cuCtxSetCurrent 0x77' \
			"cuMemAlloc_v2 $((size + page))" 'cuPointerSetAttribute 1 6 0x700000000200' \
			"cuMemGetHandleForAddressRange $at $size 1 0" 'cuMemFree_v2 0x700000000200' 'cuDevicePrimaryCtxRelease_v2 12' |
			diff - calls
	}
	ok "memory of a GPU: the calls, whole pages, and the kernel's refusal of what is no dmabuf" order
	sends() {
		exits 1 "$tcpzc" --connect 127.0.0.1 --tx devmem --nic lo --memory cuda:2 --connect-timeout 0.1 && says 'devmem on lo: ' err
	}
	ok "a sender asks the kernel for the same memory" sends
	ok "the error without a GPU says what to do" fails cuInit:100 'cuInit: CUDA_ERROR_NO_DEVICE \(100\). Way out: .*nvidia-smi'
	ok "the error about a GPU that does not exist says what to do" fails cuDeviceGet:101 'cuDeviceGet: CUDA_ERROR_INVALID_DEVICE \(101\). Way out: nvidia-smi -L'
	ok "the error about a full GPU says what to do" fails cuMemAlloc_v2:2 'cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY \(2\). Way out: use less memory \(--area\)'
	for call in cuDeviceGetAttribute cuDevicePrimaryCtxRetain cuCtxSetCurrent cuPointerSetAttribute cuMemGetHandleForAddressRange; do
		ok "$call fails with a number that has no name" fails $call:801 "$call: unknown error \(801\). Way out: "
	done
	CUDA_NO_DMABUF=1
	export CUDA_NO_DMABUF
	ok "the error about a driver that exports no dmabuf says what to do" gpu 'cuda:2: the driver exports no dmabuf. Way out: use the .*open kernel modules'
	unset CUDA_NO_DMABUF CUDA_LOG LD_LIBRARY_PATH
else
	skip "memory of a GPU" "no C compiler"
fi

rx=zcrx
ok "a zcrx receiver without an interface is refused" usage '^tcpzc: --rx zcrx: which interface\? --nic IF$' --listen --rx zcrx --queue 1
why='no root'
if [ "$(id -u)" = 0 ] && rx_here uring-multishot; then
	ok "zcrx: an interface that does not exist is an error" refused 'no such interface' --nic none0
	if "$zcost" doctor zcrx --format tsv 2>/dev/null | grep -q "^zcrx	kernel	yes"; then
		ok "zcrx: loopback is an error with the reason" refused 'no hardware queue that it can hand over.*Way out: use a NIC' --nic lo
	else
		skip "zcrx: loopback is an error with the reason" "no zcrx in this kernel"
	fi
else
	skip "zcrx: an interface that does not exist is an error" "$why"
fi

done_testing
