"""The client that runs the functions of a file in the process of the test, without a server."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from ..call_context import current_call
from ..definitions import Definitions, Offered, ToolFunction
from ..encoding import NotJson, decode, encode
from ..errors import BadArgument, ProtocolError
from ..failures import is_expected, principal, request_failure, tool_failure, traceback_text
from ..frame_limits import misfit
from ..mismatch import Mismatch
from ..schema_check import check, fits
from ..uri_matching import find_resource
from .answers import Answers, NoAnswer
from .call import LocalCall
from .loading import Target, definitions_of
from .requests import TestClient

# The members of a tool that clients see.
_OF_TOOL = frozenset("name title description inputSchema outputSchema annotations icons _meta".split())


class Client(TestClient):
    """Calls the functions of a file, or of a module, as a server would: arguments are checked against the schema and
    converted, results and errors are rendered, and the function sees a call. Patches of the test apply, because the
    functions run in its own process.

    ``session=False`` is a client of the stateless protocol, for which there is no state of a session.
    """

    def __init__(
        self,
        target: Target,
        *,
        answers: Answers = None,
        caller: str = "test",
        meta: Optional[Mapping[str, Any]] = None,
        roots: Sequence[str] = (),
        session: bool = True,
    ) -> None:
        super().__init__(answers)
        self._definitions: Definitions = definitions_of(target)
        self._facts: Dict[str, Any] = {"caller": caller, "meta": dict(meta or {}), "progress": True}
        self._facts["roots"] = [{"uri": "file://" + path, "path": path} for path in roots]
        self._state: Optional[Dict[str, Any]] = {} if session else None
        self._loop: Optional[asyncio.AbstractEventLoop] = None

    def __enter__(self) -> Client:
        return self

    def close(self) -> None:
        """Closes what `@keep` has kept. The next client starts without it."""
        keeping: Any = sys.modules.get("mcp_bash.keeping")
        if keeping is not None:
            if self._loop is not None:
                self._loop.run_until_complete(keeping.end_all_async())
            keeping.end_all()
            keeping.forget_all()
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def _request(self, method: str, params: Dict[str, Any]) -> Dict[str, Any]:
        handlers: Dict[str, Callable[[Dict[str, Any]], Dict[str, Any]]] = {
            "tools/call": self._call,
            "resources/read": self._read,
            "prompts/get": self._get,
        }
        if method in handlers:
            return handlers[method](params)
        return self._listed()[method]

    def _listed(self) -> Dict[str, Dict[str, Any]]:
        known: Dict[str, Any] = decode(encode(self._definitions.describe()))
        tools = [{key: value for key, value in tool.items() if key in _OF_TOOL} for tool in known.get("tools", [])]
        return {
            "tools/list": {"tools": tools},
            "resources/list": {"resources": known.get("resources", [])},
            "resources/templates/list": {"resourceTemplates": known.get("templates", [])},
            "prompts/list": {"prompts": known.get("prompts", [])},
        }

    def _call(self, params: Dict[str, Any]) -> Dict[str, Any]:
        tool = self._definitions.tools.get(params["name"])
        if tool is None:
            known = ", ".join(self._definitions.tools) or "none"
            raise ProtocolError(-32602, "Unknown tool: %s; known are: %s" % (params["name"], known))
        arguments = decode(encode(params["arguments"]))
        return self._run(tool, {"tool": tool.name, "arguments": arguments})

    def _read(self, params: Dict[str, Any]) -> Dict[str, Any]:
        found = find_resource(self._definitions, params["uri"])
        if found is None:
            raise ProtocolError(-32002, "Resource not found: %s" % params["uri"])
        function, values = found
        return self._run(function, {"resource": params["uri"], "name": function.name, "arguments": values})

    def _get(self, params: Dict[str, Any]) -> Dict[str, Any]:
        prompt = self._definitions.prompts.get(params["name"])
        if prompt is None:
            raise ProtocolError(-32602, "Unknown prompt: %s" % params["name"])
        return self._run(prompt, {"prompt": prompt.name, "arguments": params["arguments"]})

    def _run(self, function: Offered, frame: Dict[str, Any]) -> Dict[str, Any]:
        answering = self._answering
        facts = {**self._facts, **frame, "ask": answering.can_answer, "elicit": answering.can_answer}
        if "tool" in frame and self._state is not None:
            facts["state"] = dict(self._state)
        call = LocalCall(facts, self._definitions, answering, self._meanwhile)
        call.awaits = function.is_async
        variables = contextvars.copy_context()
        variables.run(current_call.set, call)
        try:
            rendered = self._perform(function, frame, call, variables)
        finally:
            call.end()
        problem = misfit('{"result":%s}' % rendered)
        if problem is not None:
            raise ProtocolError(-32603, "The result of %s cannot be sent: it %s" % (function.name, problem))
        result: Dict[str, Any] = decode(rendered)
        return result

    def _perform(self, function: Offered, frame: Dict[str, Any], call: LocalCall, variables: contextvars.Context) -> str:
        try:
            if isinstance(function, ToolFunction):
                _check(function, frame["arguments"])
            positional, named = function.prepare(frame, call)
            if function.is_async:
                value = self._awaited(function.function, positional, named, variables)
            else:
                value = variables.run(function.function, *positional, **named)
            rendered = function.render(value, frame)
            self._keep(call)
            return rendered
        except (KeyboardInterrupt, GeneratorExit, NoAnswer):
            raise
        except BaseException as problem:
            return self._failure(problem, function, call)

    def _awaited(self, function: Any, positional: Any, named: Any, variables: contextvars.Context) -> Any:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise AssertionError("an async test cannot call the client, which has its own event loop: write `def test_…`")
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        loop = self._loop

        async def run() -> Any:
            return await function(*positional, **named)

        return loop.run_until_complete(variables.run(loop.create_task, run()))

    def _keep(self, call: LocalCall) -> None:
        changes = call.changed_state()
        if changes is not None and self._state is not None:
            kept = {key: value for key, value in self._state.items() if key not in changes["delete"]}
            self._state = {**kept, **decode(encode(changes["set"]))}

    def _failure(self, problem: BaseException, function: Offered, call: LocalCall) -> str:
        """The result of a tool that failed. Raises `ProtocolError` for a request that did."""
        if not is_expected(problem):
            call.log("error", traceback_text(problem), function.name)
        if isinstance(function, ToolFunction) and not isinstance(principal(problem)[0], ProtocolError):
            return tool_failure(problem, function.file, function.form.has_schema)
        error: Dict[str, Any] = decode(request_failure(problem, function.file))
        raise ProtocolError(error["code"], error["message"], error.get("data")) from problem


def _check(tool: ToolFunction, arguments: Dict[str, Any]) -> None:
    """Checks the arguments as a server does. Null for an argument that has another default counts as left out."""
    schema: Dict[str, Any] = tool.definition["inputSchema"]
    definitions = schema.get("$defs", {})
    known: Dict[str, Any] = schema["properties"]
    for name in [name for name, value in arguments.items() if value is None and name in known]:
        if name not in schema.get("required", ()) and not fits(None, known[name], definitions):
            del arguments[name]
    for name, value in arguments.items():
        if name not in known:
            continue
        try:
            check(value, known[name], definitions)
        except (Mismatch, NotJson) as problem:
            raise BadArgument(name, str(problem)) from None
