"""A server over HTTP for a session in Python, and a proxy before it that can cut connections."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from conversation import SCRATCH, STARTED, alive, check, until


class Server:
    """Serves a copy of the project over HTTP, from entering to leaving. `options` are words for the command line."""

    made = 0

    def __init__(self, *options, **environment):
        Server.made += 1
        self.options, self.environment = options, environment
        self.project = Path(SCRATCH.name, f"project-{Server.made}")
        self.said = ""

    async def __aenter__(self):
        program, _, original = sys.argv[1:]
        shutil.copytree(original, self.project)
        words = ["serve", "--http", "127.0.0.1:0", "--project-root", str(self.project), *self.options]
        environment = os.environ | {"MCPBASH_LOG_LEVEL": "debug", "MCPBASH_MAX_RESULT_TEXT_BYTES": "0"} | self.environment
        none, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            program, *words, env=environment, stdin=none, stdout=none, stderr=pipe
        )
        STARTED.append(self.process)
        self.listening = asyncio.create_task(self._listen())
        await until(lambda: self._address() or self.listening.done())
        check("a server says its address", self._address() and not self.listening.done(), self.said)
        self.url = self._address().group()
        return self

    def _address(self):
        return re.search(r"https?://[^\s/]+/mcp", self.said)

    async def _listen(self):
        """Reads what the server says, so that it never waits for us."""
        while text := await self.process.stderr.read(65536):
            self.said += text.decode()

    async def __aexit__(self, *_):
        """Ends it as an operator does."""
        processes = [self.process.pid, *descendants(self.process.pid)]
        self.process.send_signal(signal.SIGTERM)
        status = await asyncio.wait_for(self.process.wait(), 60)
        check("a server ends without a failure when it is told to", status == 0, (status, self.said[-2000:]))
        STARTED.remove(self.process)
        gone = await until(lambda: not any(map(alive, processes)))
        check("none of its processes is left", gone, [pid for pid in processes if alive(pid)])
        await self.listening


def certificate(name):
    """A file of those that `make-certificates.sh` has written."""
    return str(Path(os.environ["CERTIFICATES"], name))


def new_token(file, caller, *options):
    """A token for that caller, whose hash is added to the file."""
    words = [sys.argv[1], "token", "new", caller, "--file", str(file), "--json", *options]
    return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)["token"]


def descendants(pid):
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield child
            yield from descendants(child)


class Proxy:
    """Passes connections on to a server until they are cut."""

    def __init__(self, url):
        self.target = urlsplit(url)
        self.writers = set()

    async def __aenter__(self):
        self.server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        port = self.server.sockets[0].getsockname()[1]
        self.url = self.target._replace(netloc=f"127.0.0.1:{port}").geturl()
        return self

    async def __aexit__(self, *_):
        self.server.close()
        self.cut()

    async def _pass_on(self, client, to_client):
        server, to_server = await asyncio.open_connection(self.target.hostname, self.target.port)
        await asyncio.gather(self._copy(client, to_server), self._copy(server, to_client))

    async def _copy(self, reader, writer):
        self.writers.add(writer)
        try:
            while piece := await reader.read(65536):
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        self.writers.discard(writer)
        writer.transport.abort() if reader.exception() else writer.close()

    def cut(self):
        """Breaks all connections that there are."""
        for writer in list(self.writers):
            writer.transport.abort()
