#!/usr/bin/env bash
# status.sh SERVICE
# mcp: {"name": "status", "description": "The state of a service.", "argv": ["{service}"], "inputSchema": {"type": "object", "properties": {"service": {"type": "string"}}, "required": ["service"]}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
set -euo pipefail

case ${1:?usage: status.sh SERVICE} in
shop) echo "shop is up since 2026-02-12" ;;
mail) echo "mail is down since this morning" ;;
*)
	echo "there is no service $1" >&2
	exit 1
	;;
esac
