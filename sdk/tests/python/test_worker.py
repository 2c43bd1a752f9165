"""The worker program: definitions, calls, messages and questions of functions, cancellation, and shutdown."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from host import WorkerTest


def _runnable(name):
    """The path of a program; a stub for one that is not installed does not count."""
    path = shutil.which(name)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return path if path and subprocess.call([path, "-c", ""], **quiet) == 0 else None


class Start(WorkerTest):
    def test_definitions(self):
        host = self.served(
            """
            from mcp_bash import instructions, prompt, resource, tool, worker
            from _shared import twice

            worker(processes=1, idle_secs=5)
            instructions("Be kind.")

            @tool(name="sum", title="Sum", read_only=True, destructive=False, timeout=5, progress_extends_timeout=True,
                  icons=["a.png"], meta={"k": 1}, requires=["sampling"], confirm="Add {a}?", scopes=["files:write"])
            def add(a: int, b: int) -> int:
                "Adds."
                return twice(a + b)

            @resource("config://app", mime_type="text/plain")
            def config() -> str:
                return "x"

            @resource("users://{id}")
            def user(id: int) -> str:
                return str(id)

            @prompt
            def review(code: str) -> str:
                return code
            """,
            files={"tools/_shared.py": "from mcp_bash import tool\n@tool\ndef twice(a: int) -> int:\n    return a * 2\n"},
        )
        ready = host.ready["ready"]
        self.assertEqual(ready["protocol"], 1)
        self.assertEqual([tool["name"] for tool in ready["tools"]], ["twice", "sum"])
        tool = ready["tools"][1]
        del tool["inputSchema"], tool["outputSchema"]
        self.assertEqual(
            tool,
            {
                "name": "sum",
                "title": "Sum",
                "description": "Adds.",
                "annotations": {"readOnlyHint": True, "destructiveHint": False},
                "timeoutSecs": 5,
                "progressExtendsTimeout": True,
                "icons": [{"src": "a.png"}],
                "_meta": {"k": 1},
                "requiredCapabilities": ["sampling"],
                "confirm": "Add {a}?",
                "scopes": ["files:write"],
            },
        )
        self.assertEqual(ready["resources"], [{"name": "config", "uri": "config://app", "mimeType": "text/plain"}])
        self.assertEqual(ready["templates"], [{"name": "user", "uriTemplate": "users://{id}"}])
        self.assertEqual([one["name"] for one in ready["prompts"]], ["review"])
        self.assertEqual(ready["worker"], {"processes": 1, "idleSecs": 5})
        self.assertEqual(ready["instructions"], "Be kind.")
        self.assertEqual(ready["files"], [os.path.join(host.folder, "tools/_shared.py")])
        self.assertEqual(host.call("sum", {"a": 1, "b": 2})["structuredContent"], {"result": 6})
        self.assertEqual(host.end(), 0)

    def test_what_functions_may_do(self):
        host = self.served(
            """
            from mcp_bash import prompt, resource, tool, worker

            worker(sandbox="strict")

            @tool(sandbox={"read": ["project"], "cpu_secs": 5, "open_files": 64, "file_size": "1M", "memory": "64M"})
            def a() -> int:
                return 1

            @resource("x://y", sandbox={"cpuSecs": 5})
            def b() -> str:
                return ""

            @prompt(sandbox="off")
            def c() -> str:
                return ""
            """
        )
        ready = host.ready["ready"]
        declared = {"read": ["project"], "cpuSecs": 5, "openFiles": 64, "fileSize": "1M", "memory": "64M"}
        self.assertEqual(ready["tools"][0]["sandbox"], declared)
        self.assertEqual(ready["resources"][0]["sandbox"], {"cpuSecs": 5})
        self.assertEqual(ready["prompts"][0]["sandbox"], "off")
        self.assertEqual(ready["worker"], {"sandbox": "strict"})

    def test_a_file_that_imports_another_file_of_tools_offers_only_its_own(self):
        other = "from mcp_bash import tool\n@tool\ndef other() -> int:\n    return 1\n"
        host = self.served(
            "from mcp_bash import tool\nimport other\n@tool\ndef mine() -> int:\n    return other.other()\n",
            files={"tools/other.py": other},
        )
        self.assertEqual([tool["name"] for tool in host.ready["ready"]["tools"]], ["mine"])

    def test_a_file_named_as_a_module_of_python_hides_nothing(self):
        host = self.served(
            """
            import smtplib
            from mcp_bash import tool
            @tool
            def send() -> str:
                import email.message
                return email.message.__name__
            """,
            name="tools/email.py",
        )
        self.assert_text(host.call("send"), "email.message")

    def test_files_that_cannot_be_served(self):
        for source, words in [
            ("import nowhere_at_all\n", "file.py:1: ModuleNotFoundError: No module named 'nowhere_at_all'"),
            ("x = 1\n\ndef f(:\n", "file.py:3: SyntaxError: "),
            ("from mcp_bash import tool\n\n@tool\ndef f(a): return a\n", "f(), parameter `a`: it has no type; write one"),
            ("from mcp_bash import tool\nfor n in 1, 2:\n    @tool\n    def f(): pass\n", "there are two tools called `f`"),
            (
                "from mcp_bash import worker\nworker(sandbox={'reads': []})\n",
                "file.py:2: TypeError: worker(sandbox=…) knows no key 'reads'; there are mode, read, write, network, ",
            ),
            (
                "from mcp_bash import tool\n@tool(sandbox={'cpu_secs': 1, 'cpuSecs': 2})\ndef f() -> int: return 1\n",
                "@tool(sandbox=…) has the key 'cpuSecs' twice",
            ),
            (
                "from mcp_bash import resource\n@resource('a://b', sandbox=['on'])\ndef f() -> int: return 1\n",
                "@resource(sandbox=…) takes 'off', 'on', 'strict' or a dict, not list",
            ),
            ("import sys\nsys.exit(3)\n", "file.py:2: SystemExit: sys.exit(3) was called"),
            ("\nraise KeyboardInterrupt()\n", "file.py:2: KeyboardInterrupt"),
            ("import mcp_bash\nmcp_bash.tol\n", "AttributeError: module 'mcp_bash' has no attribute 'tol'"),
        ]:
            with self.subTest(source=source):
                host = self.host(source)
                failed = host.ready["failed"]
                self.assertIn(words, failed["message"])
                self.assertNotIn("\n", failed["message"])
                self.assertEqual(host.end(), 1)

    def test_an_edit_within_the_same_second_is_seen(self):
        source = "from mcp_bash import tool\n@tool\ndef f() -> int:\n    return %d\n"
        for number in (1, 2):
            host = self.served(source % number)
            self.assertEqual(host.call("f")["structuredContent"], {"result": number})

    def test_the_folder_of_tools_stays_clean(self):
        host = self.served("from mcp_bash import tool\n@tool\ndef f() -> int:\n    return 1\n")
        self.assertEqual(os.listdir(os.path.join(host.folder, "tools")), ["file.py"])

    def test_older_pythons_are_told_what_is_needed(self):
        old = next(filter(None, map(_runnable, ("python3.7", "python3.6", "python2.7"))), None)
        if old is None:
            self.skipTest("there is no older Python here")
        host = self.host("", python=old)
        self.assertIn("needs Python 3.8 or newer", host.ready["failed"]["message"])
        self.assertEqual(host.end(), 1)


SAYING = """
import logging, os, sys, threading, time
from mcp_bash import *
import mcp_bash
from mcp_bash import Context, arguments, cancelled, context, folder, log, meta, progress, roots, tool

logger = logging.getLogger("my.logger")

@tool
def say() -> str:
    progress(1, 3, "one")
    progress(2)
    log.info("words")
    log.warning("rows", count=3)
    log.debug({"a": 1}, logger="mine")
    logger.info("from %s", "logging")
    print("printed", 1)
    print("two\\nlines")
    print("no end", end="")
    sys.stderr.write("problem\\n")
    sys.stdout.buffer.write(b"bytes\\n")
    sys.stderr.write("10%\\r20%\\r\\n")
    return "done"

@tool
def each() -> int:
    return sum(progress.each([1, 2], message="item {}"))

@tool
def facts(a: int, ctx: Context) -> dict:
    return {
        "arguments": arguments(), "meta": meta(), "roots": [r.path for r in roots()], "name": ctx.name,
        "caller": ctx.caller, "trace": ctx.trace, "folder": str(folder()), "same": context() is ctx, "cancelled": cancelled(),
    }

@tool
def own_folder() -> str:
    (folder() / "x").write_text("x")
    return str(folder())

@tool
def in_thread() -> str:
    thread = threading.Thread(target=lambda: (print("from a thread"), progress(5)))
    thread.start()
    thread.join()
    return "ok"

@tool
def strange() -> str:
    log.info(object)
    log.info("x" * 200000)
    return "ok"
"""
SAYING = SAYING.replace("from mcp_bash import *\n", "")


class Saying(WorkerTest):
    def setUp(self):
        self.served_host = self.served(SAYING)

    def test_progress_and_logs(self):
        host = self.served_host
        self.assert_text(host.call("say", progress=True), "done")
        told = [frame["params"] for frame in host.said if frame["method"] == "notifications/progress"]
        self.assertEqual(told, [{"progress": 1, "total": 3, "message": "one"}, {"progress": 2}])
        self.assertEqual({frame["call"] for frame in host.said}, {1})
        self.assertEqual(
            host.logs(),
            [
                ("info", "say", "words"),
                ("warning", "say", {"message": "rows", "count": 3}),
                ("debug", "mine", {"a": 1}),
                ("info", "my.logger", "from logging"),
                ("info", "stdout", "printed 1"),
                ("info", "stdout", "two"),
                ("info", "stdout", "lines"),
                ("warning", "stderr", "problem"),
                ("info", "stdout", "no endbytes"),
                ("warning", "stderr", "20%"),
            ],
        )
        self.assertEqual(host.printed(), "")

    def test_progress_over_items(self):
        host = self.served_host
        self.assertEqual(host.call("each", progress=True)["structuredContent"], {"result": 3})
        told = [frame["params"] for frame in host.said]
        self.assertEqual(told[0], {"progress": 1, "total": 2, "message": "item 1"})

    def test_progress_that_nobody_hears_is_only_a_sign_of_life(self):
        host = self.served_host
        host.call("each")
        self.assertEqual(len(host.said), 1)

    def test_facts(self):
        host = self.served_host
        given = host.call(
            "facts",
            {"a": 1.0},
            meta={"tenant": "x"},
            roots=[{"uri": "file:///x", "name": "x", "path": "/x"}],
            trace={"traceparent": "00"},
            caller="me",
            folder="/private",
        )["structuredContent"]
        self.assertEqual(
            given,
            {
                "arguments": {"a": 1.0},
                "meta": {"tenant": "x"},
                "roots": ["/x"],
                "name": "facts",
                "caller": "me",
                "trace": {"traceparent": "00"},
                "folder": "/private",
                "same": True,
                "cancelled": False,
            },
        )
        refused = host.call("facts", {"a": 1}, rootsRefused="the client said no")
        self.assertTrue(refused["isError"])
        self.assert_text(refused, "the client said no")

    def test_a_folder_of_its_own_is_swept(self):
        path = self.served_host.call("own_folder")["content"][0]["text"]
        self.served_host.call("each")  # what follows a call is done before the next one
        self.assertFalse(os.path.exists(path))

    def test_threads_speak_for_the_call_that_started_them(self):
        host = self.served_host
        host.call("in_thread", progress=True)
        self.assertIn(("info", "stdout", "from a thread"), host.logs())

    def test_logging_that_is_loaded_late(self):
        host = self.served(
            """
            from mcp_bash import tool
            @tool
            def late() -> str:
                import logging
                logging.warning("heard")
                return "ok"
            """
        )
        host.call("late")
        self.assertEqual(host.logs()[0][0::2], ("warning", "WARNING:root:heard"))
        host.call("late")
        self.assertEqual(host.logs(), [("warning", "root", "heard")])

    def test_logging_as_a_person_set_it_up(self):
        host = self.served(
            """
            import logging
            from mcp_bash import tool
            logging.basicConfig(level=logging.DEBUG, format="%(message)s!")
            @tool
            def talk() -> str:
                logging.getLogger("a").debug("quiet")
                try:
                    1 / 0
                except ZeroDivisionError:
                    logging.exception("loud")
                return "ok"
            """
        )
        host.call("talk")
        self.assertEqual(host.logs()[0], ("debug", "a", "quiet!"))
        self.assertIn("ZeroDivisionError", host.logs()[1][2])

    def test_logs_that_are_no_json_or_too_long(self):
        host = self.served_host
        host.call("strange")
        self.assertEqual(host.logs()[0][2], "<class 'object'>")
        self.assertTrue(host.logs()[1][2].endswith("… (cut)"))


ASKING = """
import concurrent.futures
from dataclasses import dataclass
from typing import Literal, Optional
from mcp_bash import *
from mcp_bash import Question, Declined, Dismissed, CannotAsk, ask, ask_all, ask_url, choose, choose_many, confirm, sample, tool, user

@dataclass
class Person:
    name: str
    age: int = 0

@tool
def who() -> dict:
    person = ask("Who?", Person, name="who", timeout=7)
    assert isinstance(person, Person)
    return {"name": person.name, "age": person.age}

@tool
def one() -> int:
    return ask("How many?", int) + 1

@tool
def chosen() -> str:
    return ask("Which?", Literal["red", "blue"])

@tool
def names() -> dict:
    return ask("Both?", {"a": int, "b": Optional[str]})

@tool
def schema() -> dict:
    return ask("Schema?", {"type": "object", "properties": {"x": {"type": "string"}}})

@tool
def sure() -> bool:
    return confirm("Sure?")

@tool
def pick() -> str:
    return choose("Which?", ["a", "b"]) + "".join(choose_many("Which ones?", {"c": "C", "d": "D"}))

@tool
def link() -> str:
    ask_url("Sign in", "https://example.com")
    return "ok"

@tool
def think() -> str:
    said = sample("Say hi", max_tokens=5, system="Be brief")
    return said + "/" + str(said.model)

@tool
def several() -> dict:
    got = ask_all({"who": Question.form("Who?", Person), "ok": Question.confirm("Ok?"), "where": Question.roots()})
    return {"who": got["who"].name, "ok": got["ok"], "where": [root.uri for root in got["where"]]}

@tool
def caught() -> str:
    try:
        ask("x")
    except Dismissed:
        return "dismissed"
    except Declined:
        return "declined"
    except CannotAsk as problem:
        return "cannot: %s" % problem

@tool
def from_threads() -> list:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return sorted(pool.map(lambda n: ask("Number %d?" % n, int), [1, 2]))
""".replace("from mcp_bash import *\n", "")


class Asking(WorkerTest):
    def setUp(self):
        self.worker = self.served(ASKING)

    def asked(self, tool, *answers, **more):
        """Calls a tool and answers its questions. Returns the questions and the answer to the call."""
        host = self.worker
        number = host.begin("tool", tool, ask=True, elicit=True, **more)
        questions = []
        for answer in answers:
            frame = host.read()
            self.assertIn("ask", frame, frame)
            self.assertEqual(frame["call"], number)
            questions.append(frame)
            host.send(call=number, answer=frame["ask"], **answer)
        return questions, host.wait(number)["result"]

    @staticmethod
    def accept(**content):
        return {"result": {"action": "accept", "content": content}}

    def test_a_dataclass(self):
        (question,), result = self.asked("who", self.accept(name="Ada", age=36))
        self.assertEqual(result["structuredContent"], {"name": "Ada", "age": 36})
        self.assertEqual((question["ask"], question["method"], question["name"], question["timeoutSecs"]), (1, "elicitation/create", "who", 7))
        self.assertEqual(
            question["params"],
            {
                "mode": "form",
                "message": "Who?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 0}},
                    "required": ["name"],
                },
            },
        )

    def test_one_value_and_names_and_schemas(self):
        _, result = self.asked("one", self.accept(value=3.0))
        self.assertEqual(result["structuredContent"], {"result": 4})
        (question,), result = self.asked("names", self.accept(a=1, b="x"))
        form = question["params"]["requestedSchema"]
        self.assertEqual((form["properties"]["b"], form["required"]), ({"type": "string"}, ["a"]))
        self.assertEqual(result["structuredContent"], {"a": 1, "b": "x"})
        _, result = self.asked("schema", self.accept(x="y"))
        self.assertEqual(result["structuredContent"], {"x": "y"})

    def test_yes_and_no(self):
        self.assertEqual(self.asked("sure", self.accept(confirmed=True))[1]["structuredContent"], {"result": True})
        self.assertEqual(self.asked("sure", self.accept(confirmed=False))[1]["structuredContent"], {"result": False})
        self.assertEqual(self.asked("sure", {"result": {"action": "decline"}})[1]["structuredContent"], {"result": False})

    def test_choices_and_pages(self):
        questions, result = self.asked("pick", self.accept(choice="b"), self.accept(choices=["c", "d"]))
        self.assert_text(result, "bcd")
        first = questions[0]["params"]["requestedSchema"]["properties"]["choice"]
        self.assertEqual(first, {"type": "string", "enum": ["a", "b"]})
        second = questions[1]["params"]["requestedSchema"]["properties"]["choices"]["items"]
        self.assertEqual(second, {"anyOf": [{"const": "c", "title": "C"}, {"const": "d", "title": "D"}]})
        questions, result = self.asked("link", {"result": {"action": "accept"}})
        self.assertEqual(questions[0]["params"], {"mode": "url", "message": "Sign in", "url": "https://example.com"})
        self.assert_text(result, "ok")

    def test_a_model(self):
        said = {"result": {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}}
        questions, result = self.asked("think", said)
        self.assert_text(result, "hi/m")
        self.assertEqual(
            questions[0]["params"],
            {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hi"}}], "maxTokens": 5, "systemPrompt": "Be brief"},
        )

    def test_several_at_once(self):
        answer = {
            "result": {
                "who": self.accept(name="Ada"),
                "ok": self.accept(confirmed=True),
                "where": {"result": {"roots": [{"uri": "file:///x"}]}},
            }
        }
        questions, result = self.asked("several", answer)
        self.assertEqual(set(questions[0]["questions"]), {"who", "ok", "where"})
        self.assertEqual(result["structuredContent"], {"who": "Ada", "ok": True, "where": ["file:///x"]})
        answer["result"]["who"] = {"result": {"action": "decline"}}
        _, result = self.asked("several", answer)
        self.assertTrue(result["isError"])

    def test_no_answer(self):
        self.assert_text(self.asked("caught", {"result": {"action": "cancel"}})[1], "dismissed")
        self.assert_text(self.asked("caught", {"result": {"action": "decline"}})[1], "declined")
        self.assert_text(self.asked("caught", {"error": {"code": -1, "message": "too late"}})[1], "cannot: too late")
        self.assert_text(self.worker.call("caught"), "cannot: This client cannot be asked")
        self.assert_text(self.worker.call("caught", ask=True), "cannot: This client cannot ask its user")
        uncaught = self.asked("one", {"result": {"action": "decline"}})[1]
        self.assertTrue(uncaught["isError"])
        self.assert_text(uncaught, "The user declined to answer: How many?")
        self.assertEqual(self.worker.said, [])

    def test_answers_that_do_not_fit(self):
        _, result = self.asked("one", self.accept(value="three"))
        self.assert_text(result, 'The answer does not fit the question: "three" is not of type integer')
        _, result = self.asked("chosen", self.accept(value="green"))
        self.assert_text(result, 'The answer does not fit the question: "green" is not one of red, blue')

    def test_questions_of_threads(self):
        host = self.worker
        number = host.begin("tool", "from_threads", ask=True, elicit=True)
        for frame in [host.read(), host.read()]:
            asked = int(frame["params"]["message"].split()[1].rstrip("?"))
            host.send(call=number, answer=frame["ask"], result={"action": "accept", "content": {"value": asked * 10}})
        self.assertEqual(host.wait(number)["result"]["content"][0]["text"], "[10,20]")

    def test_a_cancellation_while_waiting(self):
        host = self.worker
        number = host.begin("tool", "one", ask=True, elicit=True)
        host.read()
        host.send(cancel=number)
        self.assertIn("error", host.wait(number))
        self.assertTrue(host.call("caught"))


CANCELLING = """
import subprocess, threading, time
from mcp_bash import Cancelled, cancelled, log, progress, tool

kept = []

@tool
def sleep() -> str:
    try:
        log.info("asleep")
        time.sleep(60)
    except Cancelled:
        kept.append("cleaned up")
        raise
    return "slept"

@tool
def spin() -> str:
    log.info("spinning")
    while True:
        pass

@tool
def stubborn() -> str:
    try:
        log.info("begin")
        time.sleep(60)
    except Exception:
        pass
    except BaseException:
        kept.append(cancelled())
    progress(1)
    kept.append("not reached")
    return "x"

@tool
def child() -> str:
    log.info("begin")
    subprocess.run(["sleep", "60"])
    return "x"

@tool
def seen() -> list:
    return kept
"""


class LoopsOfTheirOwn(WorkerTest):
    """Plain functions that run an event loop themselves."""

    SOURCE = """
        import asyncio
        from mcp_bash import aio, keep, log, progress, tool

        @tool
        def asks() -> int:
            async def inner():
                beat = asyncio.ensure_future(asyncio.sleep(60))
                number = await aio.ask("How many?", int)
                beat.cancel()
                print("asked")
                return number
            return asyncio.run(inner())

        @tool
        def sleeps() -> str:
            async def inner():
                try:
                    log.info("asleep")
                    await asyncio.sleep(60)
                finally:
                    log.info("cleaned up")
            asyncio.run(inner())
            return ""
        """

    def test_questions(self):
        host = self.served(self.SOURCE)
        number = host.begin("tool", "asks", ask=True, elicit=True)
        host.send(call=number, answer=host.read()["ask"], result={"action": "accept", "content": {"value": 3}})
        self.assertEqual(host.wait(number)["result"]["structuredContent"], {"result": 3})
        self.assertIn(("info", "stdout", "asked"), host.logs())

    def test_cancellation(self):
        host = self.served(self.SOURCE)
        number = host.begin("tool", "sleeps")
        host.read()
        host.send(cancel=number)
        self.assertIn("error", host.wait(number))
        self.assertEqual(host.logs(), [("info", "sleeps", "cleaned up")])


class Cancellation(WorkerTest):
    def test_functions_end_at_once(self):
        host = self.served(CANCELLING)
        for tool in ("sleep", "spin", "child", "stubborn"):
            with self.subTest(tool=tool):
                number = host.begin("tool", tool)
                self.assertEqual(host.read()["method"], "notifications/message")
                begun = time.monotonic()
                host.send(cancel=number)
                self.assertIn("error", host.wait(number))
                self.assertLess(time.monotonic() - begun, 1)
        self.assertEqual(json.loads(host.call("seen")["content"][0]["text"]), ["cleaned up", True])

    def test_a_call_that_is_cancelled_before_it_begins(self):
        host = self.served(CANCELLING)
        host.numbers = 1
        host.send_text('{"cancel":1}\n{"call":1,"tool":"sleep","arguments":{}}')
        self.assertIn("error", host.wait(1))
        host.send_text('{"call":2,"tool":"sleep","arguments":{}}\n{"cancel":2}')
        self.assertIn("error", host.wait(2))

    def test_cancellations_of_other_calls_and_unknown_frames_are_ignored(self):
        host = self.served(CANCELLING)
        host.send(cancel=99)
        host.send(call=98, answer=1, result={})
        host.send(strange=True)
        host.send_text("[1]")
        self.assertEqual(host.call("seen")["content"][0]["text"], "[]")

    def test_cancellations_at_any_moment(self):
        """A cancellation before, during or after a function never loses an answer."""
        host = self.served("from mcp_bash import log, tool\n@tool\ndef f(n: int) -> int:\n    log.info('x')\n    return n\n")
        for number in range(1, 400):
            host.send(call=number, tool="f", arguments={"n": number})
            if number % 3:
                host.send(cancel=number)
            frame = host.wait(number)
            if "result" in frame:
                self.assertEqual(frame["result"]["structuredContent"], {"result": number})
            else:
                self.assertEqual(frame["error"]["code"], -32800)


KEEPING = """
import os, signal, time
from mcp_bash import keep, log, tool

def note(word):
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(word + "\\n")

@keep
def first():
    note("make first")
    yield {"n": 0}
    note("end first")

@keep
def second(name: str):
    note("make second " + name)
    yield first()
    note("end second " + name)

@keep
def failing():
    yield 1
    raise ValueError("at the end")

@keep
def plain() -> list:
    note("make plain")
    return []

@tool
def count() -> int:
    first()["n"] += 1
    second("x"), second("x"), failing()
    plain().append(1)
    return first()["n"] * 10 + len(plain())

@tool
def wait() -> str:
    log.info("waiting")
    time.sleep(60)
    return ""
"""


class State(WorkerTest):
    def setUp(self):
        self.worker = self.served(KEEPING, env={"NOTES": "notes"})

    def notes(self):
        with open(os.path.join(self.worker.folder, "notes")) as notes:
            return notes.read().split("\n")[:-1]

    def test_it_is_made_once_and_ended_in_reverse(self):
        self.assertEqual(self.worker.call("count")["structuredContent"], {"result": 11})
        self.assertEqual(self.worker.call("count")["structuredContent"], {"result": 22})
        self.assertEqual(self.worker.end(), 0)
        self.assertEqual(
            self.notes(), ["make first", "make second x", "make plain", "end second x", "end first"]
        )
        self.assertIn("ValueError: at the end", self.worker.printed())

    def test_term_ends_it_too(self):
        self.worker.call("count")
        self.worker.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.worker.process.wait(5), 0)
        self.assertIn("end first", self.notes())

    def test_term_in_a_call(self):
        self.worker.call("count")
        self.worker.begin("tool", "wait")
        self.worker.read()
        self.worker.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.worker.process.wait(5), 0)
        self.assertIn("end first", self.notes())

    def test_what_runs_is_finished_when_the_input_ends(self):
        host = self.served(
            "import time\nfrom mcp_bash import tool\n@tool\ndef f() -> str:\n    time.sleep(0.3)\n    return 'done'\n"
        )
        number = host.begin("tool", "f")
        host.close_input()
        self.assert_text(host.wait(number)["result"], "done")
        self.assertEqual(host.end(), 0)


class ResourcesAndPrompts(WorkerTest):
    def test_calls(self):
        host = self.served(
            """
            from mcp_bash import NotFound, context, prompt, resource, user, assistant

            @resource("config://app")
            def config() -> dict:
                return {"debug": True}

            @resource("users://{id}")
            def profile(id: int) -> str:
                if id > 9:
                    raise NotFound("There is no user %d" % id)
                return "user %d at %s" % (id, context().uri)

            @prompt
            def review(code: str, lines: int = 3):
                "Reviews."
                return [user("Review %s in %d" % (code, lines)), assistant("Sure")]
            """
        )
        read = host.wait(host.begin("resource", "config://app", name="config"))["result"]
        self.assertEqual(read["contents"], [{"uri": "config://app", "mimeType": "application/json", "text": '{"debug":true}'}])
        read = host.wait(host.begin("resource", "users://7", {"id": "7"}, name="profile"))["result"]
        self.assertEqual(read["contents"][0]["text"], "user 7 at users://7")
        missing = host.wait(host.begin("resource", "users://10", {"id": "10"}, name="profile"))["error"]
        self.assertEqual(missing, {"code": -32002, "message": "There is no user 10"})
        wrong = host.wait(host.begin("resource", "users://x", {"id": "x"}, name="profile"))["error"]
        self.assertEqual((wrong["code"], wrong["message"]), (-32602, 'Argument `id`: "x" is not an integer'))
        got = host.wait(host.begin("prompt", "review", {"code": "x", "lines": "5"}))["result"]
        self.assertEqual(got["description"], "Reviews.")
        self.assertEqual(got["messages"][0], {"role": "user", "content": {"type": "text", "text": "Review x in 5"}})
        self.assertEqual(got["messages"][1]["role"], "assistant")
        self.assertIn("no such function", host.wait(host.begin("prompt", "nothing"))["error"]["message"])


if __name__ == "__main__":
    unittest.main()
