#!/usr/bin/env bash
# Tests of this project's tools: ./test/run.sh [--verbose] [--force]
#   --verbose   show the output of each tool
#   --force     continue even if `mcp-bash validate` finds problems
# MCPBASH_BIN names the mcp-bash to use; the default is bin/mcp-bash of the project, or the one on PATH.
set -euo pipefail

project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export MCPBASH_PROJECT_ROOT=$project_root

mcp_bash=${MCPBASH_BIN:-}
if [[ -z $mcp_bash && -x $project_root/bin/mcp-bash ]]; then
	mcp_bash=$project_root/bin/mcp-bash
fi
mcp_bash=${mcp_bash:-mcp-bash}
if ! command -v "$mcp_bash" >/dev/null; then
	echo "mcp-bash not found; add it to PATH or set MCPBASH_BIN." >&2
	exit 1
fi
export MCPBASH_BIN=$mcp_bash

verbose=${VERBOSE:-0}
force=${FORCE:-0}
for word in "$@"; do
	case $word in
	--verbose | -v) verbose=1 ;;
	--force | -f) force=1 ;;
	*)
		echo "usage: ./test/run.sh [--verbose] [--force]" >&2
		exit 2
		;;
	esac
done

passed=0 failed=0 skipped=0

# Runs a command, counts the outcome and shows it.
check() { # LABEL COMMAND [WORD...]
	local label=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "  $label... PASS"
		passed=$((passed + 1))
		if [[ $verbose == 1 ]]; then
			printf '%s\n' "$output" | sed 's/^/    /'
		fi
	else
		echo "  $label... FAIL"
		failed=$((failed + 1))
		printf '%s\n' "$output" | sed 's/^/    /' >&2
	fi
}

# A call succeeds if there is a result that is not an error.
call() { # TOOL ARGUMENTS [WORD...]
	local tool=$1 arguments=$2 output
	shift 2
	output=$("$mcp_bash" run-tool "$tool" --allow-self --args "$arguments" "$@") || {
		printf '%s\n' "$output"
		return 1
	}
	printf '%s\n' "$output"
	"$mcp_bash" jq -e '.isError != true' <<<"$output" >/dev/null
}

run_test() { # TOOL [ARGUMENTS [DESCRIPTION [WORD...]]]: the tool must succeed; the words are flags of run-tool
	local tool=$1 arguments=${2:-"{}"} description=${3:-}
	shift "$(($# < 3 ? $# : 3))"
	check "$tool${description:+ ($description)}" call "$tool" "$arguments" "$@"
}

run_dry_run() { # TOOL [ARGUMENTS]: the arguments and the metadata must be valid; nothing runs
	check "$1 (dry-run)" "$mcp_bash" run-tool "$1" --allow-self --args "${2:-"{}"}" --dry-run
}

skip_test() { # TOOL [REASON]
	echo "  $1... SKIP${2:+ ($2)}"
	skipped=$((skipped + 1))
}

echo "Looking for mistakes..."
if ! mistakes=$("$mcp_bash" validate --project-root "$project_root" 2>&1); then
	printf '%s\n' "$mistakes" >&2
	if [[ $force != 1 ]]; then
		echo "Fix these, or use --force to run the tests anyway." >&2
		exit 1
	fi
fi

echo "Running tests..."
for smoke in "$project_root"/tools/*/smoke.sh; do
	if [[ -x $smoke ]]; then
		check "${smoke#"$project_root/"}" "$smoke"
	fi
done

# Your own tests:
#
#   run_test hello '{"name":"Ada"}'
#   run_test hello '{}' "nobody is named"
#   run_test hello '{}' "with more time" --timeout 120
#   run_dry_run hello '{"name":"Ada"}'
#   if [[ -z ${API_KEY:-} ]]; then skip_test weather "API_KEY is not set"; else run_test weather '{}'; fi

echo "Results: $passed passed, $failed failed, $skipped skipped"
[[ $failed -eq 0 ]]
