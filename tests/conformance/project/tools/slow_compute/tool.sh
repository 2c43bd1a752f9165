#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

seconds=$(mcp_args_get .seconds)
sleep "$seconds"
mcp_emit_text "Computed for $seconds seconds"
