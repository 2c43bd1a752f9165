"""FastMCP as it comes: it finds out what the server speaks."""

import asyncio
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import MCPError
from mcp.client.subscriptions import listen
from mcp.types import LOG_LEVEL_META_KEY, REQUEST_TIMEOUT, PromptReference

sys.path.insert(0, str(Path(__file__).parent.parent))
from conversation import Command, GaveUp, Refused, Result


class FastMcp:
    def __init__(self, way, heard, answers):
        self.heard, self.answers = heard, answers
        self.client = Client(
            self.transport(way),
            log_handler=heard.log,
            message_handler=heard.message,
            elicitation_handler=self.elicit,
            sampling_handler=self.sample,
            roots=[answers.root()],
        )
        self.stack = AsyncExitStack()
        self.meta = None

    def transport(self, way):
        if isinstance(way, Command):
            # Left to itself it keeps the server for the next connection.
            return StdioTransport(way.words[0], way.words[1:], keep_alive=False)
        return StreamableHttpTransport(way.url, headers=way.headers, verify=way.authority)

    async def elicit(self, message, response_type, params, context):
        action, content = self.answers.form(message)
        return ElicitResult(action=action, content=content)

    async def sample(self, messages, params, context):
        return self.answers.sample(messages[0].content.text)

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

    async def log_at(self, level):
        self.meta = {LOG_LEVEL_META_KEY: level}

    async def tools(self):
        return {tool.name: tool.input_schema for tool in await self.client.list_tools()}

    async def prompts(self):
        prompts = await self.client.list_prompts()
        return {prompt.name: [argument.name for argument in prompt.arguments] for prompt in prompts}

    async def prompt(self, name, arguments):
        try:
            return (await self.client.get_prompt(name, arguments)).messages[0].content.text
        except MCPError as error:
            raise Refused(error.code) from error

    async def complete(self, prompt, argument, value):
        reference = PromptReference(type="ref/prompt", name=prompt)
        return (await self.client.complete(reference, {"name": argument, "value": value})).values

    async def call(self, name, arguments, on_progress=None, timeout=30):
        async def progressed(progress, total, message):
            on_progress(progress)

        try:
            result = await self.client.call_tool_mcp(
                name, arguments, progressed if on_progress else None, timeout, self.meta
            )
        except MCPError as error:
            raise GaveUp if error.code == REQUEST_TIMEOUT else Refused(error.code) from error
        text = "".join(content.text for content in result.content)
        return Result(text, result.is_error, result.structured_content)

    async def resources(self):
        return {str(one.uri): one.description for one in await self.client.list_resources()}

    async def templates(self):
        return [one.uri_template for one in await self.client.list_resource_templates()]

    async def read(self, uri):
        try:
            return (await self.client.read_resource(uri))[0].text
        except MCPError as error:
            raise Refused(error.code) from error

    @asynccontextmanager
    async def following(self, uri):
        """Wants to be told of a resource, and of changes of the list of tools, for which it has only the library below it."""
        async with listen(self.client.session, tools_list_changed=True, resource_subscriptions=[uri]) as changes:
            listening = asyncio.create_task(self.heard.listen(changes))
            yield
            listening.cancel()
