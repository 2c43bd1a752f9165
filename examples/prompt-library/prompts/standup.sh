#!/usr/bin/env bash
# Writes a prompt from git's history.
set -euo pipefail

repository=$(jq -r '.repository // "."' <<<"$MCP_PROMPT_ARGS_JSON")
author=$(jq -r '.author // ""' <<<"$MCP_PROMPT_ARGS_JSON")

# Errors go to standard error, which becomes the message of the error.
if ! git -C "$repository" rev-parse --git-dir >/dev/null 2>&1; then
	echo "$repository is no git repository: name one in the argument \`repository\`" >&2
	exit 1
fi

since='1 day ago'
[ "$(date +%u)" != 1 ] || since='3 days ago'
options=(--no-merges "--since=$since" '--format=- %s (%an)')
[ -z "$author" ] || options+=("--author=$author")
# A repository without commits is not an error.
commits=$(git -C "$repository" log "${options[@]}" 2>/dev/null) || commits=

cat <<END
Write stand-up notes of at most five lines out of these commits. Group what belongs together, and leave out what only
tidies up.

${commits:-There are no commits since $since: ask me what I have done instead.}
END
