"""A session with version 1 of the official Python library, which knows the handshake only."""

import sys
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

sys.path.insert(0, str(Path(__file__).parent.parent))
from conversation import GaveUp, Refused, Result, run

TIMED_OUT = 408


class Python1:
    def __init__(self, command, heard):
        self.parameters = StdioServerParameters(command=command[0], args=command[1:])
        self.heard = heard
        self.stack = AsyncExitStack()

    async def __aenter__(self):
        streams = await self.stack.enter_async_context(stdio_client(self.parameters))
        session = ClientSession(*streams, logging_callback=self.heard.log, message_handler=self.heard.message)
        self.session = await self.stack.enter_async_context(session)
        self.greeting = await self.session.initialize()
        return self

    async def __aexit__(self, *error):
        return await self.stack.__aexit__(*error)

    def version(self):
        return self.greeting.protocolVersion

    def server(self):
        return self.greeting.serverInfo.model_dump(by_alias=True)

    def instructions(self):
        return self.greeting.instructions

    async def ping(self):
        await self.session.send_ping()

    async def log_at(self, level):
        await self.session.set_logging_level(level)

    async def tools(self):
        return {tool.name: tool.inputSchema for tool in (await self.session.list_tools()).tools}

    async def prompts(self):
        prompts = (await self.session.list_prompts()).prompts
        return {prompt.name: [argument.name for argument in prompt.arguments] for prompt in prompts}

    async def prompt(self, name, arguments):
        try:
            return (await self.session.get_prompt(name, arguments)).messages[0].content.text
        except McpError as error:
            raise Refused(error.error.code) from error

    async def complete(self, prompt, argument, value):
        reference = types.PromptReference(type="ref/prompt", name=prompt)
        return (await self.session.complete(reference, {"name": argument, "value": value})).completion.values

    async def call(self, name, arguments, on_progress=None, timeout=30):
        async def progressed(progress, total, message):
            on_progress(progress)

        # The library does not tell which id it gives a request, and has no other way to cancel one.
        request = self.session._request_id
        try:
            result = await self.session.call_tool(
                name, arguments, timedelta(seconds=timeout), progressed if on_progress else None
            )
        except McpError as error:
            if error.error.code != TIMED_OUT:
                raise Refused(error.error.code) from error
            cancelled = types.CancelledNotification(params=types.CancelledNotificationParams(requestId=request))
            await self.session.send_notification(types.ClientNotification(cancelled))
            raise GaveUp from error
        return Result(result.content[0].text, result.isError)


run(Python1, version="2025-11-25")
