#!/usr/bin/env bash
# Without the SDK it is a line to a pipe, which has no name where nobody would hear.
if [ -n "${MCP_LOG_STREAM-}" ]; then
	message='{"level":"info","logger":"test","data":"Only for those who ask"}'
	printf '{"method":"notifications/message","params":%s}\n' "$message" >>"$MCP_LOG_STREAM"
fi
echo "Logging tool executed"
