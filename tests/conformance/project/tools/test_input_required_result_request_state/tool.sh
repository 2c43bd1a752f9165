#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

# The state that the client brings back leads to this process, or it is refused: a script need not look at it.
form='{ "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"] }'
answer=$(MCP_ASK_NAME=confirm mcp_elicit "Please confirm" "$form") || exit 1
mcp_emit_text "state-ok: confirmed is $(jq .content.ok <<<"$answer")"
