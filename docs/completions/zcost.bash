# SPDX-License-Identifier: GPL-2.0-only
# Completion of zcost and tcpzc in bash. The program itself knows what can follow. bash makes three words of CAPTURE:VARIANT
# and replaces only the last of them.
_zcost() {
	local IFS=$'\n' word words=()
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		if ((${#words[@]})) && [[ $word == :* || ${words[-1]} == *: ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	word=${words[-1]}
	COMPREPLY=($("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null | cut -f 1))
	[[ $COMP_WORDBREAKS != *:* ]] || COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
	[[ ${#COMPREPLY[@]} != 1 || $COMPREPLY != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _zcost zcost tcpzc
