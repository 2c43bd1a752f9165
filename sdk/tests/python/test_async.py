"""Async functions: one event loop for the life of the worker, several calls at once if the file says so."""

import os
import signal
import sys
import time
import unittest

from host import WorkerTest

SOURCE = """
import asyncio, os, threading, time
from dataclasses import dataclass
from mcp_bash import Cancelled, ToolError, aio, arguments, ask, context, keep, log, progress, tool, worker

WORKER

loops = set()

def note(word):
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(word + "\\n")

@keep
async def shared():
    note("make")
    ticks = []
    async def tick():
        while True:
            ticks.append(1)
            await asyncio.sleep(0.01)
    task = asyncio.ensure_future(tick())
    yield ticks
    task.cancel()
    note("end")

@keep
async def once() -> dict:
    note("once")
    await asyncio.sleep(0.01)
    return {"n": 0}

@keep
async def broken() -> int:
    raise ValueError("cannot be made")

@tool
async def add(a: int, b: int) -> int:
    loops.add(id(asyncio.get_running_loop()))
    await asyncio.sleep(0)
    print("adding", a)
    return a + b

@tool
async def same_loop() -> int:
    return len(loops)

@tool
async def ticks() -> int:
    return len(await shared())

@tool
async def use() -> int:
    both = await asyncio.gather(once(), once())
    both[0]["n"] += 1
    return both[1]["n"]

@tool
async def use_broken() -> int:
    return await broken()

@tool
async def sleep() -> str:
    try:
        log.info("asleep")
        await asyncio.sleep(60)
    finally:
        note("cleaned up")
    return ""

@tool
async def leave() -> str:
    async def forever():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            note("left task cancelled")
            raise
    asyncio.ensure_future(forever())
    await asyncio.sleep(0)
    return "ok"

@tool
def plain(seconds: float = 0) -> str:
    log.info("plain")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)
    return threading.current_thread().name

@tool
async def in_thread(seconds: float) -> str:
    work = asyncio.get_running_loop().run_in_executor(None, time.sleep, seconds)
    try:
        await asyncio.wait_for(asyncio.shield(work), 0.2)
    except asyncio.TimeoutError:
        return "left"
    return "done"

@tool
async def in_group() -> str:
    async def fail():
        raise ToolError("no user 7", hint="list_users knows them")
    async with asyncio.TaskGroup() as group:
        group.create_task(fail())
    return ""

@tool
def own_loop() -> int:
    async def inner():
        await asyncio.sleep(0)
        return 5
    return asyncio.run(inner())

@tool
def plain_ask() -> str:
    return ask("Name?")

@tool
async def asks() -> list:
    name = await aio.ask("Name?", timeout=5)
    sure = await aio.confirm("Sure?")
    return [name, sure]

@tool
async def gives_up() -> str:
    try:
        await asyncio.wait_for(aio.ask("Name?"), 0.05)
    except asyncio.TimeoutError:
        return "too late"
    return "?"

@tool
async def wrong_ask() -> str:
    return ask("Name?")

@tool
async def exits() -> str:
    raise SystemExit(3)

@tool
async def exits_in_task() -> str:
    async def bad():
        raise SystemExit(3)
    asyncio.ensure_future(bad())
    await asyncio.sleep(0.01)
    return "ok"

@tool
async def slow(name: str) -> str:
    print("begin", name)
    await asyncio.sleep(0.1)
    print("end", name, arguments()["name"])
    return name

@tool
async def blocks() -> str:
    os.chdir("/")
    os.environ["LEAK"] = "1"
    return "ok"

@tool
async def look() -> list:
    return [os.getcwd(), os.environ.get("LEAK")]
"""


class Base(WorkerTest):
    options = ""

    def setUp(self):
        self.worker = self.served(SOURCE.replace("WORKER", self.options), env={"NOTES": "notes"})

    def notes(self):
        path = os.path.join(self.worker.folder, "notes")
        if not os.path.exists(path):
            return []
        with open(path) as notes:
            return notes.read().split("\n")[:-1]

    def answer_questions(self, number, *contents):
        for content in contents:
            frame = self.worker.read()
            self.assertEqual(frame["method"], "elicitation/create", frame)
            self.worker.send(call=number, answer=frame["ask"], result={"action": "accept", "content": content})
        return self.worker.wait(number)

    # What holds whether there is one call at a time or several.

    def test_calls_share_one_loop(self):
        for number in range(3):
            self.assertEqual(self.worker.call("add", {"a": number, "b": 1})["structuredContent"], {"result": number + 1})
            self.assertEqual(self.worker.logs(), [("info", "stdout", "adding %d" % number)])
        self.assertEqual(self.worker.call("same_loop")["structuredContent"], {"result": 1})

    def test_state_lives_between_calls_and_has_an_end(self):
        before = self.worker.call("ticks")["structuredContent"]["result"]
        end = time.monotonic() + 5
        while self.worker.call("ticks")["structuredContent"]["result"] < before + 3 and time.monotonic() < end:
            pass
        self.assertLess(time.monotonic(), end)
        self.assertEqual(self.worker.call("use")["structuredContent"], {"result": 1})
        self.assertEqual(self.worker.call("use")["structuredContent"], {"result": 2})
        self.assertEqual(self.worker.end(), 0)
        self.assertEqual(self.notes(), ["make", "once", "end"])

    def test_state_that_cannot_be_made_is_tried_again(self):
        for _ in range(2):
            self.assertIn("cannot be made", self.worker.call("use_broken")["content"][0]["text"])

    def test_cancellation(self):
        number = self.worker.begin("tool", "sleep")
        self.worker.read()
        self.worker.send(cancel=number)
        self.assertIn("error", self.worker.wait(number))
        self.assertEqual(self.notes(), ["cleaned up"])

    def test_cancellation_of_a_plain_function(self):
        number = self.worker.begin("tool", "plain", {"seconds": 60})
        self.worker.read()
        self.worker.send(cancel=number)
        self.assertIn("error", self.worker.wait(number))
        self.assertNotIn("isError", self.worker.call("plain"))

    def test_tasks_that_are_left_are_cancelled(self):
        self.assert_text(self.worker.call("leave"), "ok")
        self.assertEqual(self.notes(), ["left task cancelled"])
        self.assertIn("1 asyncio tasks still ran", self.worker.logs()[0][2])

    def test_threads_of_pools_stay_without_a_word(self):
        for _ in range(2):
            self.assert_text(self.worker.call("in_thread", {"seconds": 0}), "done")
            self.assertEqual(self.worker.logs(), [])
            self.worker.call("plain")
            self.assertEqual(self.worker.logs(), [("info", "plain", "plain")])

    def test_a_thread_of_a_pool_that_still_works_is_told_of(self):
        for _ in range(2):
            self.assert_text(self.worker.call("in_thread", {"seconds": 0.7}), "left")
            self.assertEqual(self.worker.logs()[0][:2], ("warning", "mcp_bash"))
            self.assertRegex(self.worker.logs()[0][2], "^threads still run after the call: asyncio_[01]$")

    @unittest.skipIf(sys.version_info < (3, 11), "TaskGroup is newer")
    def test_an_error_in_a_group_of_tasks(self):
        self.assert_text(self.worker.call("in_group"), "no user 7. Hint: list_users knows them")
        self.assertEqual(self.worker.said, [])

    def test_questions(self):
        number = self.worker.begin("tool", "asks", ask=True, elicit=True)
        result = self.answer_questions(number, {"value": "Ada"}, {"confirmed": True})["result"]
        self.assert_text(result, '["Ada",true]')
        number = self.worker.begin("tool", "plain_ask", ask=True, elicit=True)
        self.assert_text(self.answer_questions(number, {"value": "Bob"})["result"], "Bob")
        self.assertIn("await aio.ask", self.worker.call("wrong_ask", ask=True, elicit=True)["content"][0]["text"])

    def test_a_question_that_is_given_up_is_withdrawn(self):
        number = self.worker.begin("tool", "gives_up", ask=True, elicit=True)
        self.assert_text(self.worker.wait(number)["result"], "too late")
        self.assertEqual(self.worker.said[-1], {"call": number, "withdraw": 1})

    def test_ends_of_functions_are_not_ends_of_the_worker(self):
        self.assertIn("SystemExit", self.worker.call("exits")["content"][0]["text"])
        self.assert_text(self.worker.call("exits_in_task"), "ok")
        self.assertIn("result", self.worker.call("add", {"a": 1, "b": 1})["structuredContent"])

    def test_surroundings_are_put_back(self):
        self.worker.call("blocks")
        self.assertEqual(self.worker.call("look")["content"][0]["text"], '["%s",null]' % self.worker.folder)

    def test_term(self):
        self.worker.call("ticks")
        self.worker.begin("tool", "sleep")
        self.worker.read()
        self.worker.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.worker.process.wait(5), 0)
        self.assertEqual(self.notes(), ["make", "cleaned up", "end"])

    def test_the_end_of_input_lets_calls_finish(self):
        number = self.worker.begin("tool", "slow", {"name": "x"})
        self.worker.close_input()
        self.assert_text(self.worker.wait(number)["result"], "x")
        self.assertEqual(self.worker.end(), 0)


class OneAtATime(Base):
    def test_rubbish_from_the_server(self):
        self.worker.send_text("this is no JSON")
        self.assertEqual(self.worker.process.wait(10), 1)

    def test_plain_functions_run_outside_of_the_loop(self):
        self.assert_text(self.worker.call("plain"), "MainThread")
        self.assertEqual(self.worker.call("own_loop")["structuredContent"], {"result": 5})


class SeveralAtOnce(Base):
    options = "worker(at_once=8)"

    def test_they_run_at_once_and_keep_apart(self):
        begun = time.monotonic()
        numbers = {self.worker.begin("tool", "slow", {"name": "n%d" % n}): "n%d" % n for n in range(8)}
        open_calls = dict(numbers)
        while open_calls:
            frame = self.worker.read()
            name = numbers[frame["call"]]
            if "result" in frame:
                self.assertEqual(frame["result"]["content"][0]["text"], name)
                del open_calls[frame["call"]]
            else:
                words = frame["params"]["data"].split()
                self.assertEqual(set(words[1:]), {name})
        self.assertLess(time.monotonic() - begun, 0.7)

    def test_more_than_that_wait_for_their_turn(self):
        numbers = [self.worker.begin("tool", "slow", {"name": str(n)}) for n in range(20)]
        answered = set()
        while len(answered) < 20:
            frame = self.worker.read()
            if "result" in frame:
                answered.add(frame["call"])
        self.assertEqual(answered, set(numbers))

    def test_cancellations_of_threads_at_any_moment(self):
        numbers = []
        for seconds in [0, 0.001, 0.01, 0.02] * 40:
            numbers.append(self.worker.begin("tool", "plain", {"seconds": seconds}))
            if len(numbers) % 4 != 1:
                self.worker.send(cancel=numbers[-len(numbers) % 3 - 1])
        left = set(numbers)
        while left:
            frame = self.worker.read()
            if "result" in frame or "error" in frame:
                left.remove(frame["call"])

    def test_plain_functions_have_threads(self):
        numbers = [self.worker.begin("tool", "plain", {"seconds": 0.3}) for _ in range(4)]
        begun = time.monotonic()
        left = set(numbers)
        while left:
            frame = self.worker.read()
            if "result" in frame:
                left.remove(frame["call"])
                self.assertIn("mcp_bash", frame["result"]["content"][0]["text"])
        self.assertLess(time.monotonic() - begun, 1)


del Base

if __name__ == "__main__":
    unittest.main()
