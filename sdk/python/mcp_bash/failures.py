"""An exception as one line that a model can act on. The whole traceback goes to the log, never to the model."""

from __future__ import annotations

import os

from .encoding import NotJson, encode
from .errors import ProtocolError, ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional

_LONGEST = 2000
_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def one_line(problem: BaseException, file: Optional[str]) -> str:
    """``ValueError: no such day (sums.py:12)``."""
    words = " ".join(str(problem).split())
    if len(words) > _LONGEST:
        words = words[:_LONGEST] + "…"
    name = type(problem).__name__
    if isinstance(problem, SystemExit):
        name, words = "SystemExit", "sys.exit(%s) was called" % ("" if problem.code is None else repr(problem.code))
    place = line_of(problem, file)
    return name + (": " + words if words else "") + (" (%s)" % place if place else "")


def line_of(problem: BaseException, file: Optional[str]) -> Optional[str]:
    """The last line of the person's own file that the exception came through, else of any file that is not ours."""
    own = other = None
    step = problem.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if name == file:
            own = "%s:%d" % (os.path.basename(name), step.tb_lineno)
        elif file is None and not name.startswith((_OWN_FOLDER, "<")):
            other = "%s:%d" % (os.path.basename(name), step.tb_lineno)
        step = step.tb_next
    return own or other


def traceback_text(problem: BaseException) -> str:
    """The traceback without our own frames above the person's function."""
    import traceback

    step = problem.__traceback__
    while step is not None and step.tb_next is not None:
        if not step.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER):
            break
        step = step.tb_next
    return "".join(traceback.format_exception(type(problem), problem, step)).rstrip()


def is_expected(problem: BaseException) -> bool:
    """Whether a person raised it to be told, so that no traceback is of use."""
    return isinstance(problem, (ToolError, ProtocolError, NotJson))


def tool_failure(problem: BaseException, file: Optional[str], has_schema: bool) -> str:
    """A CallToolResult with ``isError``."""
    error: Dict[str, Any]
    if isinstance(problem, ToolError):
        text, error = problem.text(), problem.describe()
    else:
        text = str(problem) if isinstance(problem, NotJson) else one_line(problem, file)
        error = {"type": type(problem).__name__, "message": text}
    result: Dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    # Some clients hold the structured content of errors to the schema of results, too.
    if has_schema:
        result["_meta"] = {"mcpbash/error": error}
    else:
        result["structuredContent"] = {"success": False, "error": error}
    try:
        return encode(result)
    except NotJson as fault:
        return encode({"content": [{"type": "text", "text": "%s (its details: %s)" % (text, fault)}], "isError": True})


def request_failure(problem: BaseException, file: Optional[str]) -> str:
    """A JSON-RPC error, for resources and prompts."""
    if isinstance(problem, ProtocolError):
        error = problem.describe()
    elif isinstance(problem, ToolError):
        code = -32602 if problem.type == "invalid_argument" else -32603
        error = {"code": code, "message": problem.text(), "data": problem.describe()}
    elif isinstance(problem, FileNotFoundError):
        error = {"code": -32002, "message": one_line(problem, file)}
    else:
        text = str(problem) if isinstance(problem, NotJson) else one_line(problem, file)
        error = {"code": -32603, "message": text}
    try:
        return encode(error)
    except NotJson:
        return encode({"code": error["code"], "message": error["message"]})
