"""Every feature of the Python SDK, for the sessions of the official clients. `features.mjs` has the same in JavaScript."""

import asyncio
import os
import time
from dataclasses import dataclass
from typing import Annotated, Iterator, List, Literal

from mcp_bash import (
    Audio,
    Cancelled,
    Context,
    Declined,
    Embedded,
    Field,
    Image,
    Link,
    NotFound,
    Question,
    ToolError,
    ask,
    ask_all,
    assistant,
    confirm,
    instructions,
    keep,
    log,
    progress,
    prompt,
    resource,
    roots,
    sample,
    tool,
    user,
)

PIXEL = bytes.fromhex("89504e470d0a1a0a0000000d49484452")
SOUND = b"RIFF\x24\0\0\0WAVEfmt "

instructions("Python is here.")


@dataclass
class Place:
    name: str
    degrees: float
    tags: List[str]


@tool(read_only=True, title="Adder of Python")
def py_add(a: int, b: Annotated[int, Field(minimum=0, description="what is added")] = 1) -> int:
    """Adds two numbers.

    Args:
        a: what is added to
    """
    return a + b


@tool
def py_place(name: str, unit: Literal["C", "F"] = "C") -> Place:
    """Tells of a place as data."""
    return Place(name, 21.5 if unit == "C" else 70.7, ["warm"])


@tool(output=False)
def py_contents() -> list:
    """Returns every kind of content."""
    return [
        "a text",
        Image(PIXEL),
        Audio(SOUND, "audio/wav"),
        Embedded("note://embedded", "an embedded text", mime="text/plain"),
        Link("note://linked", "linked", mime="text/plain"),
    ]


@tool
def py_fail(how: Literal["raise", "advise"]) -> str:
    """Fails in one of two ways."""
    if how == "advise":
        raise ToolError("there is no such day", hint="use YYYY-MM-DD")
    raise ValueError("there is no such month")


@tool
def py_steps(count: int) -> str:
    """Takes steps and tells of each."""
    for step in range(1, count + 1):
        progress(step, count, "step %d" % step)
        # A library may forget who wanted to hear of it as soon as it has read the result.
        time.sleep(0.02)
    return "Took %d steps." % count


@tool
def py_talk() -> str:
    """Says something in the log before it is done."""
    print("printed words")
    log.info("first words")
    log.warning("second words", number=2)
    return "Said it."


@tool
def py_introduce() -> str:
    """Asks for a name, and for what else there is to know."""
    try:
        name = ask("What is your name?")
    except Declined:
        return "Nobody."
    return "%s, well: %s" % (name, "yes" if confirm("Are you well, %s?" % name) else "no")


@tool
def py_ask_both() -> str:
    """Asks two questions at once."""
    answers = ask_all({"who": Question.form("Who?"), "sure": Question.confirm("Sure?")})
    return "%s %s" % (answers["who"], "yes" if answers["sure"] else "no")


@tool
def py_summarise(text: str) -> str:
    """Has the model of the client summarise a text."""
    return "The model says: %s" % sample("Summarise: " + text, max_tokens=100)


@tool
def py_folders() -> List[str]:
    """Tells which folders the client has open."""
    return [root.uri for root in roots()]


@tool
async def py_wait(file: str, call: Context) -> str:
    """Waits until nobody waits for it."""
    with open(file, "w") as started:
        started.write("%d\n" % os.getpid())
    call.progress(1)
    try:
        await asyncio.sleep(1000)
    except (Cancelled, asyncio.CancelledError):
        with open(file + ".ended", "w") as ended:
            ended.write("ended")
        raise
    return "nobody sees this"


@tool
def py_echo(word: str) -> str:
    """Says a word again."""
    return word


@keep
def counter() -> Iterator[List[int]]:
    yield [0]
    with open(os.path.join(os.environ["MCPBASH_PROJECT_ROOT"], "py-ended"), "a") as file:
        file.write("ended\n")


@tool
def py_count() -> int:
    """Counts its calls in this process."""
    kept = counter()
    kept[0] += 1
    return kept[0]


@resource("py://config", description="The configuration.", mime_type="application/json")
def py_config() -> dict:
    return {"language": "python", "zoë": True}


@resource("py://bytes", mime_type="image/png")
def py_bytes() -> bytes:
    """A picture."""
    return PIXEL


@resource("py://greeting/{name}", mime_type="text/plain")
def py_greeting(name: str) -> str:
    """Greets by name."""
    if name == "nobody":
        raise NotFound("there is nobody")
    return "Hello, %s!" % name


@prompt
def py_letter(name: str, tone: Literal["kind", "stern"] = "kind") -> list:
    """A letter.

    Args:
        name: whom it is to
    """
    return [user("Write a %s letter to %s." % (tone, name)), assistant("Dear %s," % name)]
