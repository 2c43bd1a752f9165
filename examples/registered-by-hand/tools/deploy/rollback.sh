#!/usr/bin/env bash
# Not in register.json, so that no model ever sees it.
set -euo pipefail
echo "a person runs this" >&2
exit 1
