#!/usr/bin/env bash
# A provider: `notes.sh list` prints a tool per line, `notes.sh NAME ARGUMENTS` runs one and prints its result.
set -euo pipefail

list() {
	jq -cn '
		def tool($name; $about; $field; $meaning): {
			name: $name,
			description: $about,
			inputSchema: {
				type: "object",
				properties: {($field): {type: "string", description: $meaning}},
				required: [$field],
				additionalProperties: false
			},
			annotations: {readOnlyHint: true, openWorldHint: false}
		};
		tool("slug"; "Makes a file name of a title."; "title"; "The title of a note"),
		tool("outline"; "Lists the headings of a Markdown text."; "text"; "The text of a note")'
}

# result TEXT: a result that is a text.
result() {
	jq -cn --arg text "$1" '{content: [{type: "text", text: $text}], isError: false}'
}

argument() {
	jq -r "$1" <<<"$arguments"
}

arguments=${2:-'{}'}
case ${1:-} in
list) list ;;
slug) result "$(argument .title | tr '[:upper:]' '[:lower:]' | tr -cs '[:alnum:]' - | sed 's/^-//; s/-$//').md" ;;
outline)
	headings=$(argument .text | grep -E '^#+ ') || {
		echo "the text has no headings" >&2
		exit 1
	}
	result "$headings"
	;;
*)
	echo "usage: notes.sh list | slug ARGUMENTS | outline ARGUMENTS" >&2
	exit 2
	;;
esac
