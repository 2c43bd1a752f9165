"""Version 1 of the official Python library, which knows the handshake only."""

import ssl
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import httpx
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, str(Path(__file__).parent.parent))
from conversation import Command, GaveUp, Refused, Result

TIMED_OUT = 408


class Python1:
    def __init__(self, way, heard, answers):
        self.way, self.heard, self.answers = way, heard, answers

    async def __aenter__(self):
        async with AsyncExitStack() as stack:
            streams = await stack.enter_async_context(self.transport(self.way))
            session = ClientSession(
                *streams[:2],
                logging_callback=self.heard.log,
                message_handler=self.heard.message,
                elicitation_callback=self.elicit,
                sampling_callback=self.sample,
                list_roots_callback=self.roots,
            )
            self.session = await stack.enter_async_context(session)
            self.greeting = await self.session.initialize()
            # Where something goes wrong before, all of it is closed here.
            self.stack = stack.pop_all()
        return self

    def transport(self, way):
        if isinstance(way, Command):
            return stdio_client(StdioServerParameters(command=way.words[0], args=way.words[1:]))
        return streamable_http_client(way.url, http_client=http_client(way))

    async def elicit(self, context, params):
        action, content = self.answers.form(params.message)
        return types.ElicitResult(action=action, content=content)

    async def sample(self, context, params):
        reply = types.TextContent(type="text", text=self.answers.sample(params.messages[0].content.text))
        return types.CreateMessageResult(role="assistant", content=reply, model="none")

    async def roots(self, context):
        return types.ListRootsResult(roots=[types.Root(uri=self.answers.root())])

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
        text = "".join(content.text for content in result.content)
        return Result(text, result.isError, result.structuredContent)

    async def resources(self):
        return {str(one.uri): one.description for one in (await self.session.list_resources()).resources}

    async def templates(self):
        return [one.uriTemplate for one in (await self.session.list_resource_templates()).resourceTemplates]

    async def read(self, uri):
        try:
            return (await self.session.read_resource(uri)).contents[0].text
        except McpError as error:
            raise Refused(error.error.code) from error

    @asynccontextmanager
    async def following(self, uri):
        """Wants to be told of a resource. Changes of the lists are told without being asked for."""
        await self.session.subscribe_resource(uri)
        yield
        await self.session.unsubscribe_resource(uri)


def http_client(address):
    verify = ssl.create_default_context(cafile=address.authority) if address.authority else True
    timeout = httpx.Timeout(30, read=300)
    return httpx.AsyncClient(headers=address.headers, verify=verify, timeout=timeout, auth=address.login)
