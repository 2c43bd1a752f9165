#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

filename=$(mcp_args_get .filename)
schema='{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}'
answer=$(mcp_elicit "Delete $filename?" "$schema")
if [[ $(jq -r .content.confirm <<<"$answer") == true ]]; then
  mcp_emit_text "Deleted $filename"
else
  mcp_emit_text "Kept $filename"
fi
