#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

# A message before the answer makes the answer an event stream, which can be resumed.
mcp_log_warn test "Working for a while"
sleep 2
mcp_emit_text "Reconnection test completed"
