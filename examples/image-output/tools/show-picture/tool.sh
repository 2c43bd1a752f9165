#!/usr/bin/env bash
# A picture from a file: a result with the bytes in Base64.
set -euo pipefail
source "$MCP_SDK/tool-sdk.sh"

name=$(mcp_args_require .name)
file=pictures/$name.png
if [ ! -f "$file" ]; then
	mcp_error not_found "The picture $name is missing from the collection. Choose another."
	exit 0
fi

# Base64 needs no quoting in JSON. Some versions of base64 wrap their lines, and not all have an option
# against that.
data=$(base64 <"$file" | tr -d '\n')
printf '{"content":[{"type":"image","mimeType":"image/png","data":"%s"}]}\n' "$data"
