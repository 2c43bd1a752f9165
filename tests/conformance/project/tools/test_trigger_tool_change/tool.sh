#!/usr/bin/env bash
# The server sees the change by itself, as it sees any that a person makes.
source "$MCP_SDK/tool-sdk.sh"

tool=$MCPBASH_PROJECT_ROOT/tools/test_changing_tool.sh
if [ -e "$tool" ]; then
	rm "$tool"
	mcp_emit_text "Tool removed"
else
	# Moved into its place whole, so that nobody sees half of it.
	scratch=$(mktemp "$MCPBASH_PROJECT_ROOT/tools/.changing.XXXXXX")
	printf '#!/bin/sh\n# mcp: {"description": "Comes and goes"}\necho here\n' >"$scratch"
	chmod 755 "$scratch"
	mv "$scratch" "$tool"
	mcp_emit_text "Tool added"
fi
