"""Version 2 of the official Python library, in any of its modes."""

import sys
from contextlib import AsyncExitStack
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import LOG_LEVEL_META_KEY, REQUEST_TIMEOUT, PromptReference

sys.path.insert(0, str(Path(__file__).parent.parent))
from conversation import GaveUp, Refused, Result


class Python2:
    mode = "auto"

    def __init__(self, command, heard):
        parameters = StdioServerParameters(command=command[0], args=command[1:])
        self.client = Client(
            parameters, mode=self.mode, logging_callback=heard.log, message_handler=heard.message
        )
        self.stack = AsyncExitStack()
        self.meta = None

    async def __aenter__(self):
        await self.stack.enter_async_context(self.client)
        return self

    async def __aexit__(self, *error):
        return await self.stack.__aexit__(*error)

    def version(self):
        return self.client.protocol_version

    def server(self):
        return self.client.server_info.model_dump(by_alias=True)

    def instructions(self):
        return self.client.instructions

    async def ping(self):
        await self.client.send_ping()

    async def log_at(self, level):
        # Without a session to remember the level, every request has to say it.
        if self.mode == "legacy":
            await self.client.set_logging_level(level)
        else:
            self.meta = {LOG_LEVEL_META_KEY: level}

    async def tools(self):
        return {tool.name: tool.input_schema for tool in (await self.client.list_tools()).tools}

    async def prompts(self):
        prompts = (await self.client.list_prompts()).prompts
        return {prompt.name: [argument.name for argument in prompt.arguments] for prompt in prompts}

    async def prompt(self, name, arguments):
        try:
            return (await self.client.get_prompt(name, arguments)).messages[0].content.text
        except MCPError as error:
            raise Refused(error.code) from error

    async def complete(self, prompt, argument, value):
        reference = PromptReference(type="ref/prompt", name=prompt)
        return (await self.client.complete(reference, {"name": argument, "value": value})).completion.values

    async def call(self, name, arguments, on_progress=None, timeout=30):
        async def progressed(progress, total, message):
            on_progress(progress)

        try:
            result = await self.client.call_tool(
                name, arguments, timeout, progressed if on_progress else None, meta=self.meta
            )
        except MCPError as error:
            raise GaveUp if error.code == REQUEST_TIMEOUT else Refused(error.code) from error
        return Result(result.content[0].text, result.is_error)
