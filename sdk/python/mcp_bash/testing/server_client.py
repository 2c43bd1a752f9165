"""The client that starts `mcp-bash` and talks to it over pipes: the whole way, with the server's own checks."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
import time
from typing import Any, Dict, List, Mapping, Optional, Union

from ..encoding import decode, encode, to_bytes
from ..errors import ProtocolError
from .answers import Answers, NoAnswer
from .requests import TestClient

_REVISION = "2025-11-25"


class ServerClient(TestClient):
    """A session with a server of the project in ``folder``.

    ``program`` is the server, otherwise the `mcp-bash` that `MCPBASH_PROGRAM` names or the PATH has. A request may take
    ``timeout`` seconds.
    """

    def __init__(
        self,
        folder: Union[str, "os.PathLike[str]"] = ".",
        *,
        answers: Answers = None,
        program: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        timeout: float = 60,
    ) -> None:
        super().__init__(answers)
        found = program or os.environ.get("MCPBASH_PROGRAM") or shutil.which("mcp-bash")
        if found is None:
            raise FileNotFoundError("there is no `mcp-bash` on the PATH; name it: ServerClient(program=…) or MCPBASH_PROGRAM")
        self._timeout = timeout
        self._number = 0
        self._rest = b""
        self._unanswered: Optional[NoAnswer] = None
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [found, "--project-root", os.fspath(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **(env or {})},
        )
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> ServerClient:
        return self

    def _begin(self) -> None:
        can_ask: Dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}}
        self._request(
            "initialize",
            {
                "protocolVersion": _REVISION,
                "capabilities": can_ask if self._answering.can_answer else {},
                "clientInfo": {"name": "mcp_bash.testing", "version": "1"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._request("logging/setLevel", {"level": "debug"})

    def close(self) -> None:
        """Closes the pipes, and waits for the end of the server."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.close()
        except OSError:
            pass
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._errors.close()

    def _request(self, method: str, params: Dict[str, Any]) -> Dict[str, Any]:
        self._number += 1
        number = self._number
        params = {**params, "_meta": {"progressToken": number}}
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        end = time.monotonic() + self._timeout
        while True:
            message = self._receive(end, method)
            if "method" in message:
                self._take(message)
            elif message.get("id") == number:
                return self._result(message)

    def _result(self, message: Dict[str, Any]) -> Dict[str, Any]:
        unanswered, self._unanswered = self._unanswered, None
        if unanswered is not None:
            raise unanswered
        if "error" in message:
            error = message["error"]
            raise ProtocolError(error["code"], error["message"], error.get("data"))
        result: Dict[str, Any] = message["result"]
        return result

    def _take(self, message: Dict[str, Any]) -> None:
        """A notification, or a question of the server."""
        params: Dict[str, Any] = message.get("params") or {}
        if "id" not in message:
            self._meanwhile.note(message["method"], params)
            return
        reply: Dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping":
            reply["result"] = {}
        elif message["method"] in ("elicitation/create", "sampling/createMessage"):
            try:
                reply["result"] = self._answering.answer(message["method"], params)
            except NoAnswer as problem:
                self._unanswered = problem
                reply["error"] = {"code": -32603, "message": str(problem)}
        else:
            reply["error"] = {"code": -32601, "message": "a test client has no %s" % message["method"]}
        self._send(reply)

    def _send(self, message: Dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(to_bytes(encode(message) + "\n"))
            self._process.stdin.flush()
        except OSError:
            raise ConnectionError("the server has gone.%s" % self._printed()) from None

    def _receive(self, end: float, method: str) -> Dict[str, Any]:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError("no answer to %s within %s seconds.%s" % (method, self._timeout, self._printed()))
            data = os.read(descriptor, 65536)
            if not data:
                raise ConnectionError("the server has gone.%s" % self._printed())
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        message: Dict[str, Any] = decode(line.decode("utf-8"))
        return message

    def _printed(self) -> str:
        """The end of what the server has printed."""
        self._errors.seek(0)
        lines: List[str] = self._errors.read().decode("utf-8", "replace").splitlines()
        return " It printed:\n" + "\n".join(lines[-20:]) if lines else ""
