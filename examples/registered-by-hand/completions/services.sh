#!/usr/bin/env bash
# The services with a deployment.
set -euo pipefail

typed=$(jq -r .prefix <<<"$MCP_COMPLETION_ARGS_JSON")
typed=$typed awk 'index($1, ENVIRON["typed"]) == 1 && !seen[$1]++ { print $1 }' tools/deploy/deployments.txt
