"""A call in the process of a test: the context that a function sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Optional

from ..call_context import Context
from ..definitions import Definitions
from ..encoding import decode, encode
from .answers import Answering
from .results import Meanwhile


class LocalCall(Context):
    """One call. Its messages go to the result, and its questions to the answers of the test."""

    def __init__(self, facts: Dict[str, Any], definitions: Definitions, answering: Answering, meanwhile: Meanwhile) -> None:
        super().__init__(facts)
        self._definitions = definitions
        self._answering = answering
        self._meanwhile = meanwhile
        self._temporary: Any = None
        # Whether an async function runs: it has to await its questions, as in a server.
        self.awaits = False
        self.ended = False

    @property
    def definitions(self) -> Definitions:
        return self._definitions

    @property
    def must_await(self) -> bool:
        return self.awaits

    @property
    def is_open(self) -> bool:
        return not self.ended

    @property
    def folder(self) -> Path:
        if self._temporary is None:
            import tempfile

            self._temporary = tempfile.TemporaryDirectory(prefix="mcp-bash-call-")
        return Path(self._temporary.name)

    def end(self) -> None:
        self.ended = True
        if self._temporary is not None:
            self._temporary.cleanup()

    def notify(self, method: str, params: Dict[str, Any]) -> None:
        self._meanwhile.note(method, decode(encode(params)))

    def put_question(self, question: Dict[str, Any]) -> Any:
        if self.awaits:
            raise RuntimeError("an async function asks with `await aio.ask(…)` (from mcp_bash import aio)")
        return self._answer(question)

    async def put_question_async(self, question: Dict[str, Any]) -> Any:
        return self._answer(question)

    def _answer(self, question: Dict[str, Any]) -> Any:
        question = decode(encode(question))
        several: Optional[Dict[str, Any]] = question.get("questions")
        if several is not None:
            return {name: {"result": self._answer(one)} for name, one in several.items()}
        return self._answering.answer(question["method"], question.get("params"))
