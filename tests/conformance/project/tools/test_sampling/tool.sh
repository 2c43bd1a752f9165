#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

prompt=$(mcp_args_require .prompt)
if ! answer=$(mcp_sample "$prompt" --max-tokens 100); then
	mcp_error cannot_ask "This client has no model to ask"
	exit 0
fi
mcp_emit_text "LLM response: $(jq -r .content.text <<<"$answer")"
