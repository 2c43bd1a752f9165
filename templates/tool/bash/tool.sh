#!/usr/bin/env bash
# The tool __NAME__. Its standard output is its result; its arguments are declared in tool.meta.json.
set -euo pipefail
# shellcheck source=/dev/null
source "${MCP_SDK:?run this with: mcp-bash call __NAME__ name=Ada}/tool-sdk.sh"

# An argument with a default.
name=$(mcp_args_get '.name // "World"')

# If the model can correct its call, return an error with a hint.
if [[ $name == *$'\n'* ]]; then
	mcp_error invalid_name "The name has more than one line" --hint "Give a name without line breaks"
	exit 0
fi

# Progress in percent, for calls that take longer than this one.
mcp_progress 50 "Greeting $name"

mcp_result_success "$(mcp_json_obj message "Hello, $name!")"
