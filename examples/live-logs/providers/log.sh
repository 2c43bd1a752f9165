#!/usr/bin/env bash
# Reads log: URIs; the URI is the only argument. Exit codes name the problem: 3 not found, 4 invalid URI.
set -euo pipefail

if [ "$1" = log://index ]; then
	cd logs
	wc -l -- *.log | sed '$ { /total$/d; }' | awk '{ sub(/\.log$/, "", $2); print $2 ": " $1 " lines" }'
	exit 0
fi

# The values come decoded, so `..%2F` arrives as `../`.
service=${MCP_RESOURCE_VAR_service:-}
lines=${MCP_RESOURCE_VAR_lines:-50}
if ! [[ $service =~ ^[A-Za-z0-9_-]+$ ]]; then
	echo "the name of a service has letters, digits, - and _ only" >&2
	exit 4
fi
if ! [[ $lines =~ ^[1-9][0-9]{0,4}$ ]]; then
	echo "lines must be a number from 1 to 99999" >&2
	exit 4
fi
if [ ! -f "logs/$service.log" ]; then
	echo "there is no log of $service; read log://index for those there are" >&2
	exit 3
fi
tail -n "$lines" -- "logs/$service.log"
