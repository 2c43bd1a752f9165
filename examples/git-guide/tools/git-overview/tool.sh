#!/usr/bin/env bash
# Where a repository stands.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"
source tools/.lib/repository.sh
enter_repository

jq -n \
	--arg branch "$(git branch --show-current)" \
	--arg commit "$(git log -1 --format=%h)" \
	--arg date "$(git log -1 --format=%cI)" \
	--arg subject "$(git log -1 --format=%s)" \
	--argjson commits "$(git rev-list --count HEAD)" \
	--argjson authors "$(git log --format=%aE | sort -u | wc -l)" \
	--arg changed "$(git status --short 2>/dev/null)" '
	{$branch, $commit, $date, $subject, $commits, $authors, changed: ($changed | split("\n") | map(select(. != "")))}'
