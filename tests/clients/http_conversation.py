"""Sessions over HTTP, the same for every Python client."""

import asyncio
import sys
import traceback
from pathlib import Path

from conversation import (
    SCRATCH, TOOLS, Address, Answers, GaveUp, Heard, Refused, Result, alive, check, check_changes, talk, until,
)  # fmt: skip
from http_server import Proxy, Server, certificate, new_token


def run_over_http(adapter, version):
    """Has all conversations with servers of the program that the command line names."""
    run(converse(adapter, version))


def run_over_old_sse(adapter, version):
    """The same over the transport of 2024-11-05, which has one stream for everything: what is cut is gone."""
    run(check_old_sse(adapter, version))


def run(conversation):
    if len(sys.argv) != 4:
        sys.exit(f"usage: {sys.argv[0]} SERVER --project-root DIR")
    try:
        asyncio.run(conversation)
    except Exception as error:
        traceback.print_exc()
        check("the step after the last one above can be taken", False, error)


async def converse(adapter, version):
    await check_session(adapter, version)
    await check_cut_connections(adapter, version)
    await check_doors(adapter)


async def check_session(adapter, version):
    async with Server() as server:
        heard, answers = Heard(), Answers()
        async with adapter(Address(server.url), heard, answers) as client:
            await talk(client, version, heard, answers)
            await check_large_event(client)
            await check_changes(client, heard, server.project)
            async with adapter(Address(server.url + "/"), Heard(), Answers()) as other:
                result = await other.call("add", {"a": 1, "b": 2})
                check("another client is served too", result == Result("3", False), result)


async def check_large_event(client):
    """What is too long for an event is refused, where an event is all it can be, and the client goes on."""
    file = Path(SCRATCH.name, "awaited")
    try:
        code = await client.call("large", {"awaits": str(file)}, on_progress=lambda _: file.touch())
    except Refused as refused:
        code = refused.code
    check("a result that is too long for an event is refused with -32603", code == -32603, code)
    result = await client.call("greet", {"name": "Ada"})
    check("calls work after it", result == Result("Hello, Ada!", False), result)


async def check_old_sse(adapter, version):
    async with Server("--legacy-sse") as server:
        address = Address(server.url.removesuffix("/mcp") + "/sse")
        heard, answers = Heard(), Answers()
        async with adapter(address, heard, answers) as client:
            await talk(client, version, heard, answers, events_only=True)
            await check_large_event(client)
            await check_changes(client, heard, server.project)
    async with Server() as server:
        address = Address(server.url.removesuffix("/mcp") + "/sse")
        check("without the switch it is not there", await is_refused(adapter(address, Heard(), Answers())))


async def check_cut_connections(adapter, version):
    async with Server() as server, Proxy(server.url) as proxy:
        # A client for each, because libraries come back to a stream a few times only.
        if version < "2026":
            async with adapter(Address(proxy.url), Heard(), Answers()) as client:
                await check_resumption(client, proxy)
            heard = Heard()
            async with adapter(Address(proxy.url), heard, Answers()) as client:
                # Nothing else is on its way when the connections are cut: the server has its answer about the folders.
                await client.call("folders", {})
                await check_changes(client, heard, server.project, disturb=proxy.cut)
        else:
            async with adapter(Address(proxy.url), Heard(), Answers()) as client:
                await check_cut_call(client, proxy)
                result = await client.call("greet", {"name": "Ada"})
                check("the next call works", result == Result("Hello, Ada!", False), result)


async def check_doors(adapter):
    """Only callers with a token come in, over TLS, and do what their tokens allow."""
    tokens = Path(SCRATCH.name, "tokens")
    whole, some = new_token(tokens, "ada"), new_token(tokens, "bob", "--tools", "add,greet")
    files = ["--tls-cert", certificate("certificate.pem"), "--tls-key", certificate("key.pem")]
    async with Server("--tokens", str(tokens), *files) as server:
        check("the server speaks TLS", server.url.startswith("https://"), server.url)

        def enter(token):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            return adapter(Address(server.url, headers, certificate("authority.pem")), Heard(), Answers())

        for who, token in [("nobody", None), ("a stranger", "x" * 43)]:
            check(f"{who} is refused", await is_refused(enter(token)))
        async with enter(whole) as ada:
            tools = sorted(await ada.tools())
            check("who has a token sees all tools", tools == TOOLS, tools)
            result = await ada.call("greet", {"name": "Ada"})
            check("and calls them", result == Result("Hello, Ada!", False), result)
        async with enter(some) as bob:
            tools = sorted(await bob.tools())
            check("a token for some tools sees no others", tools == ["add", "greet"], tools)
            result = await bob.call("add", {"a": 1, "b": 2})
            check("and calls those", result == Result("3", False), result)
            try:
                code = await bob.call("fail", {})
            except Refused as refused:
                code = refused.code
            check("but no others", code == -32602, code)


async def is_refused(client):
    try:
        async with client:
            return False
    # Libraries raise their errors in groups.
    except Exception:
        return True


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
