"""A whole login with the OAuth code of a Python library: a real authorization server, a call, and a step-up for a tool that
needs more scopes."""

import asyncio
import base64
import json
import os
import socket
from pathlib import Path

from conversation import STARTED, Address, Answers, Heard, Result, check
from http_conversation import run
from http_server import Server
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata

SAVE = """#!/bin/sh
# mcp: {"description": "Saves", "scopes": ["files:write"]}
echo "run by $MCP_CALLER" >>runs
echo saved
"""


def run_logins(*adapters):
    """Logs in with each adapter. Its `come_back` makes of a code, a state and an issuer what its library wants to get."""
    run(log_in_each(adapters))


async def log_in_each(adapters):
    for adapter in adapters:
        await log_in(adapter)


class Issuer:
    """The authorization server of the client `oauth`, and its user."""

    def __init__(self, resource):
        self.resource, self.asked = resource, []

    async def __aenter__(self):
        folder = Path(os.environ["OAUTH_CLIENT"])
        words = [folder / "node_modules" / ".bin" / "node", folder / "issue.mjs", self.resource]
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
        STARTED.append(self.process)
        start = await self.line()
        self.url, self.redirect = start["issuer"], start["redirect"]
        return self

    async def __aexit__(self, *_):
        self.process.stdin.close()
        await self.process.wait()
        STARTED.remove(self.process)

    async def line(self):
        line = await asyncio.wait_for(self.process.stdout.readline(), 60)
        check("the authorization server goes on", line, self.asked)
        return json.loads(line)

    async def log_in(self):
        """What the browser of the user brings back from the address that was asked for last."""
        self.process.stdin.write(f"{self.asked[-1]}\n".encode())
        return await self.line()


class Kept:
    """What a client keeps of a login."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def log_in(adapter):
    port = free_port()
    resource = f"http://127.0.0.1:{port}/mcp"
    async with Issuer(resource) as issuer:
        options = ["--http", f"127.0.0.1:{port}", "--issuer", issuer.url, "--resource", resource]
        async with Server(*options, MCPBASH_HTTP_REQUIRED_SCOPES="files:read") as server:
            save = server.project / "tools" / "save.sh"
            save.write_text(SAVE)
            save.chmod(0o755)
            await call_tools(adapter, server, issuer)


async def call_tools(adapter, server, issuer):
    kept = Kept()
    login = provider(adapter, issuer, kept)
    async with adapter(Address(issuer.resource, login=login), Heard(), Answers()) as client:
        check("a client without a token has logged in", len(issuer.asked) == 1, issuer.asked)
        check("it was led to the issuer", issuer.asked[0].startswith(issuer.url), issuer.asked)
        check("it has asked for the scope of the challenge", claims(kept)["scope"] == "files:read", claims(kept))
        check("its token is for the resource", claims(kept)["aud"] == issuer.resource, claims(kept))
        result = await client.call("greet", {"name": "Ada"})
        check("it calls a tool", result == Result("Hello, Ada!", False), result)

        # The client was registered for the scopes of the first challenge only, and registers again.
        login.context.client_info = kept.client = None
        runs = server.project / "runs"
        result = await client.call("save", {})
        check("a tool that needs another scope has run", result.text.strip() == "saved", result)
        check("the user was asked once more", len(issuer.asked) == 2, issuer.asked)
        scopes = set(claims(kept)["scope"].split())
        check("the token has the scopes of both challenges", scopes == {"files:read", "files:write"}, scopes)
        expected = f"run by {issuer.url} alice\n"
        check("the tool has run once, for the user", runs.read_text() == expected, runs.read_text())
        result = await client.call("greet", {"name": "Ada"})
        check("the new token is good for the rest", result == Result("Hello, Ada!", False), result)

        signature = kept.tokens.access_token.split(".")[2]
        check("the log has nothing of the token", signature not in server.said, "the signature")


def provider(adapter, issuer, kept):
    """The code of the library that logs in, with a user who consents to everything."""
    about = OAuthClientMetadata(
        client_name="session",
        redirect_uris=[issuer.redirect],
        grant_types=["authorization_code"],
        response_types=["code"],
        token_endpoint_auth_method="none",
        application_type="native",
    )

    async def asked(address):
        issuer.asked.append(address)

    async def come_back():
        back = await issuer.log_in()
        return adapter.come_back(back["code"], back["state"], back["iss"])

    return OAuthClientProvider(issuer.resource, about, kept, asked, come_back)


def claims(kept):
    payload = kept.tokens.access_token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
