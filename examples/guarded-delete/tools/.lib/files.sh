# shellcheck shell=bash
# Shared code of both tools. Hidden folders contain no tools.

# Sets `folder`, and the array `files` to the files in it (not below it) whose names match the pattern of the
# call.
find_files() {
	local pattern file
	pattern=$(mcp_args_require .pattern)
	folder=$(mcp_require_path .folder --default-to-single-root)
	files=()
	while IFS= read -r -d '' file; do
		files+=("${file##*/}")
	done < <(find "$folder" -maxdepth 1 -type f -name "$pattern" -print0 | sort -z)
}
