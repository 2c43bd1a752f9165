"""Version 2 of the official Python library, in any of its modes."""

import asyncio
import ssl
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    LOG_LEVEL_META_KEY,
    REQUEST_TIMEOUT,
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    Root,
    TextContent,
)

sys.path.insert(0, str(Path(__file__).parent.parent))
from conversation import Command, GaveUp, Refused, Result


class Python2:
    mode = "auto"

    def __init__(self, way, heard, answers):
        self.heard, self.answers = heard, answers
        self.client = Client(
            self.transport(way),
            mode=self.mode,
            logging_callback=heard.log,
            message_handler=heard.message,
            elicitation_callback=self.elicit if answers.can_ask else None,
            sampling_callback=self.sample,
            list_roots_callback=self.roots,
        )
        self.stack = AsyncExitStack()
        self.meta = None

    def transport(self, way):
        if isinstance(way, Command):
            return StdioServerParameters(command=way.words[0], args=way.words[1:])
        return streamable_http_client(way.url, http_client=http_client(way))

    async def elicit(self, context, params):
        action, content = self.answers.form(params.message)
        return ElicitResult(action=action, content=content)

    async def sample(self, context, params):
        reply = TextContent(type="text", text=self.answers.sample(params.messages[0].content.text))
        return CreateMessageResult(role="assistant", content=reply, model="none")

    async def roots(self, context):
        return ListRootsResult(roots=[Root(uri=self.answers.root())])

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
        text = "".join(content.text for content in result.content)
        return Result(text, result.is_error, result.structured_content)

    async def resources(self):
        return {one.uri: one.description for one in (await self.client.list_resources()).resources}

    async def templates(self):
        return [one.uri_template for one in (await self.client.list_resource_templates()).resource_templates]

    async def read(self, uri):
        try:
            return (await self.client.read_resource(uri)).contents[0].text
        except MCPError as error:
            raise Refused(error.code) from error

    @asynccontextmanager
    async def following(self, uri):
        """Wants to be told of a resource, and of changes of the list of tools."""
        if self.mode == "legacy":
            await self.client.subscribe_resource(uri)
            yield
            await self.client.unsubscribe_resource(uri)
            return
        async with self.client.listen(tools_list_changed=True, resource_subscriptions=[uri]) as changes:
            listening = asyncio.create_task(self.heard.listen(changes))
            yield
            listening.cancel()


def http_client(address):
    verify = ssl.create_default_context(cafile=address.authority) if address.authority else True
    timeout = httpx2.Timeout(30, read=300)
    return httpx2.AsyncClient(headers=address.headers, verify=verify, timeout=timeout, auth=address.login)
