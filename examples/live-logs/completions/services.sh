#!/usr/bin/env bash
# The services with logs, for {service} of the template.
set -euo pipefail

asked=$(jq -r .argument.name <<<"$MCP_COMPLETION_ARGS_JSON")
typed=$(jq -r .prefix <<<"$MCP_COMPLETION_ARGS_JSON")
[ "$asked" = service ] || exit 0
for file in logs/*.log; do
	name=${file##*/}
	name=${name%.log}
	[[ $name != "$typed"* ]] || printf '%s\n' "$name"
done
