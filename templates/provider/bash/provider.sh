#!/usr/bin/env bash
# mcp: {"provider": true}
# Provides tools: `list` prints their definitions; any other word is the name of a tool to call, with its
# arguments in $2.
set -euo pipefail

case ${1-} in
list)
	cat <<'END'
{
  "name": "__NAME__",
  "description": "Greets somebody by name. Say here what the tool does and when a model should use it.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "name": { "type": "string", "description": "Who is greeted, for example Ada", "default": "World" }
    },
    "additionalProperties": false
  },
  "annotations": { "readOnlyHint": true, "openWorldHint": false }
}
END
	;;
__NAME__)
	"${MCPBASH_JSON_TOOL_BIN:-jq}" '{content: [{type: "text", text: "Hello, \(.name // "World")!"}]}' <<<"$2"
	;;
*)
	echo "there is no tool ${1-}" >&2
	exit 1
	;;
esac
