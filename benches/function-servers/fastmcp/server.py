"""The measured function, and a script, on FastMCP over stdio.

python server.py SCRIPT
"""

import asyncio
import sys

from fastmcp import FastMCP

script = sys.argv[1]
server = FastMCP("fastmcp")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool
async def hi() -> str:
    """Says hi"""
    process = await asyncio.create_subprocess_exec(script, stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    return printed.decode()


server.run(show_banner=False)
