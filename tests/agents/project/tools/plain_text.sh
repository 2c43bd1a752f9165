#!/usr/bin/env bash
# mcp: {"name": "plain_text", "description": "Repeats words as plain text.", "inputSchema": {"type": "object", "properties": {"words": {"type": "string", "description": "What to repeat"}, "loud": {"type": "boolean", "description": "In capitals; optional"}}, "required": ["words"]}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
source "$MCP_SDK/tool-sdk.sh"
words=$(mcp_args_require .words)
if [[ $(mcp_args_bool .loud --default false) == true ]]; then words=$(tr '[:lower:]' '[:upper:]' <<<"$words"); fi
mcp_emit_text "You said: $words"
