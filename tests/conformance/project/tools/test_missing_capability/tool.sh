#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

answer=$(mcp_sample "Say hello" --max-tokens 100)
mcp_emit_text "$(jq -r .content.text <<<"$answer")"
