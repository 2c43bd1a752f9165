#!/usr/bin/env bash
# Work in our own steps: reports each one, and stops between two of them.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"

folder=$(mcp_require_path .folder --default-to-single-root)
pause=$(mcp_args_get '.pause // 0')

files=("$folder"/*.txt)
if [ ! -e "${files[0]}" ]; then
	mcp_error nothing_to_do "There are no .txt files in $folder. Give a folder that has some."
	exit 0
fi

# The index is renamed into place at the end, so that no process reads half of one. If an error or a
# cancellation ends this script earlier, the half is removed.
half=$folder/.index.tsv.$$
trap 'rm -f -- "$half"' EXIT
trap 'exit 143' TERM

total=${#files[@]} finished=0 words=0
for file in "${files[@]}"; do
	if mcp_is_cancelled; then exit 1; fi
	mcp_progress "$finished" "${file##*/}" "$total"
	count=$(wc -w <"$file")
	printf '%s\t%d\n' "${file##*/}" "$count" >>"$half"
	words=$((words + count))
	finished=$((finished + 1))
	# In the background, because bash runs a trap only after a foreground command has exited.
	sleep "$pause" &
	wait $!
done
mv -- "$half" "$folder/index.tsv"
mcp_progress "$total" "done" "$total"

mcp_emit_json "{\"files\":$total,\"words\":$words,\"index\":$(mcp_json_escape "$folder/index.tsv")}"
