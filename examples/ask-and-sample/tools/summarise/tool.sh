#!/usr/bin/env bash
# Lets the client's own model do what a script cannot, without a key or another service.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"

text=$(mcp_args_require .text)
if reply=$(mcp_sample "Summarise this in one sentence:"$'\n\n'"$text" --system "You are terse." --max-tokens 100); then
	jq -r .content.text <<<"$reply"
	exit 0
fi

# Not every client offers a model. The beginning of the text is better than nothing, and is labelled as such.
words=$(tr -s '[:space:]' ' ' <<<"$text")
printf 'This client lends no model. The text begins: %.200s\n' "$words"
