"""A server on FastMCP over HTTP, with one tool that runs a script.

python server.py SCRIPT
"""

import asyncio
import socket
import sys

import uvicorn
from fastmcp import FastMCP

script = sys.argv[1]
server = FastMCP("fastmcp")


@server.tool
async def hi() -> str:
    """Says hi"""
    process = await asyncio.create_subprocess_exec(script, stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    return printed.decode()


listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
print(f"Serving at http://127.0.0.1:{listener.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
app = server.http_app(json_response=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])
