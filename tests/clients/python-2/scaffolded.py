"""A session with version 2 of the official Python library on a project that was scaffolded: every kind, every language.

The library checks structured results against the output schemas of their tools by itself.
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.types import PromptReference


def check(what, seen, wanted):
    if seen != wanted:
        sys.exit(f"WRONG: {what}; saw {seen!r}, wanted {wanted!r}")
    print(f"ok: {what}")


async def converse(command):
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        languages = ["bash", "node", "python"]
        tools = {tool.name for tool in (await client.list_tools()).tools}
        scripts = [f"{kind}-{language}" for kind in ("tool", "provider") for language in languages]
        scripts += ["script-node", "script-python"]
        check("all tools are listed", tools, {"hello", "program", *scripts})
        for name in ["hello", *scripts]:
            result = await client.call_tool(name, {"name": "Zoë"})
            content = result.structured_content or {"message": result.content[0].text}
            greeting = content.get("result", content)
            # What a function returns is the result itself.
            check(f"{name} greets", greeting if isinstance(greeting, str) else greeting["message"], "Hello, Zoë!")
        result = await client.call_tool("program", {"words": ["one word", "$HOME"]})
        check("a program is run", result.content[0].text, "one word $HOME")

        prompts = sorted(prompt.name for prompt in (await client.list_prompts()).prompts)
        check("all prompts are listed, and no README", prompts, [f"prompt.{language}" for language in languages])
        for prompt in prompts:
            text = (await client.get_prompt(prompt, {"subject": "a test"})).messages[0].content.text
            check(f"{prompt} is filled", "Subject: a test\n" in text, True)
            reference = PromptReference(type="ref/prompt", name=prompt)
            answer = await client.complete(reference, {"name": "subject", "value": "g"})
            check(f"{prompt} is completed", answer.completion.values, ["gamma"])

        resources = (await client.list_resources()).resources
        check("the resource is listed, and no README", [one.name for one in resources], ["resource.manual"])
        contents = (await client.read_resource(resources[0].uri)).contents
        check("the resource is read", contents[0].text.startswith("What clients read"), True)


asyncio.run(converse(sys.argv[1:]))
