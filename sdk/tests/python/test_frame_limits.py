"""Values that exceed the limits of a frame fail their call, and neither the worker nor its kept state."""

import json
import unittest

from host import WorkerTest
from mcp_bash.frame_limits import misfit

SOURCE = """
from mcp_bash import ask_all, CannotAsk, Question, ToolError, log, progress, prompt, resource, sample, tool

calls = []

def deep(levels, inner=1):
    for _ in range(levels):
        inner = [inner]
    return inner

@tool
def nested(levels: int) -> list:
    calls.append(1)
    return deep(levels)

@tool
def nested_text(levels: int):
    return deep(levels)

@tool
def closers(levels: int) -> dict:
    value = {}
    for _ in range(levels):
        value = {"close": "]}", 'q"\\\\': "}}]]", "a": value}
    return value

@tool
def digits(count: int) -> dict:
    calls.append(1)
    return {"a": [1, {"b": 10 ** (count - 1)}]}

@tool
def digits_in_text(count: int) -> dict:
    return {"a": "1" * count}

@tool
def rows(count: int) -> list:
    return [{"id": n, "values": [n, {"x": n}]} for n in range(count)]

@tool
def nan() -> float:
    return float("nan")

@tool
def half() -> str:
    return "a\\ud83db"

@tool
def failing(levels: int) -> str:
    raise ToolError("told", deep=deep(levels))

@tool
def logs(levels: int = 0, count: int = 0, length: int = 0) -> str:
    log.info(deep(levels)) if levels else None
    log.info("number", value=10 ** count) if count else None
    log.info("x" * length) if length else None
    return "logged"

@tool
def tells(number: str) -> str:
    progress({"nan": float("nan"), "infinite": float("inf"), "long": 10 ** 2000, "fine": 3}[number])
    return "told"

@tool
def asks(levels: int, length: int) -> str:
    try:
        sample("x" * length, metadata={"deep": deep(levels)} if levels else {})
    except CannotAsk as problem:
        return str(problem)
    return "asked"

@resource("x://deep/{levels}")
def held(levels: int):
    return {"contents": deep(levels)}

@prompt
def wrong(levels: int) -> dict:
    return {"messages": deep(levels)}

@tool
def count_calls() -> int:
    return len(calls)
"""


class FrameLimits(WorkerTest):
    def setUp(self):
        self.worker = self.served(SOURCE, env={"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "100000"})

    def failed(self, tool, words, **arguments):
        result = self.worker.call(tool, arguments)
        self.assertTrue(result.get("isError"), result)
        self.assertIn(words, result["content"][0]["text"])

    def test_nesting(self):
        self.assertEqual(self.worker.call("nested", {"levels": 97})["structuredContent"]["result"][0][0], json.loads("[" * 95 + "1" + "]" * 95))
        for levels in (98, 150, 900):
            self.failed("nested", "The result of nested cannot be sent: it is nested more than 100 levels deep at structuredContent.result[0]", levels=levels)
        self.assertNotIn("isError", self.worker.call("nested_text", {"levels": 300}))
        self.assertNotIn("isError", self.worker.call("closers", {"levels": 90}))
        self.failed("closers", "nested more than 100 levels deep at structuredContent.a.a", levels=120)
        self.assertNotIn("isError", self.worker.call("rows", {"count": 400}))
        self.assertEqual(self.worker.call("count_calls")["structuredContent"], {"result": 4})

    def test_digits(self):
        self.assertEqual(self.worker.call("digits", {"count": 1000})["structuredContent"]["a"][1]["b"], 10**999)
        for count in (1001, 2500, 4000):
            self.failed("digits", "has a number of %d digits at structuredContent.a[1].b" % count, count=count)
        self.failed("digits", "a[1].b is a number of more than 1000 digits", count=9000)
        self.assertNotIn("isError", self.worker.call("digits_in_text", {"count": 5000}))

    def test_other_values(self):
        self.failed("nan", "nan, which JSON cannot express")
        self.assert_text(self.worker.call("half"), "a?b")
        self.failed("failing", "nested more than 100 levels deep", levels=120)

    def test_resources_and_prompts(self):
        number = self.worker.begin("prompt", "wrong", {"levels": "150"})
        self.assertIn("nested more than 100 levels deep at messages[0][0]", self.worker.wait(number)["error"]["message"])
        # Data in a resource is a text, however deep.
        number = self.worker.begin("resource", "x://deep/150", {"levels": "150"}, name="held")
        self.assertIn("result", self.worker.wait(number))

    def test_logs(self):
        for arguments in ({"levels": 150}, {"levels": 900}, {"count": 2000}, {"count": 9000}, {"length": 90000}):
            self.assert_text(self.worker.call("logs", arguments), "logged")
            [frame] = self.worker.said
            self.assertLess(len(json.dumps(frame)), 100000)
            self.assertIsInstance(frame["params"]["data"], str, arguments)

    def test_progress(self):
        for number in ("nan", "infinite", "long"):
            self.failed("tells", "progress() needs a number", number=number)
        self.assert_text(self.worker.call("tells", {"number": "fine"}), "told")

    def test_questions(self):
        for levels, length, words in ((150, 1, "nested more than 100 levels deep at metadata.deep"), (0, 200000, "are allowed")):
            number = self.worker.begin("tool", "asks", {"levels": levels, "length": length}, ask=True, elicit=True)
            text = self.worker.wait(number)["result"]["content"][0]["text"]
            self.assertIn("The question cannot be sent: it ", text)
            self.assertIn(words, text)
            self.assertEqual(self.worker.said, [])

    def test_definitions(self):
        host = self.host(
            """
            from mcp_bash import tool
            deep = {}
            for _ in range(150):
                deep = {"properties": deep}
            @tool(meta={"schema": deep})
            def f() -> str:
                return ""
            """
        )
        self.assertIn("nested more than 100 levels deep at tools[0]", host.ready["failed"]["message"])


class Misfits(unittest.TestCase):
    def test_texts_hide_nothing(self):
        for text in ("]" * 200, '"' * 50, "\\" * 51, '\\"]', "{" * 200, "1" * 3000):
            fine = json.dumps({"a": [text, {"b": text}]})
            self.assertIsNone(misfit(fine), fine)
            deep = json.dumps([text] * 3)
            for _ in range(100):
                deep = "[%s,%s]" % (json.dumps(text), deep)
            self.assertIn("nested more than 100 levels", misfit(deep))
            self.assertIn("has a number of 1001 digits", misfit('{"a":[%s,%s]}' % (json.dumps(text), "1" * 1001)))


if __name__ == "__main__":
    unittest.main()
