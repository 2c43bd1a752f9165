#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

answer=$(MCP_ASK_NAME=capital_question mcp_sample "What is the capital of France?" --max-tokens 100)
mcp_emit_text "$(jq -r .content.text <<<"$answer")"
