"""The cost of the pipes themselves: a loop that reads a request and writes the answer, and does nothing
else."""

import json
import os

buffer = b""
while True:
    piece = os.read(0, 65536)
    if not piece:
        break
    buffer += piece
    *lines, buffer = buffer.split(b"\n")
    for line in lines:
        request = json.loads(line)
        if "id" not in request:
            continue
        arguments = request.get("params", {}).get("arguments", {"a": 0, "b": 0})
        total = arguments["a"] + arguments["b"]
        result = {"content": [{"type": "text", "text": str(total)}], "structuredContent": {"result": total}}
        os.write(1, json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}).encode() + b"\n")
