#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

mcp_fail -32603 "the job cannot be done"
