"""A function file for type checkers: decorators keep the types of functions, answers have the requested
types."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import dataclass
from typing import AsyncIterator, Dict, Iterator, List, Optional

from mcp_bash import (
    Context,
    Field,
    Image,
    Question,
    ToolError,
    aio,
    arguments,
    ask,
    ask_all,
    choose,
    confirm,
    folder,
    keep,
    log,
    main,
    progress,
    prompt,
    resource,
    sample,
    tool,
    user,
    worker,
)
from mcp_bash.contents import Message
from mcp_bash.fastmcp import FastMCP
from mcp_bash.testing import Client, Decline, Progress
from typing_extensions import Annotated, assert_type

worker(processes=1, at_once=4, idle_secs=60, sandbox={"network": ["api.github.com:443"], "cpu_secs": 5})


@dataclass
class Person:
    name: str
    age: int = 0


@keep
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


@keep
def settings(name: str) -> Dict[str, str]:
    return {"name": name}


@keep
async def pool() -> AsyncIterator[List[int]]:
    yield [1]


@keep
async def model() -> str:
    return "loaded"


@tool
def add(a: int, b: Annotated[int, Field("The second", minimum=0)] = 1) -> int:
    """Adds two numbers."""
    return a + b


@tool(title="People", read_only=True, timeout=5)
def people(ctx: Context, limit: Optional[int] = None) -> List[Person]:
    assert_type(db(), sqlite3.Connection)
    assert_type(settings("x"), Dict[str, str])
    for name in progress.each(["a", "b"]):
        log.info("looking", name=name)
    person = ask("Who?", Person)
    assert_type(person, Person)
    assert_type(ask("Name?"), str)
    assert_type(ask("How many?", int), int)
    assert_type(confirm("Sure?"), bool)
    assert_type(choose("Which?", ["a"]), str)
    text: str = sample("Say hi", max_tokens=3)
    ask_all({"who": Question.form("Who?", Person)})
    if not arguments() or ctx.cancelled:
        raise ToolError("nothing", hint="try again", where=str(folder()), text=text)
    return [person]


@tool
async def slow(name: str) -> str:
    assert_type(await pool(), List[int])
    assert_type(await model(), str)
    assert_type(await aio.ask("Who?", Person), Person)
    await asyncio.sleep(1)
    return name


@tool
async def habits(ctx: Context) -> str:
    await ctx.report_progress(1, 2)
    await ctx.info("hello", extra={"n": 1})
    answer = await ctx.elicit("Who?", Person)
    assert_type(answer.data, Person)
    assert_type((await ctx.sample("Hi")).text, str)
    read = await ctx.read_resource("users://1")
    ctx.state["n"] = len(read)
    return answer.action


@tool(annotations={"readOnlyHint": True}, tags={"a"})
def plain_habits(ctx: Context) -> str:
    ctx.warning("hello")
    return ctx.elicit("Name?", str).data


mcp = FastMCP("x", instructions="y")


@mcp.tool
def doubled(a: int) -> int:
    return 2 * a


@mcp.tool("other", tags={"a"})
def named(a: int) -> int:
    return a


def test_add() -> None:
    with Client("tools/file.py", answers=[True, Decline()]) as client:
        result = client.call_tool("add", {"a": 1})
        assert_type(result.text, str)
        assert_type(result.progress, List[Progress])


@tool
def picture() -> Image:
    return Image(b"\x89PNG\r\n\x1a\n")


@resource("users://{id}", mime_type="application/json")
def profile(id: int) -> Dict[str, int]:
    return {"id": id}


@prompt
def review(code: str) -> List[Message]:
    return [user("Review " + code)]


@main
def run(day: str) -> str:
    return day


assert_type(add(1, 2), int)
assert_type(add(a=1), int)
assert_type(doubled(1), int)
assert_type(named(1), int)
assert_type(profile(3), Dict[str, int])
assert_type(run("x"), str)
