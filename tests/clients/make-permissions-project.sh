#!/bin/sh
# Writes a project with roles, a policy and tools that need consent: make-permissions-project.sh DIR
#
# Scripts write who called them into the file `runs`.
set -eu

[ $# -eq 1 ] || { echo "usage: make-permissions-project.sh DIR" >&2; exit 2; }
# A policy that other users can write is not used.
umask 022
mkdir -p "$1/server.d"
cd "$1"

tool() { # NAME META: a tool of that name, its script on standard input
	mkdir -p "tools/$1"
	printf '%s\n' "$2" >"tools/$1/tool.meta.json"
	cat >"tools/$1/tool.sh"
	chmod +x "tools/$1/tool.sh"
}

echo '{ "name": "permissions", "version": "1.0.0" }' >server.d/server.meta.json

cat >server.d/roles.yaml <<'EOT'
toolsets:
  deploys: [deploy, wipe]
roles:
  operator:
    given: {tokens: [ada]}
  deployer:
    tools: ["@deploys", status]
    given: {tokens: [ben]}
  viewer:
    readOnly: true
    given: {tokens: [cleo]}
EOT

cat >server.d/policy.yaml <<'EOT'
version: 1
default: allow
rules:
  - name: production-is-for-ada
    when: tool.name == "deploy" && args.env == "production" && caller.name != "ada"
    deny: "{caller.name} may not deploy to {args.env}."
  - name: ask-before-staging
    when: tool.name == "deploy" && args.env == "staging"
    confirm: Deploy to {args.env}?
  - name: hide-cards
    when: tool.name == "customers"
    redact: ["/rows/*/card", { pattern: "[0-9]{16}" }]
EOT

tool status '{
  "description": "Tells who calls.",
  "inputSchema": { "type": "object" },
  "annotations": { "readOnlyHint": true }
}' <<'EOT'
#!/bin/sh
echo "status by $MCP_CALLER" >>runs
echo "fine, $MCP_CALLER"
EOT

tool deploy '{
  "description": "Deploys.",
  "argv": ["{env}"],
  "inputSchema": { "type": "object", "properties": { "env": { "type": "string" } }, "required": ["env"] }
}' <<'EOT'
#!/bin/sh
echo "deploy to $1 by $MCP_CALLER" >>runs
echo "deployed to $1"
EOT

tool wipe '{
  "description": "Wipes something, after a person has consented.",
  "confirm": true,
  "argv": ["{what}"],
  "inputSchema": { "type": "object", "properties": { "what": { "type": "string" } }, "required": ["what"] },
  "annotations": { "destructiveHint": true }
}' <<'EOT'
#!/bin/sh
echo "wipe $1 by $MCP_CALLER" >>runs
echo "wiped $1"
EOT

tool customers '{
  "description": "Lists customers.",
  "inputSchema": { "type": "object" },
  "outputSchema": { "type": "object", "properties": { "rows": { "type": "array" }, "note": { "type": "string" } }, "required": ["rows"] },
  "annotations": { "readOnlyHint": true }
}' <<'EOT'
#!/bin/sh
echo "customers by $MCP_CALLER" >>runs
echo '{"rows": [{"name": "Zoë", "card": "hidden-by-pointer"}], "note": "paid with 4929000000006789"}'
EOT

tool introduce '{
  "description": "Asks for a name.",
  "inputSchema": { "type": "object" }
}' <<'EOT'
#!/usr/bin/env bash
source "$MCP_SDK/tool-sdk.sh"
echo "introduce by $MCP_CALLER" >>runs
answer=$(mcp_elicit_string "What is your name?" name) || exit 1
mcp_emit_text "Hello, $(jq -r .content.name <<<"$answer")!"
EOT
