#!/usr/bin/env bash
# mcp: {"name": "slow", "description": "Works for eight seconds and reports its progress.", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
source "$MCP_SDK/tool-sdk.sh"
for second in 1 2 3 4 5 6 7 8; do
	sleep 1
	mcp_progress "$second" "second $second" 8
done
if [[ -n ${MCP_PROGRESS_TOKEN:-} ]]; then wanted="wanted"; else wanted="not wanted"; fi
mcp_emit_text "All 8 seconds are over; progress was $wanted"
