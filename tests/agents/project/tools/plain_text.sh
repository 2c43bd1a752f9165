#!/usr/bin/env bash
# mcp: {"name": "plain_text", "description": "Repeats words as plain text.", "inputSchema": {"type": "object", "properties": {"words": {"type": "string", "description": "What to repeat"}}, "required": ["words"]}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
source "$MCP_SDK/tool-sdk.sh"
mcp_emit_text "You said: $(mcp_args_require .words)"
