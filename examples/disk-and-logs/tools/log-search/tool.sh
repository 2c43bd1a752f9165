#!/usr/bin/env bash
# The newest lines of a log that match a pattern.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"
source tools/.lib/logs.sh

log=$(mcp_args_require .log)
pattern=$(mcp_args_require .pattern)
newest=$(mcp_args_int .newest --default 20 --min 1 --max 500)
options=(-n -E)
if [ "$(mcp_args_bool .ignore_case --default false)" = true ]; then options+=(-i); fi
require_log "$log"

# Exit code 1 of grep means that nothing matches, which is an answer; 2 means that it could not search.
status=0
found=$(grep "${options[@]}" -e "$pattern" -- "logs/$log.log" 2>&1) || status=$?
if [ "$status" -gt 1 ]; then
	mcp_error bad_pattern "$found. Write an extended regular expression, with \\ before each . [ ( * + ? that means itself."
	exit 0
fi

jq -Rn --argjson newest "$newest" '
	[inputs | select(. != "") | index(":") as $colon | {line: (.[:$colon] | tonumber), text: .[$colon + 1:]}]
	| {matches: .[-$newest:], total: length}
' <<<"$found"
