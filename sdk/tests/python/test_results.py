"""Return values of functions, as results of the protocol."""

import base64
import dataclasses
import datetime
import decimal
import enum
import json
import unittest
from typing import NamedTuple

from mcp_bash import Audio, Embedded, Image, Link, NotFound, Result, Text, ToolError, assistant, user
from mcp_bash.encoding import NotJson
from mcp_bash.failures import is_expected, one_line, request_failure, tool_failure
from mcp_bash.rendering import ResultForm, render_prompt, render_resource, render_tool
from mcp_bash.shapes import Shapes

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


class Index:
    """As in pandas."""

    nlevels = 1
    first = "Rome"

    def __init__(self, name):
        self.name = name


class RangeIndex(Index):
    first = 0


class Frame:
    """A data frame of pandas with one row."""

    columns = ["sum"]

    def __init__(self, index, row=None):
        self.index = index
        self.row = row or {"sum": 3}

    def rename_axis(self, index):
        return Frame(type(self.index)(index[0]))

    def reset_index(self):
        name = self.index.name or "index"
        if name in self.row:
            raise ValueError("cannot insert %s, already exists" % name)
        return Frame(RangeIndex(None), {name: self.index.first, **self.row})

    def to_json(self, orient, date_format):
        return json.dumps([self.row])


class BaseExceptionGroup(Exception):
    """As in Python since 3.11, and in a package for older versions."""

    def __init__(self, words, exceptions):
        super().__init__("%s (%d sub-exceptions)" % (words, len(exceptions)))
        self.exceptions = tuple(exceptions)


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

    def test_decimals_are_written_in_digits(self):
        for written, expected in [("0E-8", "0.00000000"), ("5E-8", "0.00000005"), ("1E+3", "1000"), ("-1.50", "-1.50")]:
            with self.subTest(written=written):
                self.assertEqual(shown([decimal.Decimal(written)]), text('["%s"]' % expected))
                self.assertRegex(expected, Shapes().of(decimal.Decimal).schema["pattern"])

    def test_named_tuples_in_sets(self):
        points = shown({Point(1, 2)}, has_schema=True, wraps=True, names_tuples=True)
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
            columns = ["a"]
            index = RangeIndex(None)

            def to_json(self, orient, date_format):
                return '[{"a":null}]'

        self.assertEqual(shown(Polars()), {**text('[{"a":1}]'), "structuredContent": {"result": [{"a": 1}]}})
        self.assertEqual(shown(Pandas())["structuredContent"], {"result": [{"a": None}]})

    def test_the_index_of_a_data_frame_is_kept_where_it_says_something(self):
        self.assertEqual(shown(Frame(RangeIndex(None)))["structuredContent"], {"result": [{"sum": 3}]})
        self.assertEqual(shown(Frame(RangeIndex("row")))["structuredContent"], {"result": [{"row": 0, "sum": 3}]})
        self.assertEqual(shown(Frame(Index("city")))["structuredContent"], {"result": [{"city": "Rome", "sum": 3}]})
        self.assertEqual(shown(Frame(Index(None)))["structuredContent"], {"result": [{"index": "Rome", "sum": 3}]})
        self.assertEqual(shown(Frame(Index("sum")))["structuredContent"], {"result": [{"index": "Rome", "sum": 3}]})

    def test_numbers_of_numpy(self):
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
            ({"x": decimal.Decimal("NaN")}, "the result at x is NaN, which JSON cannot express"),
            (decimal.Decimal("-Infinity"), "the result is -Infinity, which JSON cannot express"),
            ([decimal.Decimal("1E+999999999")], "the result at [0] is 1E+999999999, which has too many digits"),
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

    def test_a_group_is_told_by_one_of_its_exceptions(self):
        told = ToolError("no user 7", hint="list_users knows them")
        inner = BaseExceptionGroup("inner", [ValueError("second"), told])
        for problems, words in [
            ([told], "no user 7. Hint: list_users knows them"),
            ([KeyError("first"), inner], "no user 7. Hint: list_users knows them (and 2 more errors)"),
            ([ValueError("first"), KeyError("second")], "ValueError: first (and 1 more error)"),
            ([], "BaseExceptionGroup: unhandled errors (0 sub-exceptions)"),
        ]:
            with self.subTest(words=words):
                group = BaseExceptionGroup("unhandled errors", problems)
                got = json.loads(tool_failure(group, None, False))
                self.assertEqual(got["content"][0]["text"], words)
                self.assertEqual(json.loads(request_failure(group, None))["message"], words)
        self.assertEqual(json.loads(request_failure(BaseExceptionGroup("", [NotFound()]), None))["code"], -32002)
        self.assertTrue(is_expected(BaseExceptionGroup("", [told])))
        self.assertFalse(is_expected(inner))
        self.assertEqual(one_line(inner, None), "ToolError: no user 7 (and 1 more error)")

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
