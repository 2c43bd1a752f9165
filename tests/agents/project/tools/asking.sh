#!/usr/bin/env bash
# mcp: {"name": "asking", "description": "Asks the user whether to go on, and reports the answer.", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
source "$MCP_SDK/tool-sdk.sh"
if answer=$(mcp_elicit_confirm "Go on?"); then
	mcp_emit_text "The user was asked: $(jq -r .action <<<"$answer")"
else
	mcp_emit_text "The user cannot be asked"
fi
