#!/usr/bin/env bash
# mcp: {"name": "text_and_file", "description": "Returns a sentence and the file of a report.", "inputSchema": {"type": "object", "properties": {}}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}
source "$MCP_SDK/tool-sdk.sh"
mcp_result_text_with_resource "The report is ready" --path "$PWD/report.csv" --mime text/csv
