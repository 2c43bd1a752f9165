#!/usr/bin/env bash
# Writes a line to a log, which notifies subscribers.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"

service=$(mcp_args_require .service)
text=$(mcp_args_require .text)
if [ ! -f "logs/$service.log" ]; then
	mcp_error no_such_service "There is no log of $service. The resource log://index lists those there are."
	exit 0
fi
printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$text" >>"logs/$service.log"
mcp_emit_text "Written. log://$service has the line now."
