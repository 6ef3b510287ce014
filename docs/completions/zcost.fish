# SPDX-License-Identifier: GPL-2.0-only
# Completion of zcost and tcpzc in fish. The program itself knows what can follow.
function __zcost_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] --complete $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c zcost -f -a '(__zcost_complete)'
complete -c tcpzc -f -a '(__zcost_complete)'
