#!/usr/bin/env bash
# Lists what takes the space directly below a folder.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"

# Refuses paths outside the folders that the client has opened.
folder=$(mcp_require_path .path --default-to-single-root)
top=$(mcp_args_int .top --default 10 --min 1 --max 100)

if [ ! -d "$folder" ]; then
	mcp_error not_a_folder "$folder is not a folder. Give the path of one."
	exit 0
fi

# Unreadable folders are skipped, and are not an error. These options of du and find work everywhere.
sizes=$(find "$folder" -mindepth 1 -maxdepth 1 -exec du -sk -- {} + 2>/dev/null) || true

jq -Rn --arg folder "$folder" --argjson top "$top" '
	[inputs | select(. != "") | split("\t") | {name: (.[1] | split("/") | last), kilobytes: (.[0] | tonumber)}]
	| sort_by([-.kilobytes, .name])
	| {$folder, total_kilobytes: (map(.kilobytes) | add // 0), entries: .[:$top], not_listed: ([length - $top, 0] | max)}
' <<<"$sizes"
