#!/usr/bin/env python3
import json
import os

message = {"level": "info", "logger": "test", "data": "Only for those who ask"}
# Not set where nobody would hear it.
if stream := os.environ.get("MCP_LOG_STREAM"):
    with open(stream, "ab", buffering=0) as pipe:
        pipe.write(json.dumps({"method": "notifications/message", "params": message}).encode() + b"\n")
print("Logging tool executed")
