#!/usr/bin/env bash
# Completes arguments of __TARGET__: prints the possible values, one per line.
set -euo pipefail

question=$(cat)
asked() { "${MCPBASH_JSON_TOOL_BIN:-jq}" -r "$1" <<<"$question"; }

typed=$(asked '.argument.value // ""')
case $(asked '.argument.name') in
subject) values=(alpha beta gamma) ;;
*) values=() ;;
esac

for value in ${values[@]+"${values[@]}"}; do
	if [[ $value == "$typed"* ]]; then
		printf '%s\n' "$value"
	fi
done
