"""The server's side of a worker, for tests: starts the real program with real pipes and speaks its
protocol."""

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

SDK = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "python")
WORKER = os.path.join(SDK, "worker.py")
PATIENCE = 20


class Host:
    """A worker for a file whose text is in the test."""

    def __init__(self, source, name="tools/file.py", env=None, files=None, python=sys.executable):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="mcp-bash-test-"))
        self.file = os.path.join(self.folder, name)
        for path, text in {name: source, **(files or {})}.items():
            path = os.path.join(self.folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(textwrap.dedent(text))
        self.numbers = 0
        self.buffer = b""
        self.frames = []
        self._start(python, env or {})
        self.ready = self.read()

    def _start(self, python, env):
        input_read, self.input = map(_high, os.pipe())
        self.output, output_write = map(_high, os.pipe())
        self.errors = tempfile.TemporaryFile()
        environment = {
            **os.environ,
            "MCP_WORKER": "1",
            "MCP_WORKER_OUTPUT": "/dev/fd/%d" % output_write,
            "MCPBASH_PROJECT_ROOT": self.folder,
            "PYTHONPATH": SDK,
            **env,
        }
        self.process = subprocess.Popen(
            [python, WORKER, self.file],
            stdin=input_read,
            stdout=self.errors,
            stderr=self.errors,
            pass_fds=[output_write],
            cwd=self.folder,
            env=environment,
        )
        os.close(input_read)
        os.close(output_write)

    def send(self, **frame):
        self.send_text(json.dumps(frame))

    def send_text(self, text):
        data = text.encode() + b"\n"
        while data:
            data = data[os.write(self.input, data) :]

    def begin(self, kind, what, arguments=None, **more):
        """Sends a call, and returns its number."""
        self.numbers += 1
        self.send(call=self.numbers, **{kind: what}, arguments=arguments or {}, **more)
        return self.numbers

    def call(self, tool, arguments=None, **more):
        """A call of a tool, from its start to its result. Its messages are in `said`."""
        return self.wait(self.begin("tool", tool, arguments, **more))["result"]

    def wait(self, number):
        """The frame that answers a call."""
        self.said = []
        while True:
            frame = self.read()
            if frame is None:
                raise AssertionError("the worker ended:\n" + self.printed())
            if frame.get("call") == number and ("result" in frame or "error" in frame):
                return frame
            self.said.append(frame)

    def read(self):
        """The next frame; None at the end."""
        end = time.monotonic() + PATIENCE
        while b"\n" not in self.buffer:
            if not select.select([self.output], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError("no frame came:\n" + self.printed())
            data = os.read(self.output, 1 << 20)
            if not data:
                return None
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line)

    def logs(self):
        """The logs of the last call: level, logger and data."""
        found = [frame["params"] for frame in self.said if frame.get("method") == "notifications/message"]
        return [(one["level"], one.get("logger"), one["data"]) for one in found]

    def printed(self):
        """The output for the operator."""
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace")

    def close_input(self):
        if self.input is not None:
            os.close(self.input)
            self.input = None

    def end(self):
        """Closes the input, and returns the exit code."""
        self.close_input()
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the worker did not end:\n" + self.printed())
        os.close(self.output)
        return code

    def drop(self):
        """Kills whatever is left of it."""
        self.close_input()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        try:
            os.close(self.output)
        except OSError:
            pass
        self.errors.close()
        subprocess.call(["rm", "-rf", self.folder])


def _high(fd):
    """Away from descriptor 3 and its neighbours."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 40)
    os.close(fd)
    return moved


class WorkerTest(unittest.TestCase):
    """Tests that start workers."""

    maxDiff = None

    def host(self, source, **more):
        host = Host(source, **more)
        self.addCleanup(host.drop)
        return host

    def served(self, source, **more):
        """A worker that has started."""
        host = self.host(source, **more)
        self.assertIn("ready", host.ready, host.ready)
        return host

    def assert_text(self, result, text):
        self.assertEqual(result["content"][0]["text"], text)
