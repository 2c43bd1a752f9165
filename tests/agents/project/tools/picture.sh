#!/usr/bin/env bash
# mcp: {"name": "picture", "description": "Shows the picture of a flag.", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
printf '{"content":[{"type":"text","text":"A flag with three stripes"},{"type":"image","mimeType":"image/png","data":"%s"}]}\n' \
	"$(base64 <flag.png | tr -d '\n')"
