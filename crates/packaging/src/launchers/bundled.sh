#!/bin/sh
# Serves the project of this bundle with the mcp-bash of this machine. Made by `mcp-bash bundle --no-binary`.
set -eu

bundle=$(CDPATH='' cd "$(dirname "$0")/.." && pwd -P)
MCPBASH_PROJECT_ROOT=$bundle/server
export MCPBASH_PROJECT_ROOT

# A desktop application has a short PATH, so the usual places are tried too.
home=${HOME:-/nonexistent}
for program in \
	"$bundle/server/.mcp-bash/mcp-bash" \
	"$(command -v mcp-bash || :)" \
	"$home/.local/bin/mcp-bash" \
	"$home/.cargo/bin/mcp-bash" \
	/opt/homebrew/bin/mcp-bash \
	/usr/local/bin/mcp-bash \
	/home/linuxbrew/.linuxbrew/bin/mcp-bash \
	/usr/bin/mcp-bash; do
	if [ -f "$program" ] && [ -x "$program" ]; then
		exec "$program" "$@"
	fi
done
echo "mcp-bash is not installed, which this extension needs: it is neither in PATH nor in ~/.local/bin, ~/.cargo/bin," \
	"/usr/local/bin or the folders of Homebrew. Put the program there, and start the extension again." >&2
exit 1
