#!/usr/bin/env python3
"""Sessions and stateless requests through the load balancers of deploy/balancers, before two real servers.

    tests/deploy/balancers.py BINARY [nginx | haproxy]...

Needs the programs nginx and haproxy, but no root. Everything listens on this machine.
"""

import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# In seconds. It only keeps the test from waiting for ever.
PATIENCE = 60
ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
STATELESS = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what, found):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found():
            return
        time.sleep(0.05)
    sys.exit(f"tests/deploy/balancers: waited too long for {what}")


def answers(port, path="/"):
    """The status of a GET, if there is an answer."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return None


class Server:
    """A server whose tool `which` says its name, and whose tool `waits` reports progress and waits for a file."""

    def __init__(self, binary, folder, name, tokens):
        self.folder = folder / name
        self.port, self.health = free_port(), free_port()
        self.write("which", f"echo {name}")
        self.write("waits", f'source "$MCP_SDK/tool-sdk.sh"\nmcp_progress 50 half\nuntil [ -e {folder}/go ]; do sleep 0.05; done\necho done')
        command = [binary, "serve", self.folder, f"--http=127.0.0.1:{self.port}", f"--metrics=127.0.0.1:{self.health}"]
        command += [f"--tokens={tokens}", "--behind-proxy"]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until(f"the server {name}", lambda: answers(self.health, "/readyz") == 200)

    def write(self, tool, body):
        path = self.folder / f"tools/{tool}.sh"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n# mcp: {{}}\n{body}\n")
        path.chmod(0o755)


class Client:
    def __init__(self, port, token):
        self.port, self.headers = port, {**ACCEPT, "Authorization": f"Bearer {token}"}

    def post(self, message, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("POST", "/mcp", json.dumps(message), {**self.headers, **(headers or {})})
        return connection.getresponse()

    def stateless(self, tool, meta=None):
        params = {"name": tool, "arguments": {}, "_meta": {**STATELESS, **(meta or {})}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.post(message, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool})

    def session(self):
        """Begins a session, and returns its headers and the server that it is with."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        answer = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        headers = {"Mcp-Session-Id": answer.getheader("Mcp-Session-Id"), "MCP-Protocol-Version": "2025-11-25"}
        answer.read()
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers).read()
        return headers

    def which(self, session):
        """The status of a call in a session, and the server that answered."""
        params = {"name": "which", "arguments": {}}
        answer = self.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, session)
        return answer.status, said(answer)


def said(answer):
    body = answer.read().decode()
    found = re.search(r'"text":"(\w+)', body)
    return found and found.group(1)


def check(what, is_right, found):
    if not is_right:
        sys.exit(f"tests/deploy/balancers: not so: {what}. Found: {found}")


def configured(name, servers, port, folder, change):
    """The configuration of the repository, with the addresses of this test."""
    text = (REPOSITORY / "deploy/balancers" / name).read_text()
    for number, server in enumerate(servers, 1):
        text = text.replace(f"10.0.0.{number}:8080", f"127.0.0.1:{server.port}")
        # Each server has a health listener of its own here.
        text = re.sub(rf"(127\.0\.0\.1:{server.port} check port) 9090", rf"\1 {server.health}", text)
    text = text.replace("127.0.0.1:8000", f"127.0.0.1:{port}").replace("/tmp/nginx-mcp-bash", f"{folder}/nginx")
    path = folder / name
    path.write_text(change(text))
    return path


def start(program, servers, folder, change=lambda text: text):
    port = free_port()
    if program == "nginx":
        config = configured("nginx.conf", servers, port, folder, change)
        command = ["nginx", "-e", "stderr", "-p", folder, "-c", config, "-g", "daemon off;"]
        test = [*command, "-t"]
    else:
        config = configured("haproxy.cfg", servers, port, folder, change)
        command = ["haproxy", "-db", "-f", config]
        test = [*command, "-c"]
    tested = subprocess.run(test, capture_output=True, text=True)
    check(f"{program} accepts its configuration", tested.returncode == 0, tested.stderr)
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until(program, lambda: answers(port, "/mcp") not in (None, 503))
    return process, port


def unstuck(text):
    """The same configuration without what keeps sessions together."""
    lines = [line for line in text.splitlines() if not line.strip().startswith(("hash ", "stick "))]
    return "\n".join(lines).replace("balance leastconn", "balance roundrobin") + "\n"


def try_out(program, binary, folder):
    tokens = folder / "tokens"
    names = ["a", "b", "c", "d", "e", "f", "g", "h"]
    issued = {}
    for name in names:
        made = subprocess.run([binary, "token", "new", name, "--file", tokens, "--json"], capture_output=True, check=True)
        issued[name] = json.loads(made.stdout)["token"]
    servers = [Server(binary, folder, name, tokens) for name in ("one", "two")]
    balancer, port = start(program, servers, folder)
    try:
        clients = [Client(port, token) for token in issued.values()]
        used = set()
        for client in clients:
            sessions = [client.session() for _ in range(3)]
            for session in sessions:
                found = [client.which(session) for _ in range(4)]
                check("every request of a session is answered by one server", len(set(found)) == 1 and found[0][0] == 200, found)
                used.add(found[0][1])
        check("both servers are used", used == {"one", "two"}, used)

        stream = clients[0].stateless("waits", {"progressToken": "p"})
        check("progress opens a stream", stream.getheader("Content-Type") == "text/event-stream", stream.headers)
        line = b""
        while b"half" not in line:
            line = stream.readline()
            check("progress arrives while the call runs", line != b"", "the end of the stream")
        (folder / "go").touch()
        check("the answer follows", b'"text":"done' in stream.read(), "no answer")

        servers[0].process.terminate()
        servers[0].process.wait(PATIENCE)
        for client in clients:
            until("the other server to take over", lambda client=client: said(client.stateless("which")) == "two")
    finally:
        balancer.terminate()
        balancer.wait(PATIENCE)
        for server in servers:
            server.process.terminate()
            server.process.wait(PATIENCE)

    # Without it, a session is not found by the other server: so the test above can fail.
    (folder / "go").unlink()
    servers = [Server(binary, folder, name, tokens) for name in ("one", "two")]
    balancer, port = start(program, servers, folder, unstuck)
    try:
        client = Client(port, issued["a"])
        found = {client.which(session)[0] for session in [client.session() for _ in range(4)] for _ in range(4)}
        check("sessions break without stickiness", 404 in found, found)
        found = {said(client.stateless("which")) for _ in range(10)}
        check("stateless requests need none", found == {"one", "two"}, found)
    finally:
        balancer.terminate()
        balancer.wait(PATIENCE)
        for server in servers:
            server.process.terminate()
            server.process.wait(PATIENCE)


def main():
    binary = str(Path(sys.argv[1]).resolve())
    for program in sys.argv[2:] or ["nginx", "haproxy"]:
        if not shutil.which(program):
            sys.exit(f"tests/deploy/balancers: {program} is not installed; `apt-get install {program}`")
        with tempfile.TemporaryDirectory() as folder:
            try_out(program, binary, Path(folder))
        print(f"tests/deploy/balancers: {program} keeps sessions together, passes events on, and survives a dead server")


main()
