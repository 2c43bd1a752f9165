#!/usr/bin/env bash
# mcp: {"name": "structured", "description": "Reports the weather of a city as an object.", "inputSchema": {"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city"}}, "required": ["city"], "additionalProperties": false}, "outputSchema": {"type": "object", "properties": {"city": {"type": "string"}, "celsius": {"type": "number"}}, "required": ["city", "celsius"]}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
source "$MCP_SDK/tool-sdk.sh"
mcp_emit_json "{\"city\":$(mcp_json_escape "$(mcp_args_require .city)"),\"celsius\":21.5}"
