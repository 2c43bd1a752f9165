"""The state of a session: received with a call, and sent when it has changed."""

import unittest

from host import WorkerTest

SOURCE = '''
from mcp_bash import Context, ToolError, prompt, tool

@tool
def count(ctx: Context) -> int:
    ctx.state["n"] = ctx.state.get("n", 0) + 1
    return ctx.state["n"]

@tool
async def waits(ctx: Context) -> str:
    await ctx.set_state("name", "Ada")
    await ctx.delete_state("n")
    return "%s %s" % (await ctx.get_state("name"), await ctx.get_state("n"))

@tool
def inside(ctx: Context) -> int:
    ctx.state.setdefault("cart", []).append("tea")
    return len(ctx.state["cart"])

@tool
def only_reads(ctx: Context) -> str:
    return str(ctx.get_state("n"))

@tool
def fails(ctx: Context) -> str:
    ctx.state["n"] = 7
    raise ToolError("no")

@tool
def wrong(ctx: Context, what: str) -> str:
    if what == "set":
        ctx.state["x"] = {1, object()}
    elif what == "large":
        ctx.state["x"] = "x" * 70000
    elif what == "key":
        ctx.state[5] = 1
    else:
        ctx.state["x"] = []
        ctx.state["x"].append(object())
    return "ok"

@prompt
def greet(ctx: Context) -> str:
    return str(ctx.state)
'''


class SessionState(WorkerTest):
    def change(self, worker):
        return [frame["params"] for frame in worker.said if frame.get("method") == "session/state"]

    def test_changes_are_sent_before_the_answer(self):
        worker = self.served(SOURCE)
        self.assert_text(worker.call("count", state={}), "1")
        self.assertEqual(self.change(worker), [{"set": {"n": 1}, "delete": []}])
        self.assert_text(worker.call("count", state={"n": 4, "x": [1]}), "5")
        self.assertEqual(self.change(worker), [{"set": {"n": 5}, "delete": []}])
        self.assert_text(worker.call("waits", state={"n": 4}), "Ada None")
        self.assertEqual(self.change(worker), [{"set": {"name": "Ada"}, "delete": ["n"]}])

    def test_changes_inside_of_a_value_count(self):
        worker = self.served(SOURCE)
        self.assert_text(worker.call("inside", state={}), "1")
        self.assertEqual(self.change(worker), [{"set": {"cart": ["tea"]}, "delete": []}])
        self.assert_text(worker.call("inside", state={"cart": ["coffee"]}), "2")
        self.assertEqual(self.change(worker), [{"set": {"cart": ["coffee", "tea"]}, "delete": []}])

    def test_a_call_that_only_reads_sends_nothing(self):
        worker = self.served(SOURCE)
        self.assert_text(worker.call("only_reads", state={"n": 4}), "4")
        self.assertEqual(self.change(worker), [])

    def test_a_call_that_fails_keeps_its_changes(self):
        worker = self.served(SOURCE)
        self.assertTrue(worker.call("fails", state={})["isError"])
        self.assertEqual(self.change(worker), [{"set": {"n": 7}, "delete": []}])

    def test_what_cannot_be_kept_fails_the_call(self):
        worker = self.served(SOURCE)
        for what, words in (
            ("set", "state['x'] takes values that JSON has"),
            ("large", "65536 are allowed"),
            ("key", "a key of the session's state is a text, not int"),
            ("append", "state['x'] takes values that JSON has"),
        ):
            result = worker.call("wrong", {"what": what}, state={})
            self.assertTrue(result["isError"], what)
            self.assertIn(words, result["content"][0]["text"])
            self.assertEqual(self.change(worker), [])

    def test_without_a_session_there_is_none(self):
        worker = self.served(SOURCE)
        self.assertIn("This client has no session", worker.call("count")["content"][0]["text"])
        error = worker.wait(worker.begin("prompt", "greet", state={}))
        self.assertIn("result", error)
        self.assertIn("Only tools", worker.wait(worker.begin("prompt", "greet"))["error"]["message"])


if __name__ == "__main__":
    unittest.main()
