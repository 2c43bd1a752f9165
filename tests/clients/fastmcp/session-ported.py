"""A server of FastMCP and its ports, from the page that says how to port one: the official client receives the same from
all of them."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult

PAGE = Path(os.environ["EXAMPLES"]).parent / "docs" / "from-fastmcp.md"
IMPORTS = re.compile(r"^from fastmcp.*\n(?:from fastmcp.*\n)*", re.MULTILINE)


def block(page, name):
    return re.search(r"^```python %s\n(.*?)^```$" % re.escape(name), page, re.MULTILINE | re.DOTALL).group(1)


def plain(model):
    return model.model_dump(by_alias=True, exclude_none=True, mode="json")


class Conversation:
    """Everything that the client does, and what it receives."""

    def __init__(self, command, arguments):
        self.progress, self.logs, self.asked = [], [], []
        self.answers = [("accept", {"street": "Main St", "express": True}), ("decline", None), ("cancel", None)]
        # Only a session has state.
        self.client = Client(
            StdioServerParameters(command=command, args=arguments),
            mode="legacy",
            logging_callback=self.log,
            elicitation_callback=self.elicit,
        )

    async def log(self, params):
        data = params.data
        self.logs.append((params.level, data.get("msg", data) if isinstance(data, dict) else data))

    async def elicit(self, context, params):
        fields = params.requested_schema["properties"]
        self.asked.append((params.message, {name: field["type"] for name, field in fields.items()}))
        action, content = self.answers.pop(0)
        return ElicitResult(action=action, content=content)

    async def on_progress(self, progress, total, message):
        self.progress.append((progress, total, message))

    async def call(self, name, **arguments):
        result = plain(await self.client.call_tool(name, arguments, progress_callback=self.on_progress))
        return {key: result.get(key) for key in ("content", "structuredContent")} | {"isError": bool(result.get("isError"))}

    async def refused(self, awaitable):
        try:
            result = await awaitable
            return bool(getattr(result, "is_error", False))
        except MCPError:
            return True

    async def hold(self):
        async with self.client as client:
            tools = (await client.list_tools()).tools
            return {
                "instructions": client.instructions,
                "tools": [describe(tool) for tool in sorted(tools, key=lambda tool: tool.name)],
                "resources": [(one.uri, one.name, one.description, one.mime_type) for one in (await client.list_resources()).resources],
                "templates": [
                    (one.uri_template, one.name, one.description, one.mime_type)
                    for one in (await client.list_resource_templates()).resource_templates
                ],
                "prompts": [
                    (one.name, one.description, [(argument.name, bool(argument.required)) for argument in one.arguments])
                    for one in (await client.list_prompts()).prompts
                ],
                "price": await self.call("price", drink="tea", count=2),
                "default": await self.call("price", drink="coffee"),
                "find": await self.call("find", drink="tea"),
                "not found": "There is no water" in str(await self.call("find", drink="water")),
                "wrong choice": await self.refused(client.call_tool("price", {"drink": "water"})),
                "wrong type": await self.refused(client.call_tool("price", {"drink": "tea", "count": "many"})),
                "missing": await self.refused(client.call_tool("price", {})),
                "unknown tool": await self.refused(client.call_tool("nothing", {})),
                "roast": await self.call("roast", kilos=3),
                "deliveries": [await self.call("deliver", drink=drink) for drink in ("tea", "coffee", "cocoa")],
                "baskets": [await self.call("basket", add=drink) for drink in ("tea", "coffee", "tea")],
                "label": await self.call("label"),
                "hours": plain(await client.read_resource("shop://hours"))["contents"],
                "price of tea": plain(await client.read_resource("shop://prices/tea"))["contents"],
                "no such resource": await self.refused(client.read_resource("shop://nothing/at/all")),
                "recommend": plain(await client.get_prompt("recommend", {"taste": "tea"}))["messages"],
                "recommend two": plain(await client.get_prompt("recommend", {"taste": "tea", "count": "2"}))["messages"],
                "no taste": await self.refused(client.get_prompt("recommend", {})),
                "progress": self.progress,
                "logs": [one for one in self.logs if one[0] == "info"],
                "asked": self.asked,
            }


def describe(tool):
    """What both say of a tool: titles and the like are their own."""
    schema = tool.input_schema
    arguments = {name: (field["type"], field.get("enum"), field.get("default")) for name, field in schema["properties"].items()}
    annotations = plain(tool.annotations) if tool.annotations else {}
    output = tool.output_schema and sorted(tool.output_schema.get("properties", {}))
    return tool.name, tool.description, arguments, schema.get("required", []), annotations.get("readOnlyHint"), output


def main():
    server = sys.argv[1]
    page = PAGE.read_text()
    original, native = block(page, "server.py"), block(page, "tools/shop.py")
    shown = re.search(r"^ *(from mcp_bash\.fastmcp import .*)$", page, re.MULTILINE).group(1)
    changed = IMPORTS.sub(shown + "\n", original)
    assert "from fastmcp" not in changed and changed.count("mcp_bash") == 1
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "server.py").write_text(original)
        received = {"FastMCP": asyncio.run(Conversation(sys.executable, [str(root / "server.py")]).hold())}
        for name, text in (("changed import", changed), ("own form", native)):
            tools = root / name.replace(" ", "-") / "tools"
            tools.mkdir(parents=True)
            (tools / "shop.py").write_text(text)
            # What a file has to say to the model is part of the greeting once it is known.
            arguments = ["--project-root", str(tools.parent)]
            subprocess.run([server, "registry", "refresh", "--quiet", *arguments], check=True, stdout=subprocess.DEVNULL)
            received[name] = asyncio.run(Conversation(server, arguments).hold())
    expected = received.pop("FastMCP")
    assert expected["progress"] and expected["asked"] and expected["not found"], expected
    differences = [
        "%s, %s:\n  FastMCP:  %s\n  mcp-bash: %s" % (port, what, expected[what], got[what])
        for port, got in received.items()
        for what in expected
        if got[what] != expected[what]
    ]
    assert not differences, "\n".join(differences)


main()
