# SPDX-License-Identifier: GPL-2.0-only
# analyzer.awk -v file=FILE analyzer.supp OUTPUT: the findings of gcc -fanalyzer in one file that are no exceptions, and the
# exceptions that found nothing. Exit 1: there are some.
FILENAME != "-" {
	if ($1 == file)
		known["[" $2 "]"] = 1
	next
}
!/(warning|error):/ || seen[$0]++ {
	next
}
# gcc 12 loses the NULL of some variables that the cleanup attribute frees. -Wuninitialized sees those that have none.
/^\.\/lib\/alloc\.h:.*\[-Wanalyzer-use-of-uninitialized-value\]$/ {
	next
}
$NF in known {
	needed[$NF] = 1
	next
}
{
	print
	failed = 1
}
END {
	for (category in known)
		if (!(category in needed)) {
			print "tests/analyzer.supp: gcc does not find " category " in " file
			failed = 1
		}
	exit failed
}
