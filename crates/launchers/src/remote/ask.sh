#!/bin/sh
# Stands for the program of the server on another host, as far as scripts use it there: `ask`. The question goes through
# the side channel, and the answer arrives as a file.
d=${0%/bin/mcp-bash}
if [ "$1" != ask ] || [ "$#" -lt 3 ]; then
	echo "mcp-bash: the server is on another host; only 'ask METHOD PARAMS' is available here" >&2
	exit 2
fi
method=$2 params=$3 name=${MCP_ASK_NAME:-} timeout=null
shift 3
while [ "$#" -gt 1 ]; do
	case $1 in
	--timeout) timeout=$2 ;;
	--name) name=$2 ;;
	esac
	shift 2
done
case $timeout in
'' | *[!0-9]*) timeout=null ;;
esac
[ "$params" != - ] || params=$(cat)
number=$$
{
	case $method in
	all) printf '{"questions":%s,' "$params" ;;
	*)
		printf '{"method":"%s","params":%s,' "$method" "$params"
		case $name in
		'' | *[\"\\]*) ;;
		*) printf '"name":"%s",' "$name" ;;
		esac
		;;
	esac
	printf '"timeoutSecs":%s}' "$timeout"
} >"$d/question.$number" || exit 1
printf '%s Q %s\n' "$MCPBASH_LAUNCH_MARK" "$number" >"$d/lines" || exit 1
until [ -e "$d/answer.$number" ]; do
	sleep 0.1 2>/dev/null || sleep 1
done
answer=$(cat "$d/answer.$number")
rm -f "$d/answer.$number" "$d/question.$number"
printf '%s\n' "$answer"
case $answer in
'{"result":'*) exit 0 ;;
*) exit 1 ;;
esac
