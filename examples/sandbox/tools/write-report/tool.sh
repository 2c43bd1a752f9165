#!/bin/sh
# Writes a report. Nothing here checks the name: `../tools/read-log/tool.sh` is refused by the kernel.
set -eu
printf '%s\n' "$2" >"out/$1"
echo "Written to out/$1."
