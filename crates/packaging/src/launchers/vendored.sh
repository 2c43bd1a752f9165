#!/bin/sh
# Serves the project in this folder with the program in .mcp-bash/. Made by `mcp-bash vendor`.
set -eu

script=$0
while [ -L "$script" ]; do
	target=$(readlink "$script")
	case $target in
	/*) script=$target ;;
	*) script=$(dirname "$script")/$target ;;
	esac
done
project=$(CDPATH='' cd "$(dirname "$script")" && pwd -P)
program=$project/.mcp-bash/mcp-bash
if [ ! -x "$program" ]; then
	echo "run-server.sh: $program is missing; run \`mcp-bash vendor\` in $project" >&2
	exit 1
fi
MCPBASH_PROJECT_ROOT=$project
export MCPBASH_PROJECT_ROOT
exec "$program" "$@"
