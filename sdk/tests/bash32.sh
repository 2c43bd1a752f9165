# shellcheck shell=bash disable=SC2154 # sourced by run
# macOS has bash 3.2. Whether or not it is at hand, no line that it cannot read may be in the SDK or in a template.

# A line for each construct that bash 3.2 lacks: a pattern, and its name.
newer_constructs='(declare|local|typeset|readonly) +(-[a-zA-Z]+ +)*-[a-zA-Z]*[Agnlu]	declare -A, -g, -n, -l, -u
\$\{!?[A-Za-z_][A-Za-z_0-9]*(\[[^]]*\])?(\^|,|@[A-Za-z]\})	${x^}, ${x,}, ${x@Q}
(^|[^A-Za-z_.-])(mapfile|readarray|coproc) 	mapfile, readarray, coproc
&>>|\|&	&>>, |&
(^|[^A-Za-z_])wait +-[a-z]*[nfp]	wait -n
(^|[ ;&|(])\{[A-Za-z_][A-Za-z_0-9]*\}[<>]	{fd}>
EPOCHREALTIME|EPOCHSECONDS|BASHPID|BASH_XTRACEFD|BASH_ARGV0|SRANDOM	variables of newer versions
\[-[0-9]+\]	negative subscripts
\$\{[A-Za-z_][A-Za-z_0-9]*:[^}:]*: *-[0-9]	${x:0:-1}
;;?&	;& and ;;&
%\([^)]*\)T	printf %(...)T
(^|[^A-Za-z_])read +(-[a-zA-Z]+ +)*-[a-zA-Z]*([Ni]|t *[0-9]*\.)	read -N, read -i, read -t 0.5
shopt +-s +[a-z ]*(globstar|lastpipe|inherit_errexit|autocd|direxpand|localvar_inherit)	shopt of newer versions
(\[|test) +-[vR] 	[ -v x ]
local +-( |;|$)	local -
\$'"'"'[^'"'"']*\\[uU][0-9a-fA-F]	\u escapes
(^|[^+A-Za-z_])"\$\{[A-Za-z_][A-Za-z_0-9]*\[@\]\}"	"${x[@]}" of an empty array (with set -u)'

# The lines of files that bash 3.2 would not take, with the construct. A comment `3.2:` says why a line works with it: there
# is another way on the same line, or an array is never empty.
newer_than_32() { # FILE...
	local pattern name line
	while IFS='	' read -r pattern name; do
		grep -nHE -e "$pattern" -- "$@" | grep -vE '^[^:]*:[0-9]+:[[:space:]]*#|# 3\.2: ' |
			while IFS= read -r line; do printf '%s  <- %s\n' "$line" "$name"; done
	done <<<"$newer_constructs"
}

# shellcheck disable=SC2046 # names without spaces
check "bash 3.2: every line can be read by it" "" \
	"$(newer_than_32 "$MCP_SDK/tool-sdk.sh" "$MCP_SDK"/parts/*.sh $(find "$MCP_SDK/../templates" -name '*.sh'))"

# Each of these is found. None of the lines after them is.
cat >"$work/planted.sh" <<'PLANTED'
declare -A table
local -n other=$1
echo "${x^^}"
echo "${x@Q}"
mapfile -t lines
cmd &>>log
cmd |& cat
wait -n
exec {fd}>file
now=$EPOCHREALTIME
echo "${a[-1]}"
echo "${x:0:-1}"
a) one ;;&
coproc cat
printf '%(%s)T' -1
read -t 0.5 line
shopt -s globstar
[ -v x ] && :
printf '%s' $'\u00e9'
run "${words[@]}"
PLANTED
cat >"$work/old.sh" <<'OLD'
declare -a list; local -r x=1; typeset -i n
echo "${x%,}" "${x:1:2}" "${x: -1}" "${#x}" "${x//,/;}"
run ${words[@]+"${words[@]}"} || wait "$pid"
case $x in a) ;; esac
cmd >log 2>&1 & cmd2 | cat
# mapfile is for newer versions
read -r -t 5 line; { echo; } >file; [ -n "$x" ] && local -a y
OLD
check "bash 3.2: each planted line is found" "$(grep -c . "$work/planted.sh")" \
	"$(newer_than_32 "$work/planted.sh" | cut -d: -f2 | sort -u | grep -c .)"
check "bash 3.2: lines that it can read are not" "" "$(newer_than_32 "$work/old.sh")"
