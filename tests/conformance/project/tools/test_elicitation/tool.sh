#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"

message=$(mcp_args_require .message)
form='{
	"type": "object",
	"properties": {
		"username": { "type": "string", "description": "User'"'"'s response" },
		"email": { "type": "string", "description": "User'"'"'s email address" }
	},
	"required": ["username", "email"]
}'
if ! answer=$(mcp_elicit "$message" "$form"); then
	mcp_error cannot_ask "This client cannot ask its user"
	exit 0
fi
mcp_emit_text "User response: $(jq -r '"action: \(.action), content: \(.content | tojson)"' <<<"$answer")"
