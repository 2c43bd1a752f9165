# shellcheck shell=bash disable=SC2154 # sourced by run
defined=$(grep -hoE '^mcp_[a-z_0-9]+\(\)' "$MCP_SDK/tool-sdk.sh" "$MCP_SDK"/parts/*.sh | tr -d '()' | sort -u)
documented=$(grep -oE '\*\*`mcp_[a-z_0-9]+' "$MCP_SDK/../docs/bash-sdk.md" | grep -oE 'mcp_[a-z_0-9]+' | sort)
check "every function is described once, and nothing else" "$defined" "$documented"
check "every name in the text is a function" "" "$(comm -23 <(grep -oE '\bmcp_[a-z_0-9]+' "$MCP_SDK/../docs/bash-sdk.md" | sort -u) <(printf '%s\n' "$defined"))"
check "every function of a part can be called from the start" "" \
	"$(comm -23 <(printf '%s\n' "$defined") <(grep -oE '^mcp_[a-z_0-9]+\(\)' "$MCP_SDK/tool-sdk.sh" | tr -d '()' | sort -u))"
