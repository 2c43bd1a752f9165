#!/usr/bin/env bash
# mcp: {"name": "failing", "description": "Fails as a program does when the disk is full.", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
echo "no space left on the test disk" >&2
exit 3
