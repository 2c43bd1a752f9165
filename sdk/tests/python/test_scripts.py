"""Plain scripts, one process per call, over the environment of docs/channel.md."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

from host import SDK


class ScriptTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, source):
        with open(self.path("tool.py"), "w") as file:
            file.write(textwrap.dedent(source))

    def environment(self, **variables):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("MCP")}
        return {**kept, "PYTHONPATH": SDK, "MCP_TOOL_NAME": "tool", **variables}

    def run_script(self, source, *words, **variables):
        self.write(source)
        return subprocess.run(
            [sys.executable, self.path("tool.py"), *words],
            env=self.environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            timeout=20,
        )

    def printed(self, source, **variables):
        done = self.run_script(source, **variables)
        self.assertEqual((done.returncode, done.stderr.replace(b"in between\n", b"")), (0, b""))
        return json.loads(done.stdout)


class Channel(ScriptTest):
    def test_arguments_and_results(self):
        source = """
            from mcp_bash import arguments, meta, result, roots
            result({"a": arguments()["a"], "meta": meta(), "roots": [root.path for root in roots()]})
        """
        expected = {"a": 1, "meta": {"t": 2}, "roots": ["/x"]}
        roots = '[{"uri":"file:///x","path":"/x"}]'
        shown = self.printed(source, MCP_TOOL_ARGS_JSON='{"a":1}', MCP_TOOL_META_JSON='{"t":2}', MCP_ROOTS_JSON=roots)
        self.assertEqual(shown["structuredContent"], expected)
        with open(self.path("args"), "w") as file:
            file.write('{"a":1}')
        shown = self.printed(source, MCP_TOOL_ARGS_FILE=self.path("args"))
        self.assertEqual(shown["structuredContent"], {"a": 1, "meta": {}, "roots": []})

    def test_progress_and_logs(self):
        stream = self.path("stream")
        open(stream, "w").close()
        self.run_script(
            """
            import logging
            from mcp_bash import log, progress
            progress(1, 2, "half")
            log.warning("words", n=1)
            log.info("x" * 10000)
            """,
            MCP_PROGRESS_STREAM=stream,
            MCP_LOG_STREAM=stream,
        )
        with open(stream) as file:
            lines = file.read().split("\n")[:-1]
        self.assertEqual(
            [json.loads(line) for line in lines[:2]],
            [
                {"method": "notifications/progress", "params": {"progress": 1, "total": 2, "message": "half"}},
                {
                    "method": "notifications/message",
                    "params": {"level": "warning", "data": {"message": "words", "n": 1}, "logger": "tool"},
                },
            ],
        )
        self.assertLess(len(lines[2]), 4096)
        self.assertTrue(json.loads(lines[2])["params"]["data"].endswith("…"))

    def test_without_a_server(self):
        done = self.run_script(
            """
            from mcp_bash import CannotAsk, arguments, ask, cancelled, folder, log, progress
            progress(1)
            log.info("x")
            assert arguments() == {} and not cancelled() and folder().is_dir()
            try:
                ask("x")
            except CannotAsk as problem:
                print(problem)
            """
        )
        self.assertEqual((done.stdout, done.stderr), (b"This client cannot be asked\n", b""))

    def answering(self, answer):
        """A socket like the server's, which answers one question."""
        path = self.path("socket")
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(path)
        server.listen(1)
        self.heard = []

        def serve():
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as lines:
                self.heard += [lines.readline().decode().strip(), json.loads(lines.readline())]
                connection.sendall(json.dumps(answer).encode() + b"\n")
            server.close()

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join)
        return {"MCP_ASK_SOCKET": path, "MCP_ASK_KEY": "key", "MCP_ELICIT_SUPPORTED": "1"}

    def test_questions(self):
        source = "from mcp_bash import ask, result\nresult(ask('How many?', int, timeout=9))"
        variables = self.answering({"result": {"action": "accept", "content": {"value": 3}}})
        self.assertEqual(self.printed(source, **variables)["content"][0]["text"], "3")
        self.assertEqual(self.heard[0], "key")
        self.assertEqual((self.heard[1]["method"], self.heard[1]["timeoutSecs"]), ("elicitation/create", 9))

    def test_roots_that_the_client_is_asked_for(self):
        source = "from mcp_bash import inside_roots, result\nresult(str(inside_roots('/theirs/x')))"
        own = {"MCP_ROOTS_ASK": "1", "MCP_ROOTS_JSON": '[{"uri":"file:///own","path":"/own"}]'}
        variables = self.answering({"result": {"roots": [{"uri": "file:///theirs", "path": "/theirs"}]}})
        self.assertEqual(self.printed(source, **own, **variables)["content"][0]["text"], "/theirs/x")
        self.assertEqual(self.heard[1], {"method": "roots/list"})
        refused = self.run_script(source, MCP_ROOTS_REFUSED="no path is allowed")
        self.assertEqual((refused.returncode, refused.stderr), (1, b"no path is allowed\n"))

    def test_a_refusal_is_the_end_of_standard_error(self):
        variables = self.answering({"result": {"action": "decline"}})
        done = self.run_script("from mcp_bash import ask\nask('How many?', int)", **variables)
        self.assertEqual((done.returncode, done.stderr), (1, b"The user declined to answer: How many?\n"))

    def test_cancelled(self):
        done = self.run_script(
            "from mcp_bash import cancelled\nprint(cancelled())", MCP_CANCEL_FILE=self.path("tool.py")
        )
        self.assertEqual(done.stdout, b"True\n")

    def test_exceptions(self):
        stream = self.path("stream")
        open(stream, "w").close()
        source = "from mcp_bash import arguments\n\nint(arguments()['a'])\n"
        done = self.run_script(source, MCP_TOOL_ARGS_JSON='{"a":"x"}', MCP_LOG_STREAM=stream)
        self.assertEqual(done.stderr, b"ValueError: invalid literal for int() with base 10: 'x' (tool.py:3)\n")
        with open(stream) as file:
            self.assertIn("Traceback", json.loads(file.read())["params"]["data"])

    def test_errors_of_the_protocol(self):
        source = "from mcp_bash import ProtocolError, arguments\narguments()\nraise ProtocolError(-32602, 'no', {'a': 1})\n"
        done = self.run_script(source, MCP_TOOL_ERROR_FILE=self.path("error"))
        self.assertEqual((done.returncode, done.stderr), (1, b"no\n"))
        with open(self.path("error")) as file:
            self.assertEqual(json.load(file), {"code": -32602, "message": "no", "data": {"a": 1}})


MAIN = """
    import datetime, sys, time
    from mcp_bash import ProtocolError, ToolError, main, progress

    @main
    def run(day: datetime.date, how: str = "fine") -> int:
        "Counts."
        print("in between")
        if how == "tool":
            raise ToolError("no", hint="yes")
        if how == "value":
            raise ValueError("bad")
        if how == "protocol":
            raise ProtocolError(7, "odd")
        if how == "sleep":
            open(sys.argv[0] + ".sleeping", "w").close()
            time.sleep(60)
        return day.year

    raise AssertionError("not reached")
"""


class Main(ScriptTest):
    def arguments(self, **values):
        return {"MCP_TOOL_ARGS_JSON": json.dumps({"day": "2026-01-31", **values})}

    def test_results(self):
        shown = self.printed(MAIN, **self.arguments())
        self.assertEqual(shown, {"content": [{"type": "text", "text": "2026"}], "structuredContent": {"result": 2026}})
        shown = self.printed(MAIN, **self.arguments(how="tool"))
        self.assertEqual((shown["isError"], shown["content"][0]["text"]), (True, "no. Hint: yes"))
        shown = self.printed(MAIN, **self.arguments(how="value"))
        self.assertEqual(shown["content"][0]["text"], "ValueError: bad (tool.py:12)")
        shown = self.printed(MAIN, **self.arguments(day="x"))
        self.assertEqual(shown["content"][0]["text"], 'Argument `day`: "x" is not a date (2026-01-31)')
        done = self.run_script(MAIN, MCP_TOOL_ERROR_FILE=self.path("error"), **self.arguments(how="protocol"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, b"", b"in between\nodd\n"))

    def test_prints_are_logs(self):
        stream = self.path("stream")
        open(stream, "w").close()
        self.printed(MAIN, MCP_LOG_STREAM=stream, **self.arguments())
        with open(stream) as file:
            self.assertEqual(json.loads(file.read())["params"], {"level": "info", "data": "in between", "logger": "stdout"})

    def test_async_functions(self):
        source = "from mcp_bash import main\n@main\nasync def run() -> str:\n    return 'x'\n"
        self.assertEqual(self.printed(source)["structuredContent"], {"result": "x"})

    def test_metadata(self):
        done = self.run_script(MAIN, "--metadata")
        self.assertEqual(json.loads(done.stdout)["inputSchema"]["required"], ["day"])

    def test_cancellation(self):
        self.write(MAIN)
        process = subprocess.Popen(
            [sys.executable, self.path("tool.py")],
            env=self.environment(**self.arguments(how="sleep")),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
        with process:
            while not os.path.exists(self.path("tool.py.sleeping")):
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            self.assertEqual((process.stdout.read(), process.wait(5)), (b"", 143))

    def test_as_a_module_it_is_a_function(self):
        self.write(MAIN.replace("raise Assertion", "# "))
        program = "import datetime, tool; print(tool.run(datetime.date(2026, 1, 1)))"
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=self.folder.name, env=self.environment(), stdout=subprocess.PIPE
        )
        self.assertEqual(done.stdout.split(b"\n")[-2], b"2026")


class Cost(unittest.TestCase):
    def test_a_script_loads_only_what_it_uses(self):
        program = (
            "import sys; before = set(sys.modules)\n"
            "from mcp_bash import Image, ToolError, arguments, ask, log, main, progress, result\n"
            "print(*sorted(set(sys.modules) - before))"
        )
        environment = {**os.environ, "PYTHONPATH": SDK}
        done = subprocess.run([sys.executable, "-S", "-c", program], env=environment, stdout=subprocess.PIPE)
        loaded = set(done.stdout.decode().split())
        for heavy in ("typing", "inspect", "dataclasses", "asyncio", "logging", "re", "json", "enum", "threading", "ast"):
            with self.subTest(module=heavy):
                self.assertNotIn(heavy, loaded)


if __name__ == "__main__":
    unittest.main()
