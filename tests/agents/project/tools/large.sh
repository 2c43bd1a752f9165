#!/usr/bin/env bash
# mcp: {"name": "large", "description": "Prints 5,000 lines, about 300,000 characters.", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
for ((line = 1; line <= 5000; line++)); do
	printf 'line %04d of 5000: the quick brown fox jumps over the dog\n' "$line"
done
