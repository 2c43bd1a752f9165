#!/usr/bin/env bash
# The words that begin with what was typed, for the first argument.
typed=$(jq -er 'select(.argument.name == "arg1") | .argument.value') || exit 0
for word in paris park party test testing; do
	case $word in "$typed"*) echo "$word" ;; esac
done
