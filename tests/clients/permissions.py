"""Who may do what, and who did it: sessions with roles, a policy, consent and an audit log, the same for every Python client.

The session writes down a line for each call, question and answer, as the audit log should have it, and compares them at the end.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from conversation import SCRATCH, Address, Answers, Command, Heard, Refused, Result, check
from http_conversation import is_refused, run
from http_server import Server, new_token

# What `make-permissions-project.sh` writes.
TOOLS = {
    "ada": ["customers", "deploy", "introduce", "status", "wipe"],
    "ben": ["deploy", "status", "wipe"],
    "cleo": ["customers", "status"],
}
SECRETS = ["hidden-by-pointer", "4929000000006789"]
FORBIDDEN = "production-is-for-ada"
ASKED_BY_RULE = "ask-before-staging"
AUDIT = Path(SCRATCH.name, "audit", "audit.jsonl")
ONCE, SESSION = ("accept", {"consent": "once"}), ("accept", {"consent": "session"})
NO = ("decline", None)


def run_over_http(adapter, is_stateless):
    run(converse_over_http(adapter, is_stateless))


def run_over_stdio(adapter):
    run(converse_over_stdio(adapter))


class Expected:
    """The lines that the audit log should have, and what the scripts should have written."""

    def __init__(self, known_by, is_stateless):
        self.known_by, self.is_stateless = known_by, is_stateless
        self.lines, self.runs = [], []

    def call(self, caller, tool, outcome="success", why=None, rule=None, consent=None):
        self._add("mcp.tools.call", caller, tool, outcome, why, rule, consent)

    def asks(self, caller, tool, answer, rule=None):
        """A question, and its answer. Without sessions, the call ends with the question, and another one brings the answer."""
        self._add("mcp.question", caller, tool)
        if self.is_stateless:
            self.call(caller, tool, "input_required", rule=rule)
        self._add("mcp.answer", caller, tool, "success", consent=answer)

    def run(self, line):
        self.runs.append(line)

    def _add(self, event, caller, tool, outcome=None, why=None, rule=None, consent=None):
        line = {
            "event.name": event, "caller.name": caller, "caller.known_by": self.known_by, "gen_ai.tool.name": tool,
            "outcome": outcome, "error.type": why, "policy.rule": rule, "consent": consent,
        }  # fmt: skip
        self.lines.append({name: value for name, value in line.items() if value})


class Caller:
    """A client of one caller, which expects what it does in the audit log."""

    def __init__(self, name, client, answers, expected):
        self.name, self.client, self.answers, self.expected = name, client, answers, expected

    async def sees(self, tools):
        seen = sorted(await self.client.tools())
        check(f"{self.name} sees the tools that it may use", seen == tools, seen)

    async def tells_its_name(self):
        result = await self.client.call("status", {})
        check(f"the script knows {self.name}", result == Result(f"fine, {self.name}", False), result)
        self.expected.call(self.name, "status")
        self.expected.run(f"status by {self.name}")

    async def is_not_allowed(self, tool, arguments):
        try:
            outcome = await self.client.call(tool, arguments)
        except Refused as refused:
            outcome = refused.code
        check(f"{self.name} cannot call {tool}", outcome == -32602, outcome)
        self.expected.call(self.name, tool, "refused", "rights")

    async def is_denied(self):
        result = await self.client.call("deploy", {"env": "production"})
        why = f"{self.name} may not deploy to production."
        check("the message of the rule reaches the client", result.is_error and why in result.text, result)
        self.expected.call(self.name, "deploy", "refused", "policy", FORBIDDEN)

    async def deploys(self, env, answer=None):
        """`answer` is that of the user, if a rule asks."""
        rule = ASKED_BY_RULE if answer else None
        await self._acts("deploy", {"env": env}, f"Deploy to {env}?", f"deployed to {env}", f"deploy to {env}", answer, rule)

    async def wipes(self, what, answer):
        await self._acts("wipe", {"what": what}, f'what: "{what}"', f"wiped {what}", f"wipe {what}", answer)

    async def _acts(self, tool, arguments, question, done, ran, answer, rule=None):
        self.answers.asked.clear()
        self.answers.forms = [answer] if answer else []
        result = await self.client.call(tool, arguments)
        asked = "".join(self.answers.asked)
        check("the user is asked once" if answer else "no user is asked", len(self.answers.asked) == bool(answer), asked)
        check("the question says what is asked", not answer or question in asked, asked)
        if answer:
            self.expected.asks(self.name, tool, answer[0], rule)
        if answer == NO:
            check(f"{tool} is not run after a no", result.is_error and "declined" in result.text, result)
            return self.expected.call(self.name, tool, "refused", "consent", rule, "declined")
        check(f"{tool} is run", result == Result(done, False), result)
        self.expected.call(self.name, tool, rule=rule, consent=answer[1]["consent"] if answer else None)
        self.expected.run(f"{ran} by {self.name}")

    async def wipes_again(self, what):
        """With a consent for the session, or in the stateless era one for the caller."""
        self.answers.asked.clear()
        result = await self.client.call("wipe", {"what": what})
        check("the user is not asked again", result == Result(f"wiped {what}", False) and not self.answers.asked, result)
        self.expected.call(self.name, "wipe", consent="remembered")
        self.expected.run(f"wipe {what} by {self.name}")

    async def cannot_consent(self, tool, arguments, rule=None):
        result = await self.client.call(tool, arguments)
        is_told = result.is_error and "consent" in result.text
        reason = (result.data or {}).get("error", {}).get("reason")
        check("a client that cannot ask receives the reason", is_told and reason == "unavailable", result)
        self.expected.call(self.name, tool, "refused", "consent", rule, "unavailable")

    async def lists_customers(self):
        result = await self.client.call("customers", {})
        row = {"name": "Zoë", "card": "[redacted]"}
        wanted = {"rows": [row], "note": "paid with [redacted]"}
        check("a result has its redacted data", result.data == wanted and json.loads(result.text) == wanted, result)
        check("nothing else of it has left the server", not any(secret in str(result) for secret in SECRETS), result)
        self.expected.call(self.name, "customers", rule="hide-cards")
        self.expected.run(f"customers by {self.name}")

    async def introduces_itself(self):
        self.answers.forms = [("accept", {"name": "Zoë"})]
        result = await self.client.call("introduce", {})
        check("a script asks its own question", result == Result("Hello, Zoë!", False), result)
        self.expected.asks(self.name, "introduce", "accept")
        self.expected.call(self.name, "introduce")
        self.expected.run(f"introduce by {self.name}")


async def converse_over_http(adapter, is_stateless):
    expected = Expected("token", is_stateless)
    tokens = Path(SCRATCH.name, "tokens")
    headers = {name: {"Authorization": f"Bearer {new_token(tokens, name)}"} for name in TOOLS}
    async with Server("--tokens", str(tokens), "--audit", str(AUDIT)) as server:

        def enter(name, can_ask=True):
            return entered(adapter, Address(server.url, headers[name]), name, expected, can_ask)

        stranger = Address(server.url, {"Authorization": f"Bearer {'x' * 43}"})
        check("a stranger is refused", await is_refused(adapter(stranger, Heard(), Answers())))
        async with enter("ada") as ada, enter("ben") as ben, enter("cleo") as cleo:
            for caller in [ada, ben, cleo]:
                await caller.sees(TOOLS[caller.name])
                await caller.tells_its_name()
            await cleo.is_not_allowed("deploy", {"env": "test"})
            await ben.is_not_allowed("customers", {})
            await ben.is_denied()
            await ada.deploys("production")
            await cleo.lists_customers()
            await ada.introduces_itself()
            await ben.deploys("test")
            await consent(ben)
            # The consent of one is none of another.
            await ada.wipes("the tape", NO)
            await ben.wipes_again("the tape")
        async with enter("ben", can_ask=False) as ben:
            await ben.cannot_consent("wipe", {"what": "the cupboard"})
            await ben.cannot_consent("deploy", {"env": "staging"}, ASKED_BY_RULE)
            if is_stateless:
                await ben.wipes_again("the tape")
            else:
                await ben.cannot_consent("wipe", {"what": "the tape"})
        # The same calls at once: each has its own caller.
        async with enter("ada") as ada, enter("ben") as ben, enter("cleo") as cleo:
            await asyncio.gather(*(caller.tells_its_name() for caller in [ada, ben, cleo] for _ in range(4)))
        project = server.project
    check_records(project, expected)
    failed = [line for line in shown() if line["event.name"] == "mcp.login.failed"]
    check("the stranger has a line, and no name", failed and not any("caller.name" in line for line in failed), failed)


async def converse_over_stdio(adapter):
    user = f"user {os.getuid()}"
    expected = Expected("local", adapter.mode != "legacy")
    project = Path(sys.argv[3])
    command = Command([sys.argv[1], "--project-root", str(project), "--audit", str(AUDIT)])
    async with entered(adapter, command, user, expected) as local:
        await local.sees(TOOLS["ada"])
        await local.tells_its_name()
        await local.is_denied()
        await local.deploys("test")
        await local.lists_customers()
        await local.introduces_itself()
        await consent(local)
    async with entered(adapter, command, user, expected, can_ask=False) as local:
        await local.cannot_consent("wipe", {"what": "the tape"})
    check_records(project, expected)


async def consent(caller):
    await caller.deploys("staging", NO)
    await caller.deploys("staging", ONCE)
    await caller.deploys("staging", ONCE)
    await caller.wipes("the disk", NO)
    await caller.wipes("the disk", ONCE)
    await caller.wipes("the tape", SESSION)
    await caller.wipes_again("the tape")


class entered:
    """A caller whose client is connected."""

    def __init__(self, adapter, way, name, expected, can_ask=True):
        answers = Answers(can_ask=can_ask)
        self.client = adapter(way, Heard(), answers)
        self.caller = Caller(name, self.client, answers, expected)

    async def __aenter__(self):
        await self.client.__aenter__()
        return self.caller

    async def __aexit__(self, *error):
        return await self.client.__aexit__(*error)


def audit(*words):
    """What the command prints. It fails if the log was altered."""
    done = subprocess.run([sys.argv[1], "audit", *words], capture_output=True, text=True)
    check(f"audit {words[0]} succeeds", done.returncode == 0, done)
    return done.stdout


def shown():
    return [json.loads(line) for line in audit("show", str(AUDIT), "--json").splitlines()]


def check_records(project, expected):
    runs = (project / "runs").read_text().splitlines()
    check("the scripts have run for their callers, and only those", sorted(runs) == sorted(expected.runs), runs)
    audit("verify", str(AUDIT))
    about = ("mcp.server.start", "mcp.server.end", "mcp.login.failed")
    lines = [line for line in shown() if line["event.name"] not in about]
    names = {name for line in expected.lines for name in line}
    found = [{name: line[name] for name in line if name in names} for line in lines]
    # Calls at the same time end in any order.
    not_expected, missing = without(found, expected.lines), without(expected.lines, found)
    seen = {"not expected": not_expected, "missing": missing}
    check("each call, refusal, question and answer has its one line", not (not_expected or missing), seen)
    ids = [line["event.id"] for line in lines]
    check("the lines have ids of their own", len(ids) == len(set(ids)), ids)
    calls = {line["event.id"]: line for line in lines if line["event.name"] == "mcp.tools.call"}
    parts = [line for line in lines if line["event.name"] in ("mcp.question", "mcp.answer")]
    of = [(line, calls.get(line["call.id"], {})) for line in parts]
    belong = all(line["caller.name"] == call.get("caller.name") for line, call in of)
    check("questions and answers name a call of their caller", belong, of)
    said = AUDIT.read_text()
    check("the log has nothing that was redacted", not any(secret in said for secret in SECRETS), said)


def without(lines, others):
    """What is left of some lines without others, each taken away once."""
    left = list(lines)
    for other in others:
        if other in left:
            left.remove(other)
    return left
