#!/usr/bin/env bash
# Lists the commits that match a query.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"
source tools/.lib/repository.sh

count=$(mcp_args_int .count --default 20 --min 1 --max 200)
path=$(mcp_args_get '.path // empty')
message=$(mcp_args_get '.message // empty')
text=$(mcp_args_get '.changed_text // empty')
since=$(mcp_args_get '.since // empty')
enter_repository

# Each value is part of one word, so none can become an option of git.
options=("--max-count=$count")
[ -z "$message" ] || options+=(--fixed-strings --regexp-ignore-case "--grep=$message")
[ -z "$text" ] || options+=("-S$text")
[ -z "$since" ] || options+=("--since=$since")
paths=()
[ -z "$path" ] || paths=("$path")

# Control characters between the fields, because a subject may contain anything else.
git log "${options[@]}" --format='%h%x1f%cs%x1f%aN%x1f%s' -- ${paths[@]+"${paths[@]}"} |
	jq -Rn '{commits: [inputs | split("\u001f") | {commit: .[0], date: .[1], author: .[2], subject: .[3]}]}'
