#!/usr/bin/env bash
# mcp: {"name": "count_words", "description": "Counts the words of a file in the user's folder.", "inputSchema": {"type": "object", "properties": {"file": {"type": "string", "description": "Absolute path of the file"}}, "required": ["file"]}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
source "$MCP_SDK/tool-sdk.sh"
file=$(mcp_require_path .file)
mcp_emit_text "Words in the file: $(wc -w <"$file" | tr -d ' ')"
