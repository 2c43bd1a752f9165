#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

if [ "${MCP_ELICIT_SUPPORTED:-0}" = 1 ]; then
	answer=$(mcp_elicit_string "What is your name?" name)
	mcp_emit_text "The user is called $(jq -r .content.name <<<"$answer")"
else
	answer=$(mcp_sample "Invent a name" --max-tokens 50)
	mcp_emit_text "The model says $(jq -r .content.text <<<"$answer")"
fi
