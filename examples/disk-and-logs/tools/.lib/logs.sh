# shellcheck shell=bash
# What the tools that read logs share. Hidden folders hold no tools.

# Ends the call with an error that names the logs there are, unless NAME is one of them. The schema of the tools has
# made sure that the name leads nowhere else.
require_log() { # NAME
	[ ! -f "logs/$1.log" ] || return 0
	local known=(logs/*.log)
	known=("${known[@]#logs/}")
	mcp_error no_such_log "There is no log called $1. There are: ${known[*]%.log}."
	exit 0
}
