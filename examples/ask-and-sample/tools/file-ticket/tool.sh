#!/usr/bin/env bash
# Asks for the facts that the model cannot know, with one form for all of them.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"

ticket=$(mcp_args_raw)

# A form for the missing fields, and no question if none is missing.
form=$(jq -c --argjson ticket "$ticket" '
	.properties |= with_entries(select(.key as $field | $ticket | has($field) | not))
	| .required = (.properties | keys)' <<'END'
{
  "type": "object",
  "properties": {
    "severity": {
      "type": "string", "title": "How bad is it?",
      "oneOf": [
        { "const": "low", "title": "It can wait" },
        { "const": "normal", "title": "This week" },
        { "const": "urgent", "title": "Now" }
      ]
    },
    "reporter": { "type": "string", "title": "Who reports it?", "minLength": 1 }
  }
}
END
)
missing=$(jq -r '.required | join(", ")' <<<"$form")

if [ -n "$missing" ]; then
	answer=$(mcp_elicit "A ticket needs a little more" "$form" 120) || {
		mcp_error cannot_ask "The user cannot be asked here. Call again with: $missing."
		exit 0
	}
	if [ "$(jq -r .action <<<"$answer")" != accept ]; then
		mcp_error not_filed "The user does not want to file the ticket. Do not try again."
		exit 0
	fi
	ticket=$(jq -c --argjson answer "$answer" '. + $answer.content' <<<"$ticket")
fi

# A real tool would pass the ticket to the tracker here.
mcp_emit_json "$ticket"
