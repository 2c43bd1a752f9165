#!/usr/bin/env bash
# Summarises a log: each line is a time, a level, a component and a text.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"
source tools/.lib/logs.sh

log=$(mcp_args_require .log)
require_log "$log"

jq -Rn '
	def counts(column): map(.[column] // "?") | group_by(.) | map({key: .[0], value: length}) | from_entries;
	[inputs | select(. != "") | split(" ")]
	| {lines: length, from: (.[0][0] // ""), to: (.[-1][0] // ""), levels: counts(1), components: counts(2)}
' "logs/$log.log"
