#!/usr/bin/env bash
# A program that reports its own progress: lines like "frame 3/10 30%" become progress.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"

scene=$(mcp_args_require .scene)
frames=$(mcp_args_int .frames --default 10 --min 1 --max 1000)
pause=$(mcp_args_get '.pause // 0.1')

# The other lines explain a failure.
errors=$(mktemp)
trap 'rm -f -- "$errors"' EXIT

status=0
mcp_run_with_progress --pattern '([0-9]+)%' --extract match1 --stderr-file "$errors" -- \
	bin/renderer "$scene" "$frames" "$pause" || status=$?
case $status in
0) ;;
130) exit 130 ;; # cancelled: no client reads the output
*) mcp_error render_failed "The renderer failed: $(mcp_extract_cli_error "" "$(cat "$errors")" "$status")" ;;
esac
