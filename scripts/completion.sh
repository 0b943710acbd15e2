#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the shell completion of a program: its options from --help, and their choices from its error message for
# an invalid value.
#   scripts/completion.sh bash|zsh PROGRAM [EMULATOR...]       EMULATOR: runs a program that is for another CPU
set -eu

[ $# -ge 2 ] || { echo "usage: $0 bash|zsh PROGRAM [EMULATOR...]" >&2; exit 2; }
shell=$1
program=$2
name=$(basename "$program")
shift 2
emulator=$*
tab=$(printf '\t')

run() {
    # shellcheck disable=SC2086 # a list of words
    $emulator "$program" "$@"
}

# The choices of an option, or nothing.  The unknown option keeps the program from starting.
choices() {
    option=$1
    shift
    { run "$@" "--$option=?" --no-such-option 2>&1 || true; } |
        sed -nE "s/.*: expected ([a-z0-9._-]+((\||, )[a-z0-9._-]+)+)\$/\1/p" | sed 's/[|,]/ /g; s/  */ /g'
}

# Prints for each option: letter, name, argument, choices, help, with tabs between; "-" is none.  The help of a long
# name is on the line below it.
options() {
    run "$@" --help | sed -nE -e "/^ +(-., )?--[a-z-]+( [^ ]+)?\$/{N; s/\n +/  /}" -e \
        "s/^  (-(.),|   ) --([a-z-]+)( ([^ ]+))? +(.*)\$/-\2$tab\3$tab-\5$tab\6/p" |
        while IFS=$tab read -r letter option argument help; do
            accepted=-
            [ "$argument" = - ] || accepted=-$(choices "$option" "$@")
            printf '%s\t%s\t%s\t%s\t%s\n' "$letter" "$option" "$argument" "$accepted" "$help"
        done
}

# The name of the first operand.
operand() {
    run "$@" --help | sed -n '1s/.*\[options\] *\[*\([A-Z]*\).*/\1/p'
}

# The lines below "Commands" in --help: name, tab, summary.
commands() {
    run --help | sed -nE "/^Commands/,/^\$/s/^  ([a-z]+) +(.*)/\1$tab\2/p"
}

# --- bash: a case per option that takes a value ---

bash_command() {
    options "$@" | awk -F '\t' -v prefix="${1:+$1 }" -v operand="$(operand "$@")" '
        {
            all = all " --" $2
            pattern = "\"" prefix "--" $2 "\"" ($1 == "-" ? "" : " | \"" prefix $1 "\"")
            if ($4 != "-")
                printf "    %s) _%s_words \"%s\" ;;\n", pattern, name, substr($4, 2)
            else if ($3 == "-FILE")
                printf "    %s) ;;\n", pattern
            else if ($3 != "-")
                printf "    %s) _%s_words \"\" ;;\n", pattern, name
        }
        END {
            printf "    %s*)\n", prefix == "" ? "" : "\"" prefix "\""
            printf "        [[ $current != -* ]] || _%s_words \"%s\"\n", name, substr(all, 2)
            if (operand != "FILE")
                printf "        [[ $current == -* ]] || _%s_words \"\"%s\n", name, operand == "HOST" ? " -A hostname" : ""
            print "        ;;"
        }' name="$name"
}

bash_completion() {
    cat <<END
# bash completion of $name, generated from its option table.  Completes file names by default.
_${name}_words() {
    compopt +o default 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "\${@:2}" -W "\$1" -- "\$current")
}

_$name() {
    local current=\${COMP_WORDS[COMP_CWORD]} option=\${COMP_WORDS[COMP_CWORD - 1]} command=

    COMPREPLY=()
    if [[ \$current == = ]]; then
        current=
    elif [[ \$option == = ]]; then
        option=\${COMP_WORDS[COMP_CWORD - 2]}
    fi
END
    if [ -n "$(commands)" ]; then
        cat <<END
    if ((COMP_CWORD == 1)); then
        _${name}_words "$(commands | cut -f 1 | tr '\n' ' ')--help --version"
        return
    fi
    command="\${COMP_WORDS[1]} "
END
    fi
    echo "    case \$command\$option in"
    if [ -n "$(commands)" ]; then
        commands | while read -r command _; do bash_command "$command"; done
    else
        bash_command
    fi
    printf '    esac\n}\ncomplete -o default -F _%s %s\n' "$name" "$name"
}

# --- zsh: a specification per option for _arguments ---

zsh_command() {
    options "$@" | awk -F '\t' -v quote="'" '
        {
            help = $5
            gsub(/[][\\:]/, "\\\\&", help)
            gsub(quote, quote "\\" quote quote, help)
            value = $3 == "-" ? "" : ":" substr($3, 2)
            sub(/\[.*/, "", value)
            value = value ($3 == "-" ? "" : ":")
            if ($4 != "-")
                value = value "(" substr($4, 2) ")"
            else if ($3 == "-FILE")
                value = value "_files"
            name = "--" $2
            with_value = $3 != "-"
            before = $5 ~ /, repeatable/ ? "*" : $1 != "-" ? "(" $1 " " name ")" : ""
            printf " \\\n    %s", before == "" ? "" : quote before quote
            if ($1 != "-")
                printf "{%s%s,%s%s}", $1, with_value ? "+" : "", name, with_value ? "=" : ""
            else
                printf "%s%s", name, with_value ? "=" : ""
            printf quote "[%s]%s" quote, help, value
        }'
    case $(operand "$@") in
    HOST) printf " \\\\\n    '1:HOST:_hosts'\n" ;;
    FILE) printf " \\\\\n    '*:FILE:_files'\n" ;;
    *) echo ;;
    esac
}

zsh_completion() {
    printf '#compdef %s\n# zsh completion of %s, generated from its option table.\n' "$name" "$name"
    if [ -z "$(commands)" ]; then
        printf '_arguments -s'
        zsh_command
        return
    fi
    printf 'if ((CURRENT == 2)); then\n    local -a commands=(\n'
    commands | sed "s/'/'\\\\''/g; s/\\(.*\\)$tab\\(.*\\)/        '\\1:\\2'/"
    printf '    )\n    _describe command commands\n    return\nfi\n'
    cat <<'END'
shift words
((CURRENT--))
case $words[1] in
END
    commands | while read -r command _; do
        printf '%s)\n    _arguments -s' "$command"
        zsh_command "$command"
        printf '    ;;\n'
    done
    echo 'esac'
}

run --help >/dev/null
case $shell in
bash) bash_completion ;;
zsh) zsh_completion ;;
*) echo "$0: invalid value '$shell': expected bash or zsh" >&2; exit 2 ;;
esac
