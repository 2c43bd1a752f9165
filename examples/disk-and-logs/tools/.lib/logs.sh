# shellcheck shell=bash
# Shared code of the tools that read logs. Hidden folders contain no tools.

# Unless NAME is a log, ends the call with an error that lists the logs. The schema of the tools ensures that
# the name is not a path.
require_log() { # NAME
	[ ! -f "logs/$1.log" ] || return 0
	local known=(logs/*.log)
	known=("${known[@]#logs/}")
	mcp_error no_such_log "There is no log called $1. There are: ${known[*]%.log}."
	exit 0
}
