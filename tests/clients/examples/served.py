"""An example project, copied, served, and talked to with the official library."""

import json
import shutil
from contextlib import AsyncExitStack

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import REQUEST_TIMEOUT, CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

# What must come is waited for so long, in seconds. It only keeps a session from waiting for ever.
PATIENCE = 60


class Served:
    """A client of one example. The folder is the only root; questions are answered by `answers`, in order."""

    def __init__(self, server, folder, mode, environment=None, root=None):
        self.folder, self.root = folder, root or folder
        self.answers, self.asked, self.updates = [], [], []
        parameters = StdioServerParameters(
            command=server, args=["--project-root", str(folder)], env=environment, cwd="/"
        )
        self.client = Client(
            parameters,
            mode=mode,
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
            list_roots_callback=self.roots,
            message_handler=self.hear,
        )
        self.stack = AsyncExitStack()

    async def __aenter__(self):
        await self.stack.enter_async_context(self.client)
        return self

    async def __aexit__(self, *error):
        return await self.stack.__aexit__(*error)

    async def elicit(self, context, params):
        self.asked.append(params.message)
        if self.answers:
            action, content = self.answers.pop(0)
            return ElicitResult(action=action, content=content)
        return ElicitResult(action="accept", content=filled_in(params.requested_schema))

    async def sample(self, context, params):
        self.asked.append(params.messages[0].content.text)
        reply = TextContent(type="text", text="In short.")
        return CreateMessageResult(role="assistant", content=reply, model="none")

    async def roots(self, context):
        return ListRootsResult(roots=[Root(uri=self.root.as_uri())])

    async def hear(self, message):
        if getattr(message, "method", None) == "notifications/resources/updated":
            self.updates.append(message.params.uri)

    async def tools(self):
        return {tool.name: tool for tool in (await self.client.list_tools()).tools}

    async def prompts(self):
        return {prompt.name: prompt for prompt in (await self.client.list_prompts()).prompts}

    async def call(self, name, /, on_progress=None, timeout=PATIENCE, **arguments):
        """The whole result; an error of the protocol as its code, a client that gave up as None."""

        async def progressed(progress, total, message):
            on_progress((progress, message))

        try:
            return await self.client.call_tool(name, arguments, timeout, progressed if on_progress else None)
        except MCPError as error:
            return None if error.code == REQUEST_TIMEOUT else error.code

    async def structured(self, name, /, **arguments):
        """What a call that succeeds returns as data."""
        result = await self.call(name, **arguments)
        if isinstance(result, int) or result is None or result.is_error:
            return result
        return result.structured_content

    async def text(self, name, /, **arguments):
        """What a call says in words, whether it succeeds or not."""
        result = await self.call(name, **arguments)
        return result if isinstance(result, int) or result is None else result.content[0].text

    async def read(self, uri):
        try:
            return (await self.client.read_resource(uri)).contents[0].text
        except MCPError as error:
            return error.code

    async def prompt(self, name, /, **arguments):
        """The texts of all messages, also of files that are embedded."""
        try:
            messages = (await self.client.get_prompt(name, arguments)).messages
        except MCPError as error:
            return error.code
        contents = [message.content for message in messages]
        return [content.resource.text if content.type == "resource" else content.text for content in contents]

    async def complete(self, reference, argument, value, /, **known):
        answer = await self.client.complete(reference, {"name": argument, "value": value}, known)
        return answer.completion.values


def filled_in(schema):
    """An answer that fits a form."""
    examples = {"boolean": True, "integer": 1, "number": 1, "string": "Ada"}
    answer = {}
    for name, field in json.loads(json.dumps(schema))["properties"].items():
        choices = field.get("enum") or [choice["const"] for choice in field.get("oneOf", [])]
        answer[name] = choices[0] if choices else examples[field["type"]]
    return answer


def copy_of(examples, scratch):
    """The examples as a checkout has them: inside of a git repository, and writable by nobody else."""
    shutil.copytree(examples, scratch, ignore=shutil.ignore_patterns("target", ".registry", "__pycache__"))
    for path in [scratch, *scratch.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o022)
    (scratch / ".git").write_text(f"gitdir: {scratch}/git-guide/tests/sample.git\n")
    return scratch
