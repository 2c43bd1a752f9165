#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

mcp_progress 50 "About to ask" 100
answer=$(mcp_elicit_confirm "Go on?") || true
mcp_emit_text "Confirmed: $(jq -r '.content.confirmed // false' <<<"$answer")"
