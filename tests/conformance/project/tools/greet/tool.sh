#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

mcp_emit_text "Hello, $(mcp_args_get .name)!"
