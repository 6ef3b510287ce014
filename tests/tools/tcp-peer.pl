#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# A TCP peer that misbehaves in one way, once on each of N connections (1).
#
#   tcp-peer.pl listen PORT DEED BYTES [N]      DEED: reset, half-close (then reads all), close
#   tcp-peer.pl connect PORT DEED BYTES [N]     DEED: reset, half-close (then waits for the end)
#
# It acts after it has read, or sent, so many bytes. Prints how many it read or sent in all.
use strict;
use warnings;
use IO::Socket::INET;
use Socket qw(SOL_SOCKET SO_LINGER SHUT_WR);

my ($side, $port, $deed, $bytes, $n) = (@ARGV, 1);
my ($moved, $listener) = (0, undef);
$SIG{PIPE} = 'IGNORE';

sub act {
	my ($s) = @_;
	setsockopt($s, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0)) if $deed eq 'reset';
	shutdown($s, SHUT_WR) if $deed eq 'half-close';
}

sub receive {
	my ($s) = @_;
	my ($got, $buf) = (0, '');
	while ($got < $bytes) {
		my $k = sysread($s, $buf, 65536) or last;
		$got += $k;
	}
	act($s);
	while ($deed eq 'half-close') {
		my $k = sysread($s, $buf, 65536) or last;
		$got += $k;
	}
	return $got;
}

sub await_taken {
	my ($s) = @_;
	my $left = pack('i', 1);
	while (ioctl($s, 0x5411, $left) && unpack('i', $left)) { # SIOCOUTQ
		select(undef, undef, undef, 0.01);
	}
}

sub send_some {
	my ($s) = @_;
	my $sent = 0;
	while ($sent < $bytes) {
		my $k = syswrite($s, 'x' x ($bytes - $sent > 65536 ? 65536 : $bytes - $sent)) or last;
		$sent += $k;
	}
	await_taken($s) if $deed eq 'reset'; # which takes back what was not
	act($s);
	sysread($s, my $buf, 1) if $deed eq 'half-close';
	return $sent;
}

if ($side eq 'listen') {
	$listener = IO::Socket::INET->new(LocalPort => $port, Listen => 16, ReuseAddr => 1) or die $!;
}
my @sockets;
for (1 .. $n) {
	my $s;
	for (1 .. 200) {
		$s = $listener ? $listener->accept() : IO::Socket::INET->new("127.0.0.1:$port");
		last if $s;
		select(undef, undef, undef, 0.02);
	}
	push @sockets, $s or die "no connection: $!";
}
for my $s (@sockets) {
	$moved += $listener ? receive($s) : send_some($s);
	close($s);
}
print "$moved\n";
