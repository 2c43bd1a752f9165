# Supervisor of one call on another host. A POSIX shell evaluates it, after lines that set M (the mark of frames), I (the
# id of the call) and T (the folder for temporary files, or nothing). Its standard input is the channel from the server,
# its standard output becomes that of the tool, and frames go to standard error between the lines of the tool.
# It ends the tool when the channel closes, so nothing is left when the connection breaks.

locale=${LC_ALL-}
LC_ALL=C
umask 077
# A handler and not "ignore", which the tool would inherit.
trap : PIPE HUP INT

frame() { printf '\n%s %s\n' "$M" "$1" >&2; }

d=
refuse() {
	[ -z "$d" ] || rm -rf "$d"
	frame "! $1"
	exit 1
}

pause() { sleep 0.1 2>/dev/null || sleep 1; }

# Ends every process of the tool: its process group, and on Linux those that left it, which have the id of the call in
# their environment.
kill_all() {
	kill -KILL "-$tool" 2>/dev/null
	rounds=0
	while [ "$rounds" -lt 50 ]; do
		found=
		for file in $(grep -l "MCPBASH_LAUNCH_ID=$I" /proc/[0-9]*/environ 2>/dev/null); do
			process=${file#/proc/}
			kill -KILL "${process%/environ}" 2>/dev/null && found=yes
		done
		[ -n "$found" ] || return 0
		rounds=$((rounds + 1))
	done
}

# The tool is asked to exit, and killed a second later.
cancel() {
	: >"$d/cancel"
	kill -TERM "-$tool" 2>/dev/null || kill -KILL "$tool" 2>/dev/null
	waited=0
	while kill -0 "-$tool" 2>/dev/null && [ "$waited" -lt 10 ]; do
		pause
		waited=$((waited + 1))
	done
	kill_all
}

# Reads what the server sends until the channel closes: signs of life, and answers to questions.
control() {
	while IFS= read -r line; do
		case $line in
		B) : >"$d/beat" ;;
		'A '*)
			line=${line#A }
			printf '%s\n' "${line#* }" >"$d/answer" && mv "$d/answer" "$d/answer.${line%% *}"
			;;
		esac
	done
	cancel
}

# Ends the tool when the server has given no sign of life for a while: a channel does not always close when its other end
# is gone, as when a cable is pulled or a scheduler keeps it.
watch() {
	trap 'kill "$nap"; exit' TERM
	missed=0
	while [ "$missed" -lt 3 ]; do
		sleep 15 &
		nap=$!
		wait "$nap"
		missed=$((missed + 1))
		if [ -e "$d/beat" ]; then
			rm -f "$d/beat"
			missed=0
		fi
	done
	cancel
}

# A frame for each line of the side channel. A long line is cut, because only short writes never mix with what the tool
# writes to standard error.
relay() {
	while IFS= read -r line; do
		case $line in
		"$M end") return ;;
		"$M Q "*)
			number=${line##* }
			{
				printf '%s ' "$number"
				tr '\n' ' ' <"$d/question.$number"
				printf '\n'
			} | pieces Q
			;;
		*)
			if [ "${#line}" -lt 2000 ]; then
				frame "L $line"
			else
				printf '%s\n' "$line" | pieces L
			fi
			;;
		esac
	done
}

# The line on standard input, as frames of kind $1.
pieces() {
	fold -b -w 2000 | while IFS= read -r piece; do frame "+ $piece"; done
	frame "$1 "
}

d=$(mktemp -d "${T:-${TMPDIR:-/tmp}}/mcpbash.XXXXXXXXXX" 2>&1) || {
	why=$d d=
	refuse "no temporary folder can be made: $why"
}
for program in tar mkfifo fold head grep; do
	command -v "$program" >/dev/null 2>&1 || refuse "the program '$program' is not there"
done
if command -v setsid >/dev/null 2>&1; then
	own_group() { LC_ALL=$locale exec env MCPBASH_LAUNCH_ID="$I" setsid "$@"; }
elif command -v perl >/dev/null 2>&1; then
	own_group() {
		LC_ALL=$locale exec env MCPBASH_LAUNCH_ID="$I" perl -e 'setpgrp(0, 0); exec @ARGV or exit 127' "$@"
	}
else
	refuse "neither 'setsid' nor 'perl' is there, and the tool could not be ended with all its processes"
fi
node=$(uname -n 2>/dev/null) || node=
frame "H $node"

# The server sends the files only after the line above, and nothing after them until it is told that they are here:
# whatever 'head' reads ahead is theirs.
IFS= read -r size || {
	rm -rf "$d"
	exit 1
}
problem=$({ head -c "$size" | tar -xof - -C "$d"; } 2>&1) || refuse "the files cannot be unpacked: $problem"
[ -f "$d/call.sh" ] || refuse "the files have not arrived"
mkfifo "$d/lines" || refuse "no pipe can be made in $d"
exec 3<&0 4<>"$d/lines"
printf '\n%s\n' "$M"
relay <&4 3<&- >/dev/null &
relay=$!
own_group sh "$d/call.sh" "$d" <"$d/input" 3<&- 4<&- &
tool=$!
frame "S"
trap cancel TERM
control <&3 4<&- >/dev/null &
control=$!
watch </dev/null >/dev/null 2>&1 3<&- 4<&- &
watch=$!
# A signal interrupts 'wait'.
while :; do
	wait "$tool"
	code=$?
	kill -0 "$tool" 2>/dev/null || break
done
trap : TERM
kill_all
kill -KILL "$control" 2>/dev/null
kill -TERM "$watch" 2>/dev/null
printf '%s end\n' "$M" >&4
wait "$relay"
if [ -s "$d/error" ]; then
	head -c 1048576 "$d/error" | tr '\n' ' ' | { cat && echo; } | pieces E
fi
rm -rf "$d"
frame "X $code"
exit 0
