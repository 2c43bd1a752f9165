"""``ctx.elicit`` and ``ctx.sample``: questions whose answers are objects, awaited or not.

A plain function waits for the answer. In an async function the question is put by `await`; anything else that is done with
it says that the `await` is missing.
"""

from __future__ import annotations

from typing import Any, Dict, Generator, Generic, List, Mapping, Optional, Sequence, TypeVar, Union, cast

from .contents import Message, user
from .context_habits import Unawaited
from .errors import Declined, Dismissed
from .json_types import is_list, is_object
from .questions import Question, Sampled, alone

T = TypeVar("T")

# How long the client's model may take.
_SAMPLE_SECS = 120


class Elicited(Generic[T]):
    """The user's answer."""

    action = ""
    data: T

    def __await__(self) -> Generator[Any, None, Elicited[T]]:
        yield from ()
        return self


class AcceptedElicitation(Elicited[T]):
    """The user answered: ``data`` is the answer."""

    action = "accept"
    __match_args__ = ("data",)

    def __init__(self, data: T) -> None:
        self.data = data

    def __repr__(self) -> str:
        return "AcceptedElicitation(data=%r)" % (self.data,)


class DeclinedElicitation(Elicited[Any]):
    """The user declined."""

    action = "decline"
    data = None


class CancelledElicitation(Elicited[Any]):
    """The user closed the question without an answer."""

    action = "cancel"
    data = None


def elicit(call: Any, message: str, wanted: Any) -> Elicited[Any]:
    """Asks the user for a value of that type, or for choices."""
    question = _question(message, wanted)
    question.refuse_unless_possible(call)
    if call.must_await:

        async def put() -> Elicited[Any]:
            return _answer(question, await call.put_question_async(alone(question, None, None)))

        unasked: Any = Unawaited("elicit", put)
        return cast("Elicited[Any]", unasked)
    return _answer(question, call.put_question(alone(question, None, None)))


def _answer(question: Question, result: Any) -> Elicited[Any]:
    try:
        return AcceptedElicitation(question.read(result))
    except Dismissed:
        return CancelledElicitation()
    except Declined:
        return DeclinedElicitation()


def _question(message: str, wanted: Any) -> Question:
    if wanted is None:
        return Question.form(message, {"type": "object", "properties": {}})
    if is_list(wanted):
        if len(wanted) == 1 and (is_list(wanted[0]) or _is_titled(wanted[0])):
            return Question.choose_many(message, _options(wanted[0]))
        return Question.choose(message, _options(wanted))
    if _is_titled(wanted):
        return Question.choose(message, _options(wanted))
    return Question.form(message, wanted)


def _is_titled(wanted: Any) -> bool:
    """``{"low": {"title": "Low priority"}}``"""
    return is_object(wanted) and bool(wanted) and all(is_object(one) and set(one) == {"title"} for one in wanted.values())


def _options(wanted: Any) -> Union[Sequence[str], Mapping[str, str]]:
    if is_object(wanted):
        return {value: str(titled["title"]) for value, titled in wanted.items()}
    for one in wanted:
        if not isinstance(one, str):
            raise TypeError("elicit() takes choices that are texts, not %s" % type(one).__name__)
    return list(wanted)


def sample(
    call: Any,
    messages: Union[str, Sequence[Union[str, Message]]],
    system: Optional[str],
    temperature: Optional[float],
    max_tokens: int,
    preferences: Union[str, Sequence[str], Mapping[str, Any], None],
) -> Sampled:
    """Asks the client's model."""
    prompt: List[Message] = (
        [user(messages)]
        if isinstance(messages, str)
        else [user(one) if isinstance(one, str) else one for one in messages]
    )
    more: Dict[str, Any] = {}
    preferred = _preferences(preferences)
    if preferred is not None:
        more["modelPreferences"] = preferred
    question = Question.sample(prompt, max_tokens=max_tokens, system=system, temperature=temperature, **more)
    question.refuse_unless_possible(call)
    if call.must_await:

        async def put() -> Any:
            return question.read(await call.put_question_async(alone(question, None, _SAMPLE_SECS)))

        unasked: Any = Unawaited("sample", put)
        return cast("Sampled", unasked)
    said: Sampled = question.read(call.put_question(alone(question, None, _SAMPLE_SECS)))
    return said


def _preferences(given: Union[str, Sequence[str], Mapping[str, Any], None]) -> Optional[Dict[str, Any]]:
    """Names of models, as the preferences of the protocol."""
    if given is None or isinstance(given, dict):
        return given
    names: Sequence[str] = [given] if isinstance(given, str) else list(given)
    return {"hints": [{"name": name} for name in names]}
