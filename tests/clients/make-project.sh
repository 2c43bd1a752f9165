#!/bin/sh
# Writes the project that the sessions in this folder talk to: make-project.sh DIR
set -eu

[ $# -eq 1 ] || { echo "usage: make-project.sh DIR" >&2; exit 2; }
mkdir -p "$1/server.d"
cd "$1"

tool() { # NAME META: a tool of that name, its script on standard input
	mkdir -p "tools/$1"
	printf '%s\n' "$2" >"tools/$1/tool.meta.json"
	cat >"tools/$1/tool.sh"
	chmod +x "tools/$1/tool.sh"
}

cat >server.d/server.meta.json <<'EOT'
{
  "name": "client-sessions",
  "title": "Client sessions",
  "version": "4.5.6",
  "description": "What the official clients are tried on.",
  "websiteUrl": "https://example.com/client-sessions"
}
EOT
echo 'Greet people with `greet`.' >server.d/server.instructions.md

tool greet '{
  "name": "greet",
  "title": "Greeter",
  "description": "Greets by name.",
  "inputSchema": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
  "annotations": { "readOnlyHint": true }
}' <<'EOT'
#!/bin/sh
name=$(sed -n 's/.*"name"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p')
echo "Hello, $name!"
EOT

# The token in these notifications is not the client's on purpose: the server has to put the right one in.
tool steps '{
  "name": "steps",
  "description": "Takes five steps and reports each.",
  "inputSchema": { "type": "object" },
  "annotations": { "readOnlyHint": true }
}' <<'EOT'
#!/bin/sh
for step in 1 2 3 4 5; do
	if [ -n "${MCP_PROGRESS_TOKEN:-}" ]; then
		printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":%s,"total":5,"message":"step %s"}}\n' \
			"$step" "$step" >>"$MCP_PROGRESS_STREAM"
	fi
	sleep 0.1
done
echo "Took 5 steps."
EOT

tool fail '{
  "name": "fail",
  "description": "Always fails.",
  "inputSchema": { "type": "object" },
  "annotations": { "readOnlyHint": true }
}' <<'EOT'
#!/bin/sh
echo "this tool always fails" >&2
exit 3
EOT

# An executable that says itself which tools it has.
cat >tools/team <<'EOT'
#!/bin/sh
number() { printf '%s' "$2" | sed -n "s/.*\"$1\"[[:space:]]*:[[:space:]]*\([0-9]*\).*/\1/p"; }
case "$1" in
list) echo '{"name":"add","description":"Adds two numbers.","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]},"annotations":{"readOnlyHint":true}}' ;;
add) printf '{"content":[{"type":"text","text":"%s"}]}\n' "$(($(number a "$2") + $(number b "$2")))" ;;
*) exit 1 ;;
esac
EOT
chmod +x tools/team

mkdir -p prompts
echo 'Write a {{tone}} letter to ${name}.' >prompts/letter.txt
cat >prompts/letter.meta.json <<'EOT'
{
  "description": "A letter.",
  "arguments": {
    "type": "object",
    "required": ["name"],
    "properties": {
      "name": { "type": "string" },
      "tone": { "type": "string", "enum": ["kind", "stern"], "default": "kind" }
    }
  }
}
EOT

# It writes down its process id, so that a session can see that it started, and that it was stopped. It reports progress
# once, to a client that wants to know.
tool slow '{
  "name": "slow",
  "description": "Takes longer than any session waits.",
  "annotations": { "readOnlyHint": true },
  "inputSchema": { "type": "object", "properties": { "pidFile": { "type": "string" } } },
  "timeoutSecs": 600
}' <<'EOT'
#!/bin/sh
file=$(sed -n 's/.*"pidFile"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p')
[ -z "$file" ] || echo $$ >"$file"
[ -z "${MCP_PROGRESS_TOKEN:-}" ] ||
	echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}' >>"$MCP_PROGRESS_STREAM"
exec sleep 1000
EOT

tool weather '{
  "name": "weather",
  "description": "Tells the weather as data.",
  "annotations": { "readOnlyHint": true },
  "inputSchema": { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] },
  "outputSchema": {
    "type": "object",
    "properties": { "city": { "type": "string" }, "degrees": { "type": "integer" } },
    "required": ["city", "degrees"]
  }
}' <<'EOT'
#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
mcp_emit_json "$(mcp_args_raw | jq -c '{city, degrees: 21}')"
EOT

# Two questions after each other. It tells its process id, so that a session can see that one process asked both.
tool introduce '{
  "name": "introduce",
  "description": "Asks for a name, and for what else there is to know.",
  "inputSchema": { "type": "object" },
  "annotations": { "readOnlyHint": true }
}' <<'EOT'
#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
answer=$(mcp_elicit_string "What is your name?" name) || { mcp_emit_text "Nobody can be asked."; exit 0; }
if [ "$(jq -r .action <<<"$answer")" != accept ]; then
	mcp_emit_text "Nobody: $(jq -r .action <<<"$answer")"
	exit 0
fi
name=$(jq -r .content.name <<<"$answer")
answer=$(mcp_elicit_confirm "Are you well, $name?") || exit 1
mcp_emit_text "$name, well: $(jq -r .content.confirmed <<<"$answer")"
EOT

tool wipe '{
  "name": "wipe",
  "description": "Wipes something, after a person has consented.",
  "confirm": "Wipe {what}?",
  "argv": ["{what}"],
  "inputSchema": { "type": "object", "properties": { "what": { "type": "string" } }, "required": ["what"] },
  "annotations": { "destructiveHint": true }
}' <<'EOT'
#!/bin/sh
echo "wiped $1"
EOT

tool summarise '{
  "name": "summarise",
  "description": "Has the model of the client summarise a text.",
  "annotations": { "readOnlyHint": true },
  "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }
}' <<'EOT'
#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
answer=$(mcp_sample "Summarise: $(mcp_args_require .text)" --max-tokens 100) || { mcp_emit_text "No model."; exit 0; }
mcp_emit_text "The model says: $(jq -r .content.text <<<"$answer")"
EOT

tool folders '{
  "name": "folders",
  "description": "Tells which folders the client has open.",
  "inputSchema": { "type": "object" },
  "annotations": { "readOnlyHint": true }
}' <<'EOT'
#!/usr/bin/env bash
"$MCPBASH_BIN" ask roots/list '{}' | jq -r '.result.roots | map(.uri) | join(" ")'
EOT

tool chatty '{
  "name": "chatty",
  "description": "Says something in the log before it is done.",
  "inputSchema": { "type": "object" },
  "annotations": { "readOnlyHint": true }
}' <<'EOT'
#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
mcp_log_info chatty "first words"
mcp_log_warn chatty "second words"
mcp_emit_text "Said it."
EOT

# Where it is given the name of a file, it reports progress, waits for the file, and returns a picture, which cannot be cut.
tool large '{
  "name": "large",
  "description": "Returns more than an event of a stream may hold.",
  "annotations": { "readOnlyHint": true },
  "inputSchema": { "type": "object", "properties": { "awaits": { "type": "string" } } }
}' <<'EOT'
#!/bin/sh
file=$(sed -n 's/.*"awaits"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p')
if [ -n "$file" ]; then
	echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}' >>"$MCP_PROGRESS_STREAM"
	until [ -e "$file" ]; do sleep 0.05; done
	printf '{"content":[{"type":"image","mimeType":"image/png","data":"'
	head -c 3000000 /dev/zero | tr '\0' A
	printf '"}]}\n'
	exit
fi
text() { printf '{"type":"text","text":"'; head -c 1000000 /dev/zero | tr '\0' "$1"; printf '"}'; }
printf '{"content":['; text a; printf ,; text b; printf ,; text c; printf ']}\n'
EOT

# Clients over HTTP repeat the region in a header.
tool route '{
  "name": "route",
  "description": "Tells where a request is routed to.",
  "annotations": { "readOnlyHint": true },
  "inputSchema": {
    "type": "object",
    "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
    "required": ["region"]
  }
}' <<'EOT'
#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
mcp_emit_text "To $(mcp_args_require .region)."
EOT

mkdir -p resources providers
echo '{ "uri": "note://today", "description": "A note.", "mimeType": "text/plain" }' >resources/today.meta.json
printf 'Nothing yet.\n' >resources/today.txt
echo '{ "uriTemplate": "echo://{word}", "description": "Says a word again.", "mimeType": "text/plain", "provider": "echo" }' \
	>resources/echo.meta.json
cat >providers/echo.sh <<'EOT'
#!/bin/sh
printf '%s, %s' "$MCP_RESOURCE_VAR_word" "$MCP_RESOURCE_VAR_word"
EOT
chmod +x providers/echo.sh
