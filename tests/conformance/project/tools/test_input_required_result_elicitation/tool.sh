#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

answer=$(MCP_ASK_NAME=user_name mcp_elicit_string "What is your name?" name) || exit 1
mcp_emit_text "Hello, $(jq -r '.content.name // "stranger"' <<<"$answer")!"
