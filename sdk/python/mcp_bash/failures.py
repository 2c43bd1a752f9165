"""Turns an exception into one line that a model can act on. The whole traceback goes to the log, never to the
model."""

from __future__ import annotations

import os

from .encoding import NotJson, encode
from .errors import ProtocolError, ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

_LONGEST = 2000
_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def one_line(problem: BaseException, file: Optional[str]) -> str:
    """``ValueError: no such day (sums.py:12)``. A group of exceptions is represented by one of them."""
    problem, others = principal(problem)
    words = " ".join(_words_of(problem).split())
    if len(words) > _LONGEST:
        words = words[:_LONGEST] + "…"
    name = type(problem).__name__
    if isinstance(problem, SystemExit):
        name, words = "SystemExit", "sys.exit(%s) was called" % ("" if problem.code is None else repr(problem.code))
    place = line_of(problem, file)
    if isinstance(problem, ModuleNotFoundError):
        from .missing_modules import remedy

        others += remedy(problem)
    return name + (": " + words if words else "") + (" (%s)" % place if place else "") + others


def _words_of(problem: BaseException) -> str:
    try:
        return str(problem)
    except BaseException as fault:
        return "(its message cannot be read: its __str__ raised %s)" % type(fault).__name__


def principal(problem: BaseException) -> Tuple[BaseException, str]:
    """Of a group of exceptions, as `asyncio.TaskGroup` raises it, the one to report: the first one meant for
    the model, otherwise the first. Also the number of the others, in words."""
    leaves = _leaves(problem)
    told = next((leaf for leaf in leaves if _is_for_model(leaf)), leaves[0])
    more = len(leaves) - 1
    return told, " (and %d more error%s)" % (more, "" if more == 1 else "s") if more else ""


def _leaves(problem: BaseException) -> List[BaseException]:
    # By name: before Python 3.11 other packages define such groups.
    if not any(base.__name__ == "BaseExceptionGroup" for base in type(problem).__mro__):
        return [problem]
    held: Tuple[BaseException, ...] = getattr(problem, "exceptions", ())
    return [leaf for one in held for leaf in _leaves(one)] or [problem]


def _is_for_model(problem: BaseException) -> bool:
    return isinstance(problem, (ToolError, ProtocolError, NotJson))


def line_of(problem: BaseException, file: Optional[str]) -> Optional[str]:
    """The last line of the author's own file that the exception passed, otherwise of any file outside the
    SDK."""
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
    """The traceback without the SDK's frames above the author's function."""
    import traceback

    step = problem.__traceback__
    while step is not None and step.tb_next is not None:
        if not step.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER):
            break
        step = step.tb_next
    return "".join(traceback.format_exception(type(problem), problem, step)).rstrip()


def is_expected(problem: BaseException) -> bool:
    """Whether it was raised for the model, so that a traceback is useless."""
    return all(_is_for_model(leaf) for leaf in _leaves(problem))


def tool_failure(problem: BaseException, file: Optional[str], has_schema: bool) -> str:
    """A CallToolResult with ``isError``."""
    error: Dict[str, Any]
    told, others = principal(problem)
    if isinstance(told, ToolError):
        text, error = told.text() + others, told.describe()
    else:
        text = str(told) + others if isinstance(told, NotJson) else one_line(problem, file)
        error = {"type": type(told).__name__, "message": text}
    result: Dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    # Some clients check the structured content of errors against the result schema, too.
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
    told, others = principal(problem)
    if isinstance(told, ProtocolError):
        error = told.describe()
    elif isinstance(told, ToolError):
        code = -32602 if told.type == "invalid_argument" else -32603
        error = {"code": code, "message": told.text() + others, "data": told.describe()}
    elif isinstance(told, FileNotFoundError):
        error = {"code": -32002, "message": one_line(problem, file)}
    else:
        text = str(told) + others if isinstance(told, NotJson) else one_line(problem, file)
        error = {"code": -32603, "message": text}
    try:
        return encode(error)
    except NotJson:
        return encode({"code": error["code"], "message": error["message"]})
