#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# io_uring with a full completion ring. The kernel keeps a backlog, nothing is lost, and the summary counts
# it. unit/tcpzc_rx_uring tests a kernel that drops completions for lack of memory.
. "$(dirname "$0")/../lib.sh"
. "$tests/tcpzc.sh"

full='.verify == "ok" and .ring_overflow > 0 and .dropped_completions == 0'
never='.ring_overflow == 0 and .dropped_completions == 0'

# Messages are larger than a receive, so more than two completions wait at once.
multishot() { # FLOWS OPTIONS: options of the receiver
	flows=$1
	shift
	transfer 127.0.0.1 --rx uring-multishot --verify --flows $flows --size 2k "$@" -- \
		--verify --flows $flows --size 64k --bytes 10M
}
receives() { # FLOWS
	multishot $1 --cq-entries 2 || return 1
	holds rxs "$full and .bytes == $1 * 10485760 and .rearmed.ring_full > 0"
}
as_it_comes() { # FLOWS
	multishot $1 && holds rxs "$never and .verify == \"ok\" and .rearmed.ring_full == 0"
}
sends() { # TX: each send adds a notification to its completion
	transfer 127.0.0.1 --verify -- --tx $1 --verify --size 2k --bytes 8M --cq-entries 1 || return 1
	holds rxs '.verify == "ok" and .bytes == 8388608' &&
		holds txs '.ring_overflow > 0 and .dropped_completions == 0 and .sends.total >= 4096 and
			.sends.unknown == 0'
}
sends_as_it_comes() { # TX
	transfer 127.0.0.1 --verify -- --tx $1 --verify --size 2k --bytes 8M && holds txs "$never" &&
		holds rxs '.verify == "ok"'
}

rx_here uring-multishot || { skip_all "$why"; }
ok "uring-multishot: a ring of two overflows and loses no byte" receives 1
ok "uring-multishot: rings of two of three flows overflow and lose no byte" receives 3
ok "uring-multishot: a ring of the default size does not overflow" as_it_comes 1
ok "uring-multishot: three rings of the default size do not overflow" as_it_comes 3
for tx in uring-send-zc uring-sendmsg-zc; do
	here $tx && kernel_since 6 2 || { skip "$tx" "${why:-before 6.2 notifications do not say what was copied}"; continue; }
	ok "$tx: a ring that one batch fills overflows" sends $tx
	ok "$tx: a ring of the default size does not overflow" sends_as_it_comes $tx
done

# Responses on the backlog have left the socket, so the client must ask its ring for them.
rr() { # OPTIONS: options of both ends
	transfer 127.0.0.1 --rr --rx uring-multishot --tx uring-send-zc --size 2k --response 20k --verify \
		"$@" -- --rr --rx uring-multishot --tx uring-send-zc --size 2k --response 20k --verify \
		"$@" --bytes 1M --outstanding 50 || return 1
	holds txs '.verify == "ok" and .rr.responses == .rr.requests and .rr.ring_overflow > 0 and
		.rr.rearmed.ring_full > 0 and .rr.dropped_completions == 0' &&
		holds rxs '.verify == "ok" and .rr.responses == .rr.requests'
}
if here uring-send-zc; then
	ok "requests and responses pass through small rings" rr --cq-entries 2 --flows 2
	ok "requests and responses of one flow pass through small rings" rr --cq-entries 2
fi

no_ring() { holds rxs 'has("ring_overflow") or has("dropped_completions") or has("rearmed") | not'; }
ok "recv transfers 1 MiB" transfer 127.0.0.1 -- --bytes 1M
ok "the summary of recv has no ring" no_ring

ok "a receiver without a ring refuses --cq-entries" usage '--cq-entries belongs to the modes of io_uring' --listen --rx mmap --cq-entries 8
ok "a sender without a ring refuses --cq-entries" usage '--cq-entries belongs to the modes of io_uring' --connect ::1 --cq-entries 8
ok "--cq-entries 0 is refused" usage 'not within 1 to 65536' --listen --rx zcrx --cq-entries 0
ok "--cq-entries above the kernel's maximum is refused" usage 'not within 1 to 65536' --listen --rx uring-recv --cq-entries 65537

done_testing
