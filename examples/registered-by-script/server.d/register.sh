#!/usr/bin/env bash
# Registers a tool for each service in services.tsv. It runs whenever the project is read, so it only reads files.
set -euo pipefail

while IFS=$'\t' read -r name about; do
	[[ -n $name && $name != '#'* ]] || continue
	mcp_register_tool "$(jq -cn --arg name "$name" --arg about "$about" '{
		name: "\($name)_status",
		title: "Status of \($name)",
		description: "Whether \($name) (\($about)) is up, and since when.",
		path: "status.sh",
		argv: [$name],
		inputSchema: {type: "object", properties: {}, additionalProperties: false},
		annotations: {readOnlyHint: true, openWorldHint: false}
	}')"
done <"$MCPBASH_PROJECT_ROOT/services.tsv"
