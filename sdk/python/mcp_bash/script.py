"""Plain scripts, one process per call: the same functions, over the environment that the server sets
(docs/channel.md)."""

from __future__ import annotations

import os
import sys

from .call_context import Context, current
from .errors import CannotAsk
from .json_types import error_message, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Callable, Dict, Optional, TypeVar

    from .errors import ProtocolError

    F = TypeVar("F", bound=Callable[..., Any])

# A line up to this length is written atomically if several processes write.
_LONGEST_LINE = 4096


class ScriptContext(Context):
    """The call of this process. Without a server, the arguments are empty and messages and questions go
    nowhere."""

    def __init__(self) -> None:
        super().__init__(_Facts())
        self.partial: Dict[str, str] = {}
        self._temporary: Optional[Any] = None
        if os.environ.get("MCP_TOOL_NAME"):
            sys.excepthook = _tell_of_failure

    @property
    def cancelled(self) -> bool:
        file = os.environ.get("MCP_CANCEL_FILE")
        return bool(file) and os.path.exists(str(file))

    @property
    def folder(self) -> Path:
        from pathlib import Path

        stream = os.environ.get("MCP_CANCEL_FILE") or os.environ.get("MCP_TOOL_ERROR_FILE")
        if stream:
            return Path(stream).parent
        import tempfile

        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="mcp-bash-call-")
        return Path(self._temporary.name)

    def hears_prints(self) -> bool:
        """Whether printed output is logged."""
        return bool(os.environ.get("MCP_LOG_STREAM"))

    def notify(self, method: str, params: Dict[str, Any]) -> None:
        variable = "MCP_PROGRESS_STREAM" if method == "notifications/progress" else "MCP_LOG_STREAM"
        stream = os.environ.get(variable)
        if stream:
            _append(stream, _line(method, params))

    def put_question(self, question: Dict[str, Any]) -> Any:
        import json
        import socket

        from .encoding import encode, to_bytes

        answered = b""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            try:
                connection.connect(os.environ["MCP_ASK_SOCKET"])
                words = "%s\n%s\n" % (os.environ.get("MCP_ASK_KEY", ""), encode(question))
                connection.sendall(to_bytes(words))
                while not answered.endswith(b"\n"):
                    part = connection.recv(65536)
                    if not part:
                        break
                    answered += part
            except OSError as problem:
                raise CannotAsk("The question could not be put: %s" % problem) from None
        if not answered.strip():
            raise CannotAsk("No answer came")
        answer: Dict[str, Any] = json.loads(answered)
        if "result" not in answer:
            raise CannotAsk(error_message(answer))
        return answer["result"]


def _tell_of_failure(_: Any, problem: BaseException, __: Any) -> None:
    """The server shows the end of a failed script's standard error: one line. The traceback goes to the
    log."""
    from .errors import ProtocolError
    from .failures import is_expected, one_line, traceback_text

    if not is_expected(problem):
        current().log("error", traceback_text(problem), "traceback")
    if isinstance(problem, ProtocolError):
        tell_protocol_error(problem)
    else:
        words = str(problem) if is_expected(problem) else one_line(problem, os.path.abspath(sys.argv[0]))
        os.write(2, (words + "\n").encode("utf-8", "replace"))


def tell_protocol_error(problem: ProtocolError) -> None:
    """Writes a protocol error for the server; then the script must fail."""
    from .encoding import encode

    file = os.environ.get("MCP_TOOL_ERROR_FILE")
    if file:
        with open(file, "w", encoding="utf-8") as opened:
            opened.write(encode(problem.describe()))
    os.write(2, (problem.message + "\n").encode("utf-8", "replace"))


class _Facts:
    """The data of the call in the environment, each read on demand."""

    def __init__(self) -> None:
        self._known: Dict[str, Any] = {}

    def get(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = _READERS[name]() if name in _READERS else None
        return self._known[name]


def _json_of(name: str) -> Any:
    """The variable, or the file that replaces it if it is long."""
    import json

    text = os.environ.get(name + "_JSON")
    file = os.environ.get(name + "_FILE")
    if text is None and file:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
    return json.loads(text) if text else None


def _arguments() -> Any:
    found = _json_of("MCP_TOOL_ARGS") or _json_of("MCP_PROMPT_ARGS")
    return found if is_object(found) else {}


def _trace() -> Any:
    names = ("traceparent", "tracestate", "baggage")
    return {name: os.environ[name.upper()] for name in names if os.environ.get(name.upper())}


_READERS: "Dict[str, Callable[[], Any]]" = {
    "tool": lambda: os.environ.get("MCP_TOOL_NAME"),
    "prompt": lambda: os.environ.get("MCP_PROMPT_NAME"),
    "resource": lambda: os.environ.get("MCP_RESOURCE_URI"),
    "arguments": _arguments,
    "meta": lambda: _json_of("MCP_TOOL_META"),
    "roots": lambda: _json_of("MCP_ROOTS"),
    "rootsRefused": lambda: os.environ.get("MCP_ROOTS_REFUSED"),
    "askForRoots": lambda: os.environ.get("MCP_ROOTS_ASK") == "1",
    "trace": _trace,
    "elicit": lambda: os.environ.get("MCP_ELICIT_SUPPORTED") == "1",
    "ask": lambda: bool(os.environ.get("MCP_ASK_SOCKET")),
}


def _line(method: str, params: Dict[str, Any]) -> bytes:
    from .encoding import encode, to_bytes

    line = to_bytes(encode({"method": method, "params": params}) + "\n")
    if len(line) <= _LONGEST_LINE:
        return line
    room = (_LONGEST_LINE - 512) // 4
    cut = {key: value[:room] + "…" if isinstance(value, str) and len(value) > room else value for key, value in params.items()}
    if cut == params:
        cut["data"] = encode(params.get("data"))[:room] + "…"
    return to_bytes(encode({"method": method, "params": cut}) + "\n")


def _append(stream: str, line: bytes) -> None:
    try:
        fd = os.open(stream, os.O_WRONLY | os.O_APPEND)
    except OSError:
        return
    try:
        os.write(fd, line)
    except OSError:
        pass
    finally:
        os.close(fd)


def result(value: Any = None, *, structured: Any = None, is_error: bool = False) -> None:
    """Prints the result of a script: any value that a function may return."""
    from .contents import Result
    from .rendering import ResultForm, render_tool

    if structured is not None or is_error:
        value = Result(value, structured=structured, is_error=is_error)
    print_line(render_tool(value, ResultForm()))


def print_line(text: str) -> None:
    from .encoding import to_bytes

    sys.__stdout__.buffer.write(to_bytes(text + "\n"))  # type: ignore[union-attr]
    sys.__stdout__.buffer.flush()  # type: ignore[union-attr]


def main(function: F) -> F:
    """Makes a typed function the whole script: it receives the arguments, and its return value is printed as
    the result. Put it last in the file. ``--metadata`` as the only argument prints the metadata for the file
    beside the script."""
    if getattr(function, "__module__", None) == "__main__":
        from .main_function import run

        run(function)
    return function
