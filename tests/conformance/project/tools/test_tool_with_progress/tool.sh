#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

for percent in 0 50 100; do
	[ "$percent" = 0 ] || sleep 0.05
	mcp_progress "$percent" "Completed $percent of 100" 100
done
mcp_emit_text "Tool with progress executed"
