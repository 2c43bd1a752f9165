"""Questions to the client: the request, and the parsing of its answer. `asking.py` and `aio.py` wait for
it."""

from __future__ import annotations

from .contents import Message, user
from .errors import CannotAsk, Declined, Dismissed
from .json_types import error_message, is_list, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Generator, List, Mapping, Optional, Sequence, Union

    from .call_context import Context, Root


class Sampled(str):
    """The answer of the client's model: a text, with the rest of the answer as attributes."""

    model: Optional[str]
    stop_reason: Optional[str]
    content: Any

    @property
    def text(self) -> str:
        return str(self)

    def __await__(self) -> Generator[Any, None, Sampled]:
        yield from ()
        return self

    @classmethod
    def read(cls, result: Mapping[str, Any]) -> Sampled:
        content = result.get("content")
        blocks = content if is_list(content) else [content]
        said = cls("".join(str(block.get("text", "")) for block in blocks if is_object(block)))
        said.model = result.get("model")
        said.stop_reason = result.get("stopReason")
        said.content = content
        return said


class Question:
    """One question, for `ask_all`: ``ask_all({"who": Question.form("Who are you?", Person), …})``."""

    __slots__ = ("method", "params", "_read")

    def __init__(self, method: str, params: Optional[Dict[str, Any]], read: Callable[[Any], Any]) -> None:
        self.method = method
        self.params = params
        self._read = read

    @classmethod
    def form(cls, message: str, form: Any = str) -> Question:
        """A form: a type, a dataclass, a TypedDict, a pydantic model, a dict of names and types, or a JSON Schema."""
        from .forms import Form

        asked = Form(form)
        params = {"mode": "form", "message": message, "requestedSchema": asked.schema}
        return cls("elicitation/create", params, lambda result: asked.read(_accepted(result, message)))

    @classmethod
    def confirm(cls, message: str) -> Question:
        """Yes or no."""
        return cls._one_field(message, "confirmed", {"type": "boolean"})

    @classmethod
    def choose(cls, message: str, options: Union[Sequence[str], Mapping[str, str]]) -> Question:
        """One of several options: values, or values with titles."""
        return cls._one_field(message, "choice", {"type": "string", **_choices(options, "oneOf")})

    @classmethod
    def choose_many(cls, message: str, options: Union[Sequence[str], Mapping[str, str]]) -> Question:
        """Any number of several options."""
        items = {**({} if isinstance(options, dict) else {"type": "string"}), **_choices(options, "anyOf")}
        return cls._one_field(message, "choices", {"type": "array", "items": items})

    @classmethod
    def url(cls, message: str, url: str) -> Question:
        """Sends the user to a web page, for data that must not pass through the client."""
        params = {"mode": "url", "message": message, "url": url}
        return cls("elicitation/create", params, lambda result: _accepted(result, message))

    @classmethod
    def sample(
        cls,
        prompt: Union[str, Sequence[Message]],
        *,
        max_tokens: int = 1000,
        system: Optional[str] = None,
        temperature: Optional[float] = None,
        **more: Any,
    ) -> Question:
        """A question to the client's model."""
        messages = [user(prompt)] if isinstance(prompt, str) else prompt
        params: Dict[str, Any] = {"messages": [message.block() for message in messages], "maxTokens": max_tokens}
        if system is not None:
            params["systemPrompt"] = system
        if temperature is not None:
            params["temperature"] = temperature
        params.update(more)
        return cls("sampling/createMessage", params, Sampled.read)

    @classmethod
    def roots(cls) -> Question:
        """The client's roots."""
        return cls("roots/list", None, _roots)

    @classmethod
    def _one_field(cls, message: str, name: str, schema: Dict[str, Any]) -> Question:
        form = {"type": "object", "properties": {name: schema}, "required": [name]}
        params = {"mode": "form", "message": message, "requestedSchema": form}
        return cls("elicitation/create", params, lambda result: _accepted(result, message).get(name))

    def frame(self) -> Dict[str, Any]:
        """The request to send."""
        frame: Dict[str, Any] = {"method": self.method}
        if self.params is not None:
            frame["params"] = self.params
        return frame

    def refuse_unless_possible(self, call: Context) -> None:
        """Raises if the client lacks the capability."""
        refuse_unless_reachable(call)
        if self.method == "elicitation/create" and not call.can_ask_user:
            raise CannotAsk("This client cannot ask its user")

    def read(self, result: Any) -> Any:
        """The function's value."""
        return self._read(result)


def refuse_unless_reachable(call: Context) -> None:
    """Raises if the client cannot be asked anything."""
    if not call.can_ask:
        raise CannotAsk(call.cannot_ask)


def alone(question: Question, name: Optional[str], timeout: Optional[float]) -> Dict[str, Any]:
    """The frame of one question."""
    frame = question.frame()
    if name:
        frame["name"] = name
    if timeout is not None:
        frame["timeoutSecs"] = max(1, round(timeout))
    return frame


def together(questions: Mapping[str, Question], timeout: Optional[float]) -> Dict[str, Any]:
    """The frame of several questions."""
    frame: Dict[str, Any] = {"questions": {name: question.frame() for name, question in questions.items()}}
    if timeout is not None:
        frame["timeoutSecs"] = max(1, round(timeout))
    return frame


def read_all(questions: Mapping[str, Question], results: Mapping[str, Any]) -> Dict[str, Any]:
    """The answers by name. Raises the first failure, with its name."""
    answers: Dict[str, Any] = {}
    for name, question in questions.items():
        answer: Dict[str, Any] = results.get(name) or {}
        if "result" not in answer:
            raise CannotAsk("%s: %s" % (name, error_message(answer)))
        answers[name] = question.read(answer["result"])
    return answers


def _accepted(result: Mapping[str, Any], message: str) -> Dict[str, Any]:
    action = result.get("action")
    if action == "accept":
        return result.get("content") or {}
    if action == "cancel":
        raise Dismissed("The user closed the question without an answer: %s" % message)
    raise Declined("The user declined to answer: %s" % message)


def _choices(options: Union[Sequence[str], Mapping[str, str]], titled: str) -> Dict[str, Any]:
    if not options:
        raise ValueError("a choice needs at least one option")
    if isinstance(options, dict):
        return {titled: [{"const": value, "title": title} for value, title in options.items()]}
    return {"enum": list(options)}


def _roots(result: Mapping[str, Any]) -> List[Root]:
    from .call_context import Root

    return Root.read_all(result.get("roots"))
