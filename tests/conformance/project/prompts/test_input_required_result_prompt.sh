#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

answer=$(MCP_ASK_NAME=user_context mcp_elicit_string "What context should the prompt use?" context) || exit 1
echo "Use this context: $(jq -r .content.context <<<"$answer")"
