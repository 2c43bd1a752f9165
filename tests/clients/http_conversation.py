"""Sessions over HTTP, the same for every Python client."""

import asyncio
import sys
import traceback
from pathlib import Path

from conversation import (
    SCRATCH, Address, Answers, GaveUp, Heard, Refused, Result, alive, check, check_changes, talk, until,
)  # fmt: skip
from http_server import Proxy, Server


def run_over_http(adapter, version):
    """Has the conversation with a server of the program that the command line names."""
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} SERVER --project-root DIR")
    try:
        asyncio.run(converse(adapter, version))
    except Exception as error:
        traceback.print_exc()
        check("the step after the last one above can be taken", False, error)


async def converse(adapter, version):
    await check_session(adapter, version)
    await check_cut_connections(adapter, version)


async def check_session(adapter, version):
    async with Server() as server:
        heard, answers = Heard(), Answers()
        async with adapter(Address(server.url), heard, answers) as client:
            await talk(client, version, heard, answers)
            await check_changes(client, heard, server.project)
            async with adapter(Address(server.url + "/"), Heard(), Answers()) as other:
                result = await other.call("add", {"a": 1, "b": 2})
                check("another client is served too", result == Result("3", False), result)


async def check_cut_connections(adapter, version):
    async with Server() as server, Proxy(server.url) as proxy:
        # A client for each, because libraries come back to a stream a few times only.
        if version < "2026":
            async with adapter(Address(proxy.url), Heard(), Answers()) as client:
                await check_resumption(client, proxy)
            heard = Heard()
            async with adapter(Address(proxy.url), heard, Answers()) as client:
                await check_changes(client, heard, server.project, disturb=proxy.cut)
        else:
            async with adapter(Address(proxy.url), Heard(), Answers()) as client:
                await check_cut_call(client, proxy)
                result = await client.call("greet", {"name": "Ada"})
                check("the next call works", result == Result("Hello, Ada!", False), result)


async def check_resumption(client, proxy):
    """A call of a session goes on when its connection breaks."""
    events = []

    def progressed(progress):
        events.append(progress)
        if progress == 2:
            proxy.cut()

    result = await client.call("steps", {}, on_progress=progressed)
    check("a call outlives its connection", result == Result("Took 5 steps.", False), result)
    check("nothing of it is lost or repeated", events == [1, 2, 3, 4, 5], events)


async def check_cut_call(client, proxy):
    """A call without a session ends with its connection."""
    pid_file = Path(SCRATCH.name, "cut-pid")
    try:
        outcome = await client.call("slow", {"pidFile": str(pid_file)}, on_progress=lambda _: proxy.cut())
    except (Refused, GaveUp) as error:
        outcome = error
    check("a call ends with its connection", isinstance(outcome, Refused), outcome)
    pid = int(pid_file.read_text())
    check("and so does its script", await until(lambda: not alive(pid)), pid)
