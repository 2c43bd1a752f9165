"""A session of the official client with an image that has no shell: session.py COMMAND..."""

import asyncio
import sys

from mcp import Client, StdioServerParameters


async def converse(command):
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["words"], tools
        counted = await client.call_tool("words", {"text": "one two  three"})
        assert not counted.is_error and counted.content[0].text.strip() == "3", counted
        refused = await client.call_tool("words", {})
        assert refused.is_error and "text" in refused.content[0].text, refused


# The timeout only keeps a session from waiting for ever.
asyncio.run(asyncio.wait_for(converse(sys.argv[1:]), 120))
