#!/bin/sh
# Reads two numbers from its arguments and counts down, telling the client about every step.

number() { # NAME DEFAULT: the number that the arguments hold under that name
	found=$(printf '%s' "$arguments" | sed -n "s/.*\"$1\"[[:space:]]*:[[:space:]]*\([0-9.]\{1,\}\).*/\1/p")
	printf '%s' "${found:-$2}"
}

progress() { # DONE TOTAL MESSAGE
	[ -n "${MCP_PROGRESS_TOKEN:-}" ] || return 0
	printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s,"total":%s,"message":"%s"}}\n' \
		"\"$MCP_PROGRESS_TOKEN\"" "$1" "$2" "$3" >>"$MCP_PROGRESS_STREAM"
}

arguments=$(cat)
from=$(number from 5)
pause=$(number pause 0.2)

step=0
while [ "$step" -lt "$from" ]; do
	progress "$((step + 1))" "$from" "$((from - step)) to go"
	sleep "$pause"
	step=$((step + 1))
done
echo "Counted down from $from."
