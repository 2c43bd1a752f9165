#!/usr/bin/env bash
# What can be typed for the first argument: the words that begin with what was typed.
typed=$(jq -r 'select(.argument.name == "arg1") | .argument.value')
for word in paris park party test testing; do
	case $word in "$typed"*) echo "$word" ;; esac
done
