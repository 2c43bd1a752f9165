#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

answer=$(MCP_ASK_NAME=user_name mcp_elicit_string "What is your name?" name)
sleep 0.5
mcp_emit_text "Worked for $(jq -r .content.name <<<"$answer")"
