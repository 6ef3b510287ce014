# SPDX-License-Identifier: GPL-2.0-only
# Markdown to man(7), as far as zcost's pages use it:
#   awk -v name=zcost-report -v section=1 -v released=2026-01-31 -v source='zcost 1.0' -f roff.awk PAGE...
# The first heading is "# TITLE: what it is". Of several pages only the first heading counts.

# Escapes text: `code` is bold. Of a link its text remains; a command's page names pages, and documents.
function inline(s,	part, n, i, r, at, link, to) {
	gsub(/\\[|]/, "|", s)
	n = split(s, part, "`")
	for (i = 1; i <= n; i++) {
		if (i % 2 == 0) {
			r = r "\\fB" verbatim(part[i]) "\\fP"
			continue
		}
		while (match(part[i], /\]\([^)]*\)/)) {
			at = RSTART; link = RLENGTH
			to = linked(substr(part[i], at + 2, link - 3))
			part[i] = substr(part[i], 1, at - 1) to substr(part[i], at + link)
			while (--at && substr(part[i], at, 1) != "[")
				;
			part[i] = substr(part[i], 1, at - 1) substr(part[i], at + 1)
		}
		gsub(/\\/, "\\e", part[i])
		gsub(/--/, "\\-\\-", part[i])
		gsub(/\*\*/, "", part[i])
		r = r part[i]
	}
	return links_joined(r)
}
function linked(url) {
	if (section != 1)
		return ""
	return url ~ /^[a-z]+\.md(#|$)/ ? "(1)" : " (" substr(url, 4) ")"
}
# A link whose text is code: "[`x`](y)" lost its brackets piece by piece.
function links_joined(s) {
	gsub(/\[\\fB/, "\\fB", s)
	return s
}
function verbatim(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s
}
# Prints a line that is no request, in pieces of at most 78 bytes where it has spaces.
function print_text(s,	at) {
	while (length(s) > 78) {
		for (at = 78; at > 1 && substr(s, at, 1) != " "; at--)
			;
		if (at < 2 && !(at = index(s, " ")))
			break
		print_line(substr(s, 1, at - 1))
		s = substr(s, at + 1)
	}
	print_line(s)
}
function print_line(s) { print (s ~ /^[.']/ ? "\\&" : "") s }
# Prints a line as it is; a newline behind a backslash is none.
function print_code(s) {
	s = verbatim(s)
	if (s ~ /^[.']/)
		s = "\\&" s
	for (; length(s) > 78; s = substr(s, cut + 1)) {
		for (cut = 76; substr(s, cut, 1) ~ /[\\e-]/; cut--)
			;
		print substr(s, 1, cut) "\\"
	}
	print s
}
function flush_text() {
	if (text != "")
		print_text(inline(text))
	text = ""
}
function end_code() {
	if (code)
		print ".EE\n.RE"
	code = 0
}
function heading(request, s) {
	flush_text()
	print request " " (request == ".SH" ? toupper(s) : s)
	fresh = 1
}
# Begins a paragraph, unless a heading has just done so.
function paragraph() {
	if (!fresh)
		print ".PP"
	fresh = 0
}
function begin_code() {
	paragraph()
	print ".RS 4\n.EX"
}
function table_row(line,	cell, n, k) {
	gsub(/\\[|]/, "\001", line)
	n = split(line, cell, "|") - 1
	for (k = 2; k <= n; k++) {
		gsub(/^ +| +$/, "", cell[k])
		gsub(/\001/, "|", cell[k])
	}
	if (!table++) {
		main = 3 # the column that says what a row means, or else the second
		for (k = 2; k <= n; k++) {
			column[k] = cell[k]
			if (cell[k] ~ /^(meaning|contents)$/)
				main = k
		}
		return
	}
	if (line ~ /^\|-/)
		return
	print ".TP"
	print_line("\\fB" (cell[2] == "" ? "\\&" : inline(cell[2])) "\\fP")
	print_text(cell[main] == "" ? "\\&" : inline(cell[main]))
	for (k = 3; k <= n; k++)
		if (k != main && cell[k] != "") {
			print ".br"
			print_text(inline(column[k] ": " cell[k]))
		}
	fresh = 0
}

/^ *```/ {
	flush_text()
	if (fenced)
		end_code()
	else
		begin_code()
	fenced = code = !fenced
	indent = index($0, "`") - 1
	blank = fresh = 0
	next
}
fenced { print_code(substr($0, indent + 1)); next }
/^ *$/ {
	if (!code)
		flush_text()
	blank = 1
	table = 0
	next
}
(blank || code) && /^    / {
	if (code && blank)
		print ""
	if (!code) {
		match($0, /^ */)
		indent = RLENGTH
		begin_code()
	}
	code = 1
	blank = fresh = 0
	print_code(substr($0, indent + 1))
	next
}
{ end_code() }
/^# / {
	if (titled++)
		next
	what = $0
	sub(/^# ([^:]*: )?/, "", what)
	printf ".TH %s %s \"%s\" \"%s\"\n.SH NAME\n", toupper(name), section, released, source
	gsub(/`/, "", what)
	print_text(verbatim(name) " \\- " what)
	blank = 0
	named = 1
	next
}
/^## / { heading(".SH", inline(substr($0, 4))); named = blank = 0; next }
/^### / { heading(".SS", inline(substr($0, 5))); blank = 0; next }
named { print ".SH DESCRIPTION"; fresh = 1; named = 0 }
/^\|/ { flush_text(); table_row($0); blank = 0; next }
/^- (`[^`]*`(, )?)+: / {
	flush_text()
	match($0, /^- (`[^`]*`(, )?)+: /)
	text = substr($0, RLENGTH + 1)
	print ".TP"
	print_line(inline(substr($0, 3, RLENGTH - 4)))
	blank = fresh = 0
	next
}
/^ *(-|[0-9]+\.) / {
	flush_text()
	match($0, /^ *(-|[0-9]+\.) /)
	mark = substr($0, 1, RLENGTH)
	gsub(/ /, "", mark)
	print ".IP " (mark == "-" ? "\\(bu 2" : mark " 4")
	text = substr($0, RLENGTH + 1)
	blank = fresh = 0
	next
}
{
	if (text == "" && !/^ /)
		paragraph()
	else if (text == "" && blank)
		print ".sp"
	sub(/^ +/, "")
	text = text (text == "" ? "" : " ") $0
	blank = 0
}
END { end_code(); flush_text() }
