#!/usr/bin/env bash
# Deletes one file. The server has asked the user before this starts.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"
file=$(mcp_require_path .file)
rm -- "$file"
mcp_emit_text "Deleted: ${file##*/}"
