"""What functions return, as results of the protocol."""

import base64
import dataclasses
import datetime
import enum
import json
import unittest
from typing import NamedTuple

from mcp_bash import Audio, Embedded, Image, Link, Result, Text, ToolError, assistant, user
from mcp_bash.encoding import NotJson
from mcp_bash.failures import tool_failure
from mcp_bash.rendering import ResultForm, render_prompt, render_resource, render_tool

PNG = b"\x89PNG\r\n\x1a\n...."
PNG_TEXT = base64.b64encode(PNG).decode()
WAV = b"RIFF\0\0\0\0WAVEfmt "


@dataclasses.dataclass
class Row:
    name: str
    when: datetime.date


class Point(NamedTuple):
    x: int
    y: int


class Color(enum.Enum):
    RED = "red"


def shown(value, **form):
    return json.loads(render_tool(value, ResultForm(**form)))


def text(words):
    return {"content": [{"type": "text", "text": words}]}


class ToolResults(unittest.TestCase):
    maxDiff = None

    def test_plain_values(self):
        for value, expected in [
            ("hi", text("hi")),
            ("", text("")),
            (3, text("3")),
            (1.5, text("1.5")),
            (True, text("true")),
            (None, {"content": []}),
            ([1, "a"], text('[1,"a"]')),
            ({"a": 1}, {**text('{"a":1}'), "structuredContent": {"a": 1}}),
            (Row("x", datetime.date(2026, 1, 2)), {**text('{"name":"x","when":"2026-01-02"}'),
                                                  "structuredContent": {"name": "x", "when": "2026-01-02"}}),
            (Color.RED, text('"red"')),
            ({1, }, text("[1]")),
            ("\ud800", None),
        ]:  # fmt: skip
            with self.subTest(value=value):
                if expected is None:
                    self.assertIn('"text":"', render_tool(value, ResultForm()))
                else:
                    self.assertEqual(shown(value), expected)

    def test_values_of_a_declared_type(self):
        self.assertEqual(shown(3, has_schema=True, wraps=True), {**text("3"), "structuredContent": {"result": 3}})
        self.assertEqual(shown("a", has_schema=True, wraps=True), {**text("a"), "structuredContent": {"result": "a"}})
        self.assertEqual(shown(None, has_schema=True, wraps=True), {**text("null"), "structuredContent": {"result": None}})
        self.assertEqual(shown([1], has_schema=True, wraps=True), {**text("[1]"), "structuredContent": {"result": [1]}})
        points = shown([Point(1, 2)], has_schema=True, wraps=True, names_tuples=True)
        self.assertEqual(points["structuredContent"], {"result": [{"x": 1, "y": 2}]})

    def test_content(self):
        image = {"type": "image", "data": PNG_TEXT, "mimeType": "image/png"}
        self.assertEqual(shown(Image(PNG)), {"content": [image]})
        self.assertEqual(shown(PNG), {"content": [image]})
        self.assertEqual(shown(["look", Image(PNG), {"a": 1}])["content"][1:], [image, {"type": "text", "text": '{"a":1}'}])
        self.assertEqual(shown(Audio(WAV))["content"][0]["mimeType"], "audio/wav")
        self.assertEqual(shown(b"words"), text("words"))
        self.assertEqual(shown(b"\0\xff")["content"][0]["resource"]["mimeType"], "application/octet-stream")
        self.assertEqual(
            shown(Embedded("file:///a.md", "# A"))["content"],
            [{"type": "resource", "resource": {"uri": "file:///a.md", "mimeType": "text/markdown", "text": "# A"}}],
        )
        self.assertEqual(
            shown(Link("file:///a/b.txt", description="B"))["content"],
            [{"type": "resource_link", "uri": "file:///a/b.txt", "name": "b.txt", "description": "B", "mimeType": "text/plain"}],
        )
        self.assertEqual(
            shown(Text("x", audience=["user"], priority=1, meta={"a": 1}))["content"],
            [{"type": "text", "text": "x", "annotations": {"audience": ["user"], "priority": 1}, "_meta": {"a": 1}}],
        )
        with self.assertRaises(ValueError):
            Image(b"what")
        with self.assertRaises(TypeError):
            Image()

    def test_whole_results(self):
        whole = Result(["a", Image(PNG)], structured={"n": 1}, is_error=True, meta={"k": 2})
        got = shown(whole)
        self.assertEqual(len(got["content"]), 2)
        self.assertEqual((got["structuredContent"], got["isError"], got["_meta"]), ({"n": 1}, True, {"k": 2}))
        self.assertEqual(shown(Result(structured={"n": 1})), {**text('{"n":1}'), "structuredContent": {"n": 1}})
        self.assertEqual(shown(Result()), {"content": []})

    def test_what_others_make_is_recognised_by_what_it_can_do(self):
        class Picture:
            mode = "RGB"

            def save(self, file, format):
                file.write(PNG)

        Picture.__module__ = "PIL.Image"
        self.assertEqual(shown(Picture())["content"][0]["data"], PNG_TEXT)
        self.assertEqual(len(shown(["a", Picture()])["content"]), 2)

        class Polars:
            columns = ["a"]

            def to_dicts(self):
                return [{"a": 1}]

        class Pandas:
            columns = index = ["a"]

            def to_json(self, orient, date_format):
                return '[{"a":null}]'

        self.assertEqual(shown(Polars()), {**text('[{"a":1}]'), "structuredContent": {"result": [{"a": 1}]}})
        self.assertEqual(shown(Pandas())["structuredContent"], {"result": [{"a": None}]})

        class Number:
            def tolist(self):
                return 7

        Number.__module__ = "numpy"
        import sys

        sys.modules.setdefault("numpy", sys)
        try:
            self.assertEqual(shown({"n": Number()})["structuredContent"], {"n": 7})
        finally:
            if sys.modules["numpy"] is sys:
                del sys.modules["numpy"]

    def test_what_is_no_json_is_named_with_its_place(self):
        loop = []
        loop.append(loop)
        deep = []
        for _ in range(100000):
            deep = [deep]
        for value, words in [
            ({"a": [1, float("nan")]}, "the result at a[1] is nan, which JSON cannot express"),
            ({"a": float("inf")}, "the result at a is inf"),
            ({b"k": 1}, "the result has a key of type bytes; keys must be texts"),
            ({"x": loop}, "the result at x[0] holds itself"),
            ({"x": object()}, "the result at x is of type object, which JSON cannot express"),
            ([deep], "nested too deeply"),
            ((number for number in [1]), "of type generator"),
        ]:
            with self.subTest(words=words), self.assertRaises(NotJson) as raised:
                render_tool(value, ResultForm())
            self.assertIn(words, str(raised.exception))


class Failures(unittest.TestCase):
    def test_errors_for_models_and_programs(self):
        error = ToolError("There is no user 7", type="not_found", hint="list_users knows them", id=7)
        got = json.loads(tool_failure(error, None, False))
        self.assertEqual(got["content"][0]["text"], "There is no user 7. Hint: list_users knows them")
        self.assertTrue(got["isError"])
        described = {"type": "not_found", "message": "There is no user 7", "hint": "list_users knows them", "data": {"id": 7}}
        self.assertEqual(got["structuredContent"], {"success": False, "error": described})
        held = json.loads(tool_failure(error, None, True))
        self.assertNotIn("structuredContent", held)
        self.assertEqual(held["_meta"], {"mcpbash/error": described})

    def test_details_that_are_no_json(self):
        got = json.loads(tool_failure(ToolError("x", a=object()), None, False))
        self.assertTrue(got["content"][0]["text"].startswith("x (its details:"))


class OtherResults(unittest.TestCase):
    def test_resources(self):
        def held(value, mime=None):
            return json.loads(render_resource(value, "x://y", mime))["contents"]

        self.assertEqual(held("a"), [{"uri": "x://y", "mimeType": "text/plain", "text": "a"}])
        self.assertEqual(held({"a": 1}), [{"uri": "x://y", "mimeType": "application/json", "text": '{"a":1}'}])
        self.assertEqual(held(PNG), [{"uri": "x://y", "mimeType": "image/png", "blob": PNG_TEXT}])
        self.assertEqual(held(b"a", "text/csv"), [{"uri": "x://y", "mimeType": "text/csv", "text": "a"}])
        self.assertEqual([one["uri"] for one in held([Embedded("a:b", "1"), Embedded("a:c", "2")])], ["a:b", "a:c"])

    def test_prompts(self):
        def said(value):
            messages = json.loads(render_prompt(value, ""))["messages"]
            return [(one["role"], one["content"].get("text")) for one in messages]

        self.assertEqual(said("a"), [("user", "a")])
        self.assertEqual(said(["a", assistant("b"), user("c")]), [("user", "a"), ("assistant", "b"), ("user", "c")])
        self.assertEqual(said([{"role": "assistant", "content": "x"}]), [("assistant", "x")])
        self.assertEqual(json.loads(render_prompt("a", "words"))["description"], "words")


if __name__ == "__main__":
    unittest.main()
