"""A session of the official client with a packaged server: session.py COMMAND..."""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters

# In seconds. It only keeps a session from waiting for ever.
PATIENCE = 120


FAILED = []


def check(what, is_right, found):
    if not is_right:
        FAILED.append(f"session: not so: {what}. Found: {found}")


async def converse(command):
    # A package may need more variables than the few that the library passes on by itself.
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(server) as client:
        check("the server says its name", client.server_info.name == "packaged", client.server_info)
        tools = sorted(tool.name for tool in (await client.list_tools()).tools)
        check("both tools are listed", tools == ["count", "greet"], tools)

        heard = []

        async def hear(progress, total, message):
            heard.append(message)

        greeting = await client.call_tool("greet", {"name": "Ada"}, progress_callback=hear)
        said = greeting.content[0].text
        check("the bash SDK greets", not greeting.is_error and "Hello, Ada!" in said, said)
        check("progress arrives meanwhile", heard == ["greeting Ada"], heard)
        counted = await client.call_tool("count", {"word": "three"})
        said = counted.content[0].text
        check("a plain script answers", said.strip() == "5 letters", said)
        refused = await client.call_tool("greet", {})
        check("a missing argument is named", refused.is_error and "name" in refused.content[0].text, refused)


asyncio.run(asyncio.wait_for(converse(sys.argv[1:]), PATIENCE))
if FAILED:
    sys.exit("\n".join(FAILED))
