"""The names of FastMCP on the call, in the decorators and on contents, in plain and in async functions."""

import json
import unittest
from types import SimpleNamespace

from host import WorkerTest
from mcp_bash import Audio, Image
from mcp_bash.declaring import declared, tool

PNG = b"\x89PNG\r\n\x1a\n"


class Media(unittest.TestCase):
    def test_formats(self):
        self.assertEqual(Image(data=b"x", format="png").mime, "image/png")
        self.assertEqual(Image(b"x", format="JPG").mime, "image/jpeg")
        self.assertEqual(Image(b"x", format="svg").mime, "image/svg+xml")
        self.assertEqual(Image(b"x", format="image/tiff").mime, "image/tiff")
        self.assertEqual(Audio(data=b"x", format="mp3").mime, "audio/mpeg")

    def test_a_format_and_a_type_contradict(self):
        with self.assertRaisesRegex(TypeError, "mime= or format=, not both"):
            Image(PNG, "image/png", format="png")
        with self.assertRaisesRegex(TypeError, "either bytes or the path"):
            Image(format="png")


class Options(unittest.TestCase):
    def options(self, **given):
        tool(**given)(len)
        return declared.pop().options

    def test_annotations_of_other_packages(self):
        model = SimpleNamespace(model_dump=lambda **_: {"readOnlyHint": True})
        for given in (
            {"readOnlyHint": True},
            {"read_only_hint": True, "title": None},
            SimpleNamespace(readOnlyHint=True, destructiveHint=None),
            model,
        ):
            self.assertEqual(self.options(annotations=given)["annotations"], {"readOnlyHint": True})
        self.assertEqual(self.options(annotations=model, read_only=False)["annotations"], {"readOnlyHint": False})

    def test_tags_are_in_the_meta(self):
        self.assertEqual(self.options(tags={"b", "a"}, meta={"x": 1})["_meta"], {"x": 1, "mcpbash/tags": ["a", "b"]})

    def test_mistakes(self):
        with self.assertRaisesRegex(TypeError, "annotations=….* takes a dict .*, not int"):
            tool(annotations=5)
        with self.assertRaisesRegex(TypeError, "tags={'a'}"):
            tool(tags="a")


CALLS = '''
from mcp_bash import Context, resource, tool

@resource("shop://{id}")
def product(id: int) -> dict:
    return {"id": id}

@resource("shop://logo")
async def logo() -> bytes:
    return b"\\x89PNG\\r\\n\\x1a\\n"

@tool
async def awaited(ctx: Context) -> str:
    await ctx.report_progress(1, 2, "half")
    await ctx.info("hello", extra={"n": 1})
    await ctx.log("debug", "x")
    name = await ctx.elicit("Name?", response_type=str)
    size = await ctx.elicit("Size?", ["s", "l"])
    said = await ctx.sample("Hi", system_prompt="short", model_preferences="m")
    read = await ctx.read_resource("shop://7")
    logo = (await ctx.read_resource("shop://logo")).contents[0]
    return f"{name.action} {name.data} {size.data} {said.text} {read[0].content} {logo.mime_type}"

@tool
def plain(ctx: Context) -> str:
    ctx.report_progress(1, 2)
    ctx.warning("careful", logger_name="shop")
    result = ctx.elicit("Name?", str)
    return f"{result.action} {result.data} {ctx.sample('Hi')} {ctx.read_resource('shop://7')[0].content}"

@tool
async def forgets(ctx: Context, what: str) -> str:
    if what == "elicit":
        return ctx.elicit("Name?").action
    if what == "sample":
        return f"{ctx.sample('Hi')}"
    return str([*ctx.read_resource("shop://logo")])

@tool
def reads(ctx: Context, uri: str) -> str:
    return ctx.read_resource(uri)[0].content

@tool
async def matches(ctx: Context) -> str:
    from mcp_bash.fastmcp import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
    result = await ctx.elicit("Sure?", None)
    return next(kind.__name__ for kind in (AcceptedElicitation, CancelledElicitation, DeclinedElicitation) if isinstance(result, kind))
'''
ASKS = {"ask": True, "elicit": True, "progress": True}


class OnTheCall(WorkerTest):
    def answered(self, worker, number, answers):
        """Answers the questions of a call in their order. Returns its text and the questions."""
        asked, said = [], []
        while True:
            frame = worker.read()
            if "ask" in frame:
                asked.append(frame)
                worker.send(call=number, answer=frame["ask"], result=answers[len(asked) - 1])
            elif "result" in frame:
                return frame["result"]["content"][0]["text"], asked, said
            else:
                said.append((frame["method"].rpartition("/")[2], frame["params"]))

    def test_async_functions_await(self):
        worker = self.served(CALLS)
        number = worker.begin("tool", "awaited", **ASKS)
        answers = [
            {"action": "accept", "content": {"value": "Ada"}},
            {"action": "accept", "content": {"choice": "l"}},
            {"role": "assistant", "model": "m", "content": {"type": "text", "text": "Hello"}},
        ]
        text, asked, said = self.answered(worker, number, answers)
        self.assertEqual(text, 'accept Ada l Hello {"id":7} image/png')
        self.assertEqual(asked[1]["params"]["requestedSchema"]["properties"]["choice"], {"type": "string", "enum": ["s", "l"]})
        self.assertEqual(asked[2]["params"]["systemPrompt"], "short")
        self.assertEqual(asked[2]["params"]["modelPreferences"], {"hints": [{"name": "m"}]})
        self.assertEqual(said[0], ("progress", {"progress": 1, "total": 2, "message": "half"}))
        self.assertEqual(said[1], ("message", {"level": "info", "data": {"message": "hello", "n": 1}, "logger": "awaited"}))

    def test_plain_functions_wait(self):
        worker = self.served(CALLS)
        number = worker.begin("tool", "plain", **ASKS)
        answers = [{"action": "decline"}, {"content": {"type": "text", "text": "Hello"}}]
        text, _, said = self.answered(worker, number, answers)
        self.assertEqual(text, 'decline None Hello {"id":7}')
        self.assertEqual(said[1], ("message", {"level": "warning", "data": "careful", "logger": "shop"}))

    def test_a_forgotten_await_is_named(self):
        worker = self.served(CALLS)
        for what in ("elicit", "sample", "read"):
            result = worker.call("forgets", {"what": what}, **ASKS)
            self.assertTrue(result["isError"])
            self.assertIn("await ctx.%s" % what, result["content"][0]["text"])

    def test_answers_are_of_classes(self):
        worker = self.served(CALLS)
        for action, name in (("accept", "Accepted"), ("cancel", "Cancelled"), ("decline", "Declined")):
            number = worker.begin("tool", "matches", **ASKS)
            text, _, _ = self.answered(worker, number, [{"action": action, "content": {}}])
            self.assertEqual(text, name + "Elicitation")

    def test_a_client_that_cannot_ask(self):
        worker = self.served(CALLS)
        self.assertIn("cannot be asked", worker.call("plain")["content"][0]["text"])

    def test_resources_that_cannot_be_read(self):
        worker = self.served(CALLS)
        for uri, words in (
            ("other://x", "There is no resource other://x in this file; it has: shop://{id}, shop://logo"),
            ("shop://logo", "an async function can read it"),
            ("shop://seven", "is not an integer"),
        ):
            result = worker.call("reads", {"uri": uri})
            self.assertTrue(result["isError"])
            self.assertIn(words, result["content"][0]["text"])


FASTMCP = '''
from mcp_bash.fastmcp import Context, FastMCP, Image, Message, ToolResult

mcp = FastMCP("Shop", instructions="Prices are in euros.")

@mcp.tool
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b

@mcp.tool("other", tags={"x"}, annotations={"readOnlyHint": True}, output_schema=None)
async def named(ctx: Context["Session", None]) -> int:
    await ctx.info("hi")
    return 1

@mcp.tool()
def whole() -> ToolResult:
    return ToolResult("text", {"a": 1})

@mcp.resource("shop://{id}", mime_type="text/plain")
def product(id: str) -> str:
    return id

@mcp.prompt()
def recommend(taste: str) -> list:
    return [Message("I like " + taste), Message("Well", role="assistant")]

if __name__ == "__main__":
    mcp.run()
mcp.run(transport="stdio")
'''


class Server(WorkerTest):
    def test_a_file_with_a_server_object(self):
        worker = self.served(FASTMCP)
        ready = worker.ready["ready"]
        self.assertEqual([one["name"] for one in ready["tools"]], ["add", "other", "whole"])
        self.assertEqual(ready["instructions"], "Prices are in euros.")
        self.assertEqual(ready["tools"][1]["_meta"], {"mcpbash/tags": ["x"]})
        self.assertNotIn("outputSchema", ready["tools"][1])
        self.assertEqual(worker.call("add", {"a": 1, "b": 2})["structuredContent"], {"result": 3})
        self.assert_text(worker.call("other"), "1")
        self.assertEqual(worker.call("whole")["structuredContent"], {"a": 1})
        number = worker.begin("prompt", "recommend", {"taste": "tea"})
        self.assertEqual([one["role"] for one in worker.wait(number)["result"]["messages"]], ["user", "assistant"])

    def test_a_tool_can_be_a_task(self):
        code = (
            "from mcp_bash.fastmcp import FastMCP\nmcp = FastMCP('x')\n"
            "@mcp.tool(task=%s)\ndef f() -> str:\n    'F.'\n    return 'x'\n"
        )
        for task, support in (("True", "optional"), ("False", "forbidden")):
            ready = self.host(code % task).ready
            self.assertIn('"taskSupport": "%s"' % support, json.dumps(ready))

    def test_what_has_no_counterpart_is_named(self):
        for line, words in (
            ('FastMCP("x", auth=object())', "FastMCP(auth=…) is not an option here: callers are identified by the server"),
            ('FastMCP("x", port=80)', "serve --http"),
            ('FastMCP("x").mount(1)', "no counterpart of `FastMCP.mount`"),
            ("FastMCP.from_openapi({})", "no counterpart of `FastMCP.from_openapi`"),
            ("from mcp_bash.fastmcp import Depends", "mcp_bash.fastmcp has no counterpart of `Depends`"),
            ('FastMCP("x", version="2")', "write it into server.d/server.meta.json"),
            ('FastMCP("x").tool(version="2")(len)', "@mcp.tool(version=…) is not an option here: write another function"),
            ('FastMCP("x").tool(task=object())(len)', "@mcp.tool(task=…) is not an option here: write task=True"),
            ('FastMCP("x").tool(nonsense=1)(len)', "it has no counterpart"),
        ):
            failed = self.host("from mcp_bash.fastmcp import FastMCP\n%s\n" % line).ready["failed"]["message"]
            self.assertIn(words, failed)
            self.assertIn("docs/from-fastmcp.md", failed)
            self.assertIn("file.py:2", failed)


if __name__ == "__main__":
    unittest.main()
