#!/usr/bin/env bash
# Lists the files that match a pattern.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"
source tools/.lib/files.sh
find_files # sets folder and files

mcp_emit_json "{\"files\":$(mcp_json_arr ${files[@]+"${files[@]}"})}"
