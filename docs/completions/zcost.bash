# SPDX-License-Identifier: GPL-2.0-only
# Completion of zcost and tcpzc in bash. The program itself knows what can follow.
_zcost() {
	local IFS=$'\n'
	COMPREPLY=($("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
	[[ ${#COMPREPLY[@]} != 1 || $COMPREPLY != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _zcost zcost tcpzc
