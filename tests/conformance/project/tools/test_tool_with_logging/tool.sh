#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

mcp_log_info test "Tool execution started"
sleep 0.05
mcp_log_info test "Tool processing data"
sleep 0.05
mcp_log_info test "Tool execution completed"
mcp_emit_text "Tool with logging executed"
