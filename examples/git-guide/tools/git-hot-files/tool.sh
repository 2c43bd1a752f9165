#!/usr/bin/env bash
# Which files change most, and who changes them.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"
source tools/.lib/repository.sh

count=$(mcp_args_int .count --default 10 --min 1 --max 100)
days=$(mcp_args_get '.days // empty')
enter_repository

options=(--no-merges --name-only)
[ -z "$days" ] || options+=("--since=$days days ago")

# Each commit is a line with its author after a control character, and then the names of its files.
git -c core.quotePath=false log "${options[@]}" --format='%x1f%aN' |
	jq -Rn --argjson count "$count" '
		def most: group_by(.) | min_by([-length, .[0]]) | .[0];
		reduce (inputs | select(. != "")) as $line ({author: "", files: {}};
			if $line | startswith("\u001f") then .author = $line[1:] else .files[$line] += [.author] end)
		| .files | to_entries | sort_by([-(.value | length), .key]) | .[:$count]
		| {files: map({path: .key, commits: (.value | length), main_author: (.value | most)})}'
