"""Functions that misbehave: each call is answered once, and the next one is not affected."""

import os
import signal
import unittest

from host import WorkerTest

LEAKING = """
import locale, os, random, signal, sys, threading, time, warnings
from mcp_bash import tool

@tool
def leak() -> str:
    os.chdir("/")
    os.environ["LEAKED"] = "yes"
    os.environ.pop("HOME", None)
    os.environ["PATH"] = "/nowhere"
    os.umask(0)
    sys.path.insert(0, "/leaked")
    sys.argv.append("leaked")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    signal.alarm(1)
    warnings.simplefilter("error")
    sys.setrecursionlimit(5000)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    try:
        locale.setlocale(locale.LC_ALL, "C.UTF-8")
    except locale.Error:
        pass
    return "leaked"

@tool
def look() -> dict:
    mask = os.umask(0o77)
    os.umask(mask)
    print("heard")
    return {
        "folder": os.getcwd(), "leaked": os.environ.get("LEAKED"), "home": os.environ.get("HOME"), "path": os.environ["PATH"],
        "child": os.popen("echo $LEAKED").read(), "umask": mask, "sys.path": "/leaked" in sys.path, "argv": sys.argv[1:],
        "term": callable(signal.getsignal(signal.SIGTERM)), "usr1": signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL,
        "alarm": signal.alarm(0), "warnings": warnings.filters[0][0], "recursion": sys.getrecursionlimit(),
        "locale": locale.setlocale(locale.LC_ALL),
    }

@tool
def remove_folder() -> str:
    path = os.path.realpath("gone")
    os.mkdir(path)
    os.chdir(path)
    os.rmdir(path)
    return "ok"

@tool
def threads() -> str:
    threading.Thread(target=time.sleep, args=(60,), name="sleeper", daemon=True).start()
    return "ok"

@tool
def late() -> str:
    def speak():
        time.sleep(0.2)
        print("late words")
        open("late", "w").close()
    threading.Thread(target=speak, daemon=True).start()
    return "ok"
"""


class Leaks(WorkerTest):
    def test_surroundings_are_put_back(self):
        host = self.served(LEAKING)
        before = host.call("look")["structuredContent"]
        self.assertEqual(before["folder"], host.folder)
        self.assert_text(host.call("leak"), "leaked")
        self.assertEqual(host.call("look")["structuredContent"], before)
        self.assertEqual(host.logs(), [("info", "stdout", "heard")])
        self.assertEqual(host.end(), 0)

    def test_a_folder_that_is_gone(self):
        host = self.served(LEAKING)
        host.call("remove_folder")
        self.assertEqual(host.call("look")["structuredContent"]["folder"], host.folder)

    def test_threads_are_told_of_once(self):
        host = self.served(LEAKING)
        host.call("threads")
        self.assertEqual(host.logs(), [("warning", "mcp_bash", "threads still run after the call: sleeper")])
        host.call("look")
        self.assertEqual(host.logs(), [("info", "stdout", "heard")])
        self.assertEqual(host.end(), 0)

    def test_a_thread_that_speaks_after_its_call_is_heard_by_no_other(self):
        host = self.served(LEAKING)
        host.call("late")
        while not os.path.exists(os.path.join(host.folder, "late")):
            host.call("look")
            self.assertEqual(host.logs(), [("info", "stdout", "heard")])
        host.call("look")
        self.assertEqual(host.logs(), [("info", "stdout", "heard")])


HOSTILE = """
import gc, multiprocessing, os, subprocess, sys, time
from mcp_bash import ProtocolError, ToolError, tool

class Wild(BaseException):
    pass

@tool
def fine() -> str:
    return "fine"

@tool
def raw() -> str:
    os.write(1, b'{"call":1,"result":{}}\\n')
    os.write(2, b"to the operator\\n")
    subprocess.run(["echo", "from a child"])
    return "ok"

@tool
def close_streams() -> str:
    sys.stdin.close(), sys.stdout.close(), sys.stderr.close()
    os.close(0)
    return "ok"

@tool
def read_input() -> str:
    return repr((sys.stdin.read(), subprocess.run(["cat"], stdout=subprocess.PIPE).stdout))

@tool
def inherits() -> list:
    "The descriptors that a child has."
    listed = subprocess.run(["ls", "/proc/self/fd"], stdout=subprocess.PIPE, close_fds=False).stdout.decode().split()
    return [int(fd) for fd in listed if int(fd) > 3]

@tool
def exits() -> str:
    sys.exit(3)

@tool
def wild() -> str:
    raise Wild("very")

@tool
def interrupts() -> str:
    raise KeyboardInterrupt()

@tool
def fails() -> str:
    raise ValueError("two\\nlines")

@tool
def fails_below() -> str:
    return int("x" * 5) and ""

@tool
def tool_error() -> str:
    raise ToolError("Not today", hint="come tomorrow")

@tool
def protocol_error() -> str:
    raise ProtocolError(503, "busy", {"retry": 1})

class Mute(Exception):
    def __str__(self):
        raise SystemExit("no words")

class Broken(ToolError):
    def text(self):
        raise KeyError("text")

@tool
def mute() -> str:
    raise Mute("very")

@tool
def broken_error() -> str:
    raise Broken("very")

@tool
def error_of_error() -> str:
    raise ToolError(ValueError("within"))

@tool
def close_all(put: bool) -> str:
    os.closerange(0, 3)
    if put:
        kept.append(os.open("mine", os.O_RDWR | os.O_CREAT))
        os.dup2(kept[0], 1), os.dup2(kept[0], 2)
    return "ok"

kept = []

@tool
def opens() -> list:
    with open("other", "w") as file:
        os.write(1, b"raw\\n")
        os.write(2, b"words\\n")
        number = file.fileno()
    with open("other") as file:
        return [number > 2, file.read(), os.read(0, 10).decode()]

@tool
def nan() -> dict:
    return {"x": float("nan")}

@tool
def deep() -> str:
    return deep()

@tool(output=False)
def large() -> str:
    return "x" * 9_000_000

@tool
def too_large() -> str:
    return "x" * 11_000_000

@tool
def generator():
    return (n for n in range(3))

@tool
def fork() -> str:
    child = os.fork()
    if child == 0:
        return "from the child"
    os.waitpid(child, 0)
    return "from the parent"

def double(n):
    print("in a process")
    return n * 2

@tool
def processes(way: str) -> list:
    with multiprocessing.get_context(way).Pool(2) as pool:
        return pool.map(double, [1, 2])

@tool
def echo(text: str) -> str:
    return text

@tool
def dies() -> str:
    os._exit(7)

@tool
def environment() -> list:
    return [name for name in os.environ if name.startswith("MCP_WORKER")]

@tool
def coroutine() -> str:
    async def inner():
        return 1
    return inner()
"""


class Hostile(WorkerTest):
    def setUp(self):
        self.worker = self.served(HOSTILE)

    def tearDown(self):
        self.assert_text(self.worker.call("fine"), "fine")
        self.assertEqual(self.worker.end(), 0)

    def failed(self, tool, text, **more):
        result = self.worker.call(tool, **more)
        self.assertTrue(result["isError"])
        self.assertIn(text, result["content"][0]["text"])
        self.assertNotIn("\n", result["content"][0]["text"])
        return result

    def line(self, words):
        return HOSTILE[1:].split("\n").index("    " + words) + 2

    def test_file_descriptors_are_for_the_operator(self):
        self.assert_text(self.worker.call("raw"), "ok")
        self.assertEqual(self.worker.printed().split("\n")[:3], ['{"call":1,"result":{}}', "to the operator", "from a child"])

    def test_closed_streams(self):
        self.assert_text(self.worker.call("close_streams"), "ok")
        self.assertEqual(self.worker.call("echo", {"text": "x"})["content"][0]["text"], "x")

    def test_descriptors_that_a_call_closed_are_back_for_the_next(self):
        for put in (False, True):
            with self.subTest(put=put):
                self.assert_text(self.worker.call("close_all", {"put": put}), "ok")
                self.assert_text(self.worker.call("opens"), '[true,"",""]')
        self.assertEqual(self.worker.printed(), "raw\nwords\n" * 2)
        self.assertEqual(os.path.getsize(os.path.join(self.worker.folder, "mine")), 0)

    def test_exceptions_with_code_that_fails(self):
        result = self.failed("mute", "Mute: (its message cannot be read: its __str__ raised SystemExit) (file.py:")
        self.assertNotIn("Traceback", str(result))
        self.failed("broken_error", "Broken was raised, and telling of it raised KeyError")
        self.failed("error_of_error", "within")

    def test_nobody_reads_the_servers_words(self):
        self.assert_text(self.worker.call("read_input"), "('', b'')")
        listed = self.worker.call("inherits")["content"][0]["text"]
        self.assertEqual(listed, "[]")
        self.assertEqual(self.worker.call("environment")["content"][0]["text"], "[]")

    def test_exceptions_are_one_line_with_their_place(self):
        self.failed("fails", "ValueError: two lines (file.py:%d)" % self.line('raise ValueError("two\\nlines")'))
        level, logger, trace = self.worker.logs()[0]
        self.assertEqual((level, logger), ("error", "fails"))
        self.assertTrue(trace.startswith("Traceback"), trace)
        self.assertNotIn("mcp_bash", trace)
        self.failed("fails_below", "invalid literal for int()")
        self.failed("exits", "SystemExit: sys.exit(3) was called")
        self.failed("wild", "Wild: very")
        self.failed("interrupts", "KeyboardInterrupt")
        self.failed("deep", "RecursionError: maximum recursion depth exceeded")
        self.failed("tool_error", "Not today. Hint: come tomorrow")
        self.assertEqual(self.worker.said, [])

    def test_errors_of_the_protocol(self):
        error = self.worker.wait(self.worker.begin("tool", "protocol_error"))["error"]
        self.assertEqual(error, {"code": 503, "message": "busy", "data": {"retry": 1}})
        self.assertIn("no such function", self.worker.wait(self.worker.begin("tool", "nothing"))["error"]["message"])

    def test_results_that_are_none(self):
        self.failed("nan", "the result at x is nan, which JSON cannot express")
        self.failed("generator", "the result is of type generator")
        self.failed("coroutine", "the result is of type coroutine")

    def test_sizes(self):
        self.assertEqual(len(self.worker.call("large")["content"][0]["text"]), 9_000_000)
        self.failed("too_large", "The result of too_large is too large: 220000")
        text = "ä\u2028" * 500_000
        self.assertEqual(self.worker.call("echo", {"text": text})["content"][0]["text"], text)

    def test_arguments_that_do_not_fit(self):
        self.failed("echo", "Argument `text`: it is needed, and was not given")
        self.failed("echo", "Argument `other`: there is no such argument; known are: text", arguments={"text": "", "other": 1})

    def test_forks(self):
        self.assert_text(self.worker.call("fork"), "from the parent")
        for way in ("fork", "spawn"):
            with self.subTest(way=way):
                self.assertEqual(self.worker.call("processes", {"way": way})["content"][0]["text"], "[2,4]")

    def test_signals_of_others(self):
        for number in (signal.SIGIO, signal.SIGIO):
            self.worker.process.send_signal(number)
        self.assert_text(self.worker.call("fine"), "fine")


class Ends(WorkerTest):
    def test_a_process_that_ends_itself(self):
        host = self.served(HOSTILE)
        host.begin("tool", "dies")
        self.assertIsNone(host.read())
        self.assertEqual(host.end(), 7)

    def test_a_server_that_has_gone(self):
        host = self.served(HOSTILE)
        os.close(host.output)
        host.output = os.open(os.devnull, os.O_RDONLY)
        host.begin("tool", "fine")
        self.assertNotEqual(host.process.wait(10), None)

    def test_rubbish_from_the_server(self):
        host = self.served(HOSTILE)
        host.send_text("this is no JSON")
        self.assertEqual(host.process.wait(10), 1)


if __name__ == "__main__":
    unittest.main()
