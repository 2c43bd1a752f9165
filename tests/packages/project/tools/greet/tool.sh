#!/usr/bin/env bash
set -euo pipefail
# shellcheck source=/dev/null
source "$MCP_SDK/tool-sdk.sh"
name=$(mcp_args_require '.name')
mcp_progress 50 "greeting $name"
mcp_result_success "$(mcp_json_obj message "Hello, $name!")"
