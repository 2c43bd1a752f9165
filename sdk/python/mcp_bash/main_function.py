"""A script that is one typed function: see `script.main`."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable

from .capture import capture_output, flush_partial
from .call_context import current_call
from .declaring import Declaration
from .definitions import ToolFunction
from .encoding import encode
from .errors import Cancelled, DefinitionError, ProtocolError
from .failures import is_expected, principal, tool_failure, traceback_text
from .log_installing import install_if_used
from .script import ScriptContext, print_line, tell_protocol_error


def run(function: Callable[..., Any]) -> None:
    """Serves the single call, and exits."""
    try:
        offered = ToolFunction(Declaration("tool", function, {}))
    except DefinitionError as problem:
        sys.exit("%s: %s" % (os.path.basename(sys.argv[0]), problem))
    if sys.argv[1:] == ["--metadata"]:
        print_line(encode(offered.definition))
        sys.exit(0)
    sys.exit(_serve(offered))


def _serve(offered: ToolFunction) -> int:
    import signal

    signal.signal(signal.SIGTERM, _cancel)
    context = ScriptContext()
    current_call.set(context)
    capture_output()
    install_if_used()
    file = offered.file
    try:
        positional, named = offered.signature.prepare(context.arguments, context)
        value = offered.function(*positional, **named)
        if offered.is_async:
            import asyncio

            value = asyncio.run(value)
        text = offered.render(value, {})
    except BaseException as problem:
        told = principal(problem)[0]
        if isinstance(told, ProtocolError):
            tell_protocol_error(told)
            return 1
        if isinstance(told, Cancelled):
            return 143
        if not is_expected(problem):
            context.log("error", traceback_text(problem), offered.name)
        text = tool_failure(problem, file, offered.form.has_schema)
    flush_partial(context)
    print_line(text)
    return 0


def _cancel(*_: Any) -> None:
    raise Cancelled()

