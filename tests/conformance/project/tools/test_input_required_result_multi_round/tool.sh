#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

name=$(MCP_ASK_NAME=step1 mcp_elicit_string "Step 1: What is your name?" name) || exit 1
color=$(MCP_ASK_NAME=step2 mcp_elicit_string "Step 2: What is your favorite color?" color) || exit 1
mcp_emit_text "$(jq -r .content.name <<<"$name") likes $(jq -r .content.color <<<"$color")"
