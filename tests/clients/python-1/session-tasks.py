"""Tasks of 2025-11-25 with version 1 of the official Python library, over two connections and a restart of the server."""

import asyncio
import json
import sys
import tempfile
import traceback
import warnings
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import get_default_environment, stdio_client

sys.path.insert(0, str(Path(__file__).parent.parent))
from conversation import PATIENCE, check

# The library warns that its next version has tasks no more.
warnings.simplefilter("ignore")

SERVER = sys.argv[1]

ASKS = """#!/bin/bash
. "$MCP_SDK/tool-sdk.sh"
mcp_progress 50 "Halfway"
mcp_elicit_string "Who?" name | jq -r '"Hello, " + .content.name'
"""
WAITS = "#!/bin/sh\nsleep 600\n"


def write_project(folder):
    for name, script in {"asks": ASKS, "waits": WAITS}.items():
        tool = folder / "tools" / name
        tool.mkdir(parents=True)
        meta = {"name": name, "description": name, "execution": {"taskSupport": "optional"}}
        (tool / "tool.meta.json").write_text(json.dumps(meta))
        (tool / "tool.sh").write_text(script)
        (tool / "tool.sh").chmod(0o755)


async def elicit(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


@asynccontextmanager
async def connected(project, store):
    """A session with a server of its own."""
    environment = get_default_environment() | {"MCPBASH_STORE": str(store)}
    server = StdioServerParameters(command=SERVER, args=["--project-root", str(project)], env=environment)
    async with stdio_client(server) as streams:
        async with ClientSession(*streams, elicitation_callback=elicit) as session:
            greeting = await session.initialize()
            check("the server offers tasks", greeting.capabilities.tasks is not None, greeting.capabilities)
            yield session


async def converse(project, store):
    async with connected(project, store) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        check("a tool says that it can be a task", tools["asks"].execution.taskSupport == "optional", tools["asks"])
        made = await session.experimental.call_tool_as_task("asks", {}, ttl=600_000)
        asks = made.task.taskId
        check("a call becomes a task", made.task.status == "working", made)
        statuses = []
        async for task in session.experimental.poll_task(asks):
            statuses.append(task.status)
            if task.status == "input_required":
                # The question reaches the client while it waits for the result.
                await session.experimental.get_task_result(asks, types.CallToolResult)
        check("it waits for input, and completes", statuses[-2:] == ["input_required", "completed"], statuses)
        result = await session.experimental.get_task_result(asks, types.CallToolResult)
        check("its result has the answer", result.content[0].text == "Hello, Ada", result)

        waits = (await session.experimental.call_tool_as_task("waits", {})).task.taskId
        async with connected(project, store) as other:
            listed = {task.taskId for task in (await other.experimental.list_tasks()).tasks}
            check("another server lists both", listed == {asks, waits}, listed)
            cancelled = await other.experimental.cancel_task(waits)
            check("another server cancels one", cancelled.status == "cancelled", cancelled)
        try:
            await session.experimental.cancel_task(waits)
            check("a task that has ended cannot be cancelled", False)
        except McpError as error:
            check("a task that has ended cannot be cancelled", error.error.code == -32602, error)

    async with connected(project, store) as session:
        result = await session.experimental.get_task_result(asks, types.CallToolResult)
        check("the result outlives the server", result.content[0].text == "Hello, Ada", result)


def run():
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch).resolve() / "project"
        write_project(project)
        try:
            asyncio.run(asyncio.wait_for(converse(project, Path(scratch).resolve() / "tasks"), 4 * PATIENCE))
        except Exception as error:
            traceback.print_exc()
            check("the step after the last one above can be taken", False, error)


run()
