#!/usr/bin/env bash
# Calls the tool __NAME__ once, and reports whether there was a result: ./smoke.sh
# MCPBASH_BIN names the mcp-bash to use; the default is bin/mcp-bash of the project, or the one on PATH.
set -euo pipefail

# Valid arguments of the tool: change them together with tool.meta.json.
sample_args='{"name":"World"}'

script_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project_root=$(cd "$script_dir/../.." && pwd)
export MCPBASH_PROJECT_ROOT=${MCPBASH_PROJECT_ROOT:-$project_root}

# If TMPDIR names a missing folder, nothing can run.
mkdir -p "${TMPDIR:-/tmp}"

mcp_bash=${MCPBASH_BIN:-}
if [[ -z $mcp_bash && -x $project_root/bin/mcp-bash ]]; then
	mcp_bash=$project_root/bin/mcp-bash
fi
mcp_bash=${mcp_bash:-mcp-bash}
if ! command -v "$mcp_bash" >/dev/null; then
	echo "mcp-bash not found; add it to PATH or set MCPBASH_BIN." >&2
	exit 1
fi

if ! output=$("$mcp_bash" run-tool "__NAME__" --allow-self --args "$sample_args"); then
	echo "Smoke test FAILED: the tool could not be run." >&2
	printf '%s\n' "$output" >&2
	exit 1
fi
if ! "$mcp_bash" jq -e '.isError != true and (.content | length > 0)' <<<"$output" >/dev/null; then
	echo "Smoke test FAILED: there is no result, or it is an error." >&2
	printf '%s\n' "$output" >&2
	exit 2
fi
echo "Smoke test passed for __NAME__."
