"""The answers of a test to the questions of functions."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ..encoding import decode, encode


class Asked:
    """A question: its message, and for a form its schema. A question to the model has its messages in ``params``."""

    def __init__(self, method: str, params: Dict[str, Any]) -> None:
        self.method = method
        self.params = params
        self.message: str = params.get("message") or _text_of(params)
        self.schema: Optional[Dict[str, Any]] = params.get("requestedSchema")

    def __repr__(self) -> str:
        return "Asked(%r)" % self.message


def _text_of(params: Dict[str, Any]) -> str:
    messages: List[Dict[str, Any]] = params.get("messages") or []
    content: Any = messages[-1].get("content") if messages else None
    return str(content.get("text", "")) if isinstance(content, dict) else ""  # pyright: ignore


class Answer:
    """How a question is answered."""

    action = ""

    def __init__(self, content: Any = None) -> None:
        self.content = content


class Accept(Answer):
    """The user answers with these fields; a value that is no dict fills the only field of the form."""

    action = "accept"


class Decline(Answer):
    """The user says no."""

    action = "decline"


class Cancel(Answer):
    """The user closes the question."""

    action = "cancel"


Given = Union[Answer, str, bool, int, float, Mapping[str, Any], None]
Answers = Union[Sequence[Given], Callable[[Asked], Given], None]


class NoAnswer(AssertionError):
    """A function asked, and the test has no answer for it."""


class Answering:
    """Answers in their order, or as a function of the question. Records what was asked."""

    def __init__(self, answers: Answers) -> None:
        self._function = answers if callable(answers) else None
        self._rest: List[Given] = [] if answers is None or callable(answers) else list(answers)
        self.can_answer = answers is not None
        self.asked: List[Asked] = []

    def answer(self, method: str, params: Optional[Dict[str, Any]]) -> Dict[str, Any]:
        """The result of a question. Raises `NoAnswer` if the test has none left."""
        asked = Asked(method, params or {})
        self.asked.append(asked)
        if self._function is not None:
            given = self._function(asked)
        elif self._rest:
            given = self._rest.pop(0)
        else:
            raise NoAnswer("the test has no answer to: %s" % asked.message)
        if method == "sampling/createMessage":
            return _sampled(given)
        return _elicited(given, asked)


def _sampled(given: Given) -> Dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    text = str(given.content if isinstance(given, Answer) else given)
    return {"role": "assistant", "model": "test", "stopReason": "endTurn", "content": {"type": "text", "text": text}}


def _elicited(given: Given, asked: Asked) -> Dict[str, Any]:
    answer = given if isinstance(given, Answer) else Accept(given)
    if answer.action != "accept":
        return {"action": answer.action}
    content: Any = answer.content
    if asked.schema is None:  # a web page
        return {"action": "accept"}
    if content is None:
        content = {}
    if not isinstance(content, Mapping):
        fields: List[str] = list(asked.schema.get("properties", {}))
        if len(fields) != 1:
            raise NoAnswer("%r does not answer %r: the form has the fields %s" % (content, asked.message, ", ".join(fields)))
        content = {fields[0]: content}
    # As it arrives from a client.
    return {"action": "accept", "content": decode(encode(dict(content)))}  # pyright: ignore
