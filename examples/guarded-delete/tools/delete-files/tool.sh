#!/usr/bin/env bash
# Deletes files, if the user confirms.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"
source tools/.lib/files.sh

# A question with more names than a user reads gets no good answer.
most=20

# Prints the result: a message, and the deleted files.
report() { # MESSAGE [NAME]...
	local message=$1
	shift
	mcp_emit_json "{\"deleted\":$(mcp_json_arr "$@"),\"message\":$(mcp_json_escape "$message")}"
}

find_files # sets folder and files
count=${#files[@]}
if [ "$count" -eq 0 ]; then
	report "No file fits the pattern."
	exit 0
fi
if [ "$count" -gt "$most" ]; then
	mcp_error too_many "The pattern fits $count files, and at most $most are deleted at once. Use a narrower pattern."
	exit 0
fi

# Only a complete yes counts: no answer, a refusal and a closed window all leave the files alone.
names=$(printf ', %s' "${files[@]}")
names=${names#, }
status=0
answer=$(mcp_elicit_confirm "Delete from $folder: $names?") || status=$?
if [ "$status" -ne 0 ]; then
	mcp_error cannot_ask "Nothing was deleted: the user could not be asked, or gave no answer. Tell the user which ones to delete by hand: $names."
	exit 0
fi
if [ "$(jq -r '.action == "accept" and .content.confirmed == true' <<<"$answer")" != true ]; then
	report "The user said no. Nothing was deleted."
	exit 0
fi

for name in "${files[@]}"; do
	rm -f -- "$folder/$name"
done
report "Deleted: $names." "${files[@]}"
