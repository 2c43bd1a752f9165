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
  "inputSchema": { "type": "object" }
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
  "inputSchema": { "type": "object" }
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
list) echo '{"name":"add","description":"Adds two numbers.","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}}' ;;
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

# It writes down its process id, so that a session can see that it started, and that it was stopped.
tool slow '{
  "name": "slow",
  "description": "Takes longer than any session waits.",
  "inputSchema": { "type": "object", "properties": { "pidFile": { "type": "string" } } },
  "timeoutSecs": 600
}' <<'EOT'
#!/bin/sh
file=$(sed -n 's/.*"pidFile"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p')
[ -z "$file" ] || echo $$ >"$file"
exec sleep 1000
EOT
