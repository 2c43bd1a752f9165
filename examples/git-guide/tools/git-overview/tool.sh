#!/usr/bin/env bash
# The current state of a repository.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"
source tools/.lib/repository.sh
enter_repository

# Assigned first: the script exits if one of these fails, which it would not if they were arguments of jq.
branch=$(git branch --show-current)
commit=$(git log -1 --format=%h)
date=$(git log -1 --format=%cI)
subject=$(git log -1 --format=%s)
commits=$(git rev-list --count HEAD)
authors=$(git log --format=%aE | sort -u | wc -l)
changed=$(git status --short 2>/dev/null)

jq -n --arg branch "$branch" --arg commit "$commit" --arg date "$date" --arg subject "$subject" \
	--argjson commits "$commits" --argjson authors "$authors" --arg changed "$changed" '
	{$branch, $commit, $date, $subject, $commits, $authors, changed: ($changed | split("\n") | map(select(. != "")))}'
