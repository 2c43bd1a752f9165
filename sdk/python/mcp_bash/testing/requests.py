"""The requests of a test client, whatever carries them."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .answers import Answering, Answers
from .results import Meanwhile, PromptResult, ResourceResult, ToolResult


class TestClient:
    """Lists and calls what is served. ``answers`` are for the questions of functions: a list, used up in its order, or a
    function of the question (`Asked`). Without any, the client says that it cannot be asked."""

    # Not a test of pytest.
    __test__ = False

    def __init__(self, answers: Answers = None) -> None:
        self._answering = Answering(answers)
        self._meanwhile = Meanwhile()

    def answer(self, answers: Answers) -> None:
        """Other answers, from now on."""
        self._answering = Answering(answers)

    def list_tools(self) -> List[Dict[str, Any]]:
        return self._list("tools/list", "tools")

    def list_resources(self) -> List[Dict[str, Any]]:
        return self._list("resources/list", "resources")

    def list_resource_templates(self) -> List[Dict[str, Any]]:
        return self._list("resources/templates/list", "resourceTemplates")

    def list_prompts(self) -> List[Dict[str, Any]]:
        return self._list("prompts/list", "prompts")

    def call_tool(
        self, name: str, arguments: Optional[Mapping[str, Any]] = None, *, raise_on_error: bool = True
    ) -> ToolResult:
        """Calls a tool. A result that is an error raises `ToolError`, unless ``raise_on_error`` is False."""
        params = {"name": name, "arguments": dict(arguments or {})}
        result = ToolResult(*self._exchange("tools/call", params))
        return result.or_raise() if raise_on_error else result

    def read_resource(self, uri: str) -> ResourceResult:
        """Reads a resource. Raises `ProtocolError` if there is none."""
        return ResourceResult(*self._exchange("resources/read", {"uri": uri}))

    def get_prompt(self, name: str, arguments: Optional[Mapping[str, str]] = None) -> PromptResult:
        return PromptResult(*self._exchange("prompts/get", {"name": name, "arguments": dict(arguments or {})}))

    def close(self) -> None:
        """Ends what the client has started."""

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exchange(self, method: str, params: Dict[str, Any]) -> Any:
        """The result of a request, and what came meanwhile."""
        self._meanwhile = Meanwhile()
        self._meanwhile.asked = self._answering.asked = []
        return self._request(method, params), self._meanwhile

    def _list(self, method: str, member: str) -> List[Dict[str, Any]]:
        found: List[Dict[str, Any]] = []
        params: Dict[str, Any] = {}
        while True:
            page = self._request(method, params)
            found += page[member]
            if not page.get("nextCursor"):
                return found
            params = {"cursor": page["nextCursor"]}

    def _request(self, method: str, params: Dict[str, Any]) -> Dict[str, Any]:
        """The result of a request. Raises `ProtocolError`."""
        raise NotImplementedError
