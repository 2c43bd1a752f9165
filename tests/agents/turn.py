"""One whole turn of an agent, inside its namespaces: turn.py AGENT INSTALLED FOLDER SERVER. Prints a line a check."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from agent import Framework, Program, Turn
from agents import agent_named
from expectations import WORDS_OF_THE_USER, steps
from isolation import start_loopback, use_as_tmp
from leftovers import left
from model.script import THE_END, Script
from model.server import ModelServer

HERE = Path(__file__).parent


class Checks:
    def __init__(self, agent):
        self.agent = agent

    def check(self, what, holds, otherwise=""):
        if holds:
            print(f"ok {self.agent}: {what}", flush=True)
        else:
            print(f"not ok {self.agent}: {what}; {otherwise}", flush=True)


def main(name, installed, folder, server):
    agent = agent_named(name)
    folder, server = Path(folder), Path(server)
    home, work, tmp = folder / "home", folder / "work", folder / "tmp"
    project, requests, logs = folder / "project", folder / "requests", folder / "logs"
    for path in (home, work, tmp, requests, logs):
        path.mkdir(parents=True)
    shutil.copytree(HERE / "project", project)
    # The server runs no file that others may write.
    subprocess.run(["chmod", "-R", "go-w", project], check=True)
    (work / "notes.txt").write_text(WORDS_OF_THE_USER + "\n")
    start_loopback()
    use_as_tmp(tmp)

    script = Script(steps(agent.expected, work))
    model = ModelServer(script, requests)
    turn = Turn(Path(installed), home, work, server, project, model.url)
    environment = {
        "HOME": str(home),
        "PATH": f"{installed}/node_modules/.bin:{installed}/venv/bin:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": "/tmp",
        **agent.environment(turn),
    }

    def run(log, command, seconds):
        return run_to_end(command, work, environment, seconds, logs / f"{log}.txt")

    checks = Checks(name)
    if isinstance(agent, Program):
        ask_to_install = [str(server), "install", agent.client, "--project-root", str(project)]
        status, said = run("install", ask_to_install, 60)
        checks.check("install writes the entry", status == 0, f"exit status {status}: {said[-300:]}")
    agent.configure(turn)
    if getattr(agent, "list_command", None):
        status, said = run("list", agent.list_command, 120)
        checks.check("lists the server", "turns" in said, f"exit status {status}: {said[-300:]}")

    status, said = run("turn", agent.command(turn), agent.seconds)
    check_turn(checks, agent, script, model, status, said)
    if agent.ends_when_asked:
        model.script = Script(steps(["asking"], work))
        status, said = run("asking", agent.command(turn), agent.seconds)
        checks.check(f"asking: it ends with {agent.ends_when_asked!r}", agent.ends_when_asked in said, f"it said: {said[-300:]!r}")
    if agent.kills_all:
        run("next", ["sh", "-c", 'sleep 2 | exec "$@"', "sh", str(server), "--project-root", str(project)], 60)
    found = left(server.resolve(), Path("/tmp"))
    checks.check("nothing is left", not found, "; ".join(found))
    model.close()


def check_turn(checks, agent, script, model, status, said):
    missing = [tool for tool, _ in script.steps if tool not in script.offered]
    checks.check("the model is offered every tool", not missing, f"it lacks {', '.join(missing)}")
    for tool, expectation in agent.expected.items():
        result = script.results.get(tool)
        text = re.sub(agent.wrapping, "", result.text) if result else ""
        holds = result is not None and expectation.holds(text, script.pictures)
        seen = f"it saw {len(text)} characters: {text[:300]!r}" if result else "there was no result"
        checks.check(f"{tool}: {expectation.meaning}", holds, seen)
    checks.check("the model understood each request", not model.errors, "; ".join(model.errors[:3]))
    checks.check("the turn ends with the model's answer", THE_END in said, f"it said: {said[-300:]!r}")
    checks.check("the program exits with 0", status == 0, f"exit status {status}")
    if isinstance(agent, Framework):
        # A framework passes on what the server writes to standard error.
        unwanted = [line for line in said.splitlines() if "Traceback" in line or "client connected" in line]
        checks.check("no exception, and no line for an ordinary connect", not unwanted, unwanted[:1])


def run_to_end(command, folder, environment, seconds, log):
    """Runs a command in a process group of its own. What it says goes to a file: a process that outlives it cannot hold
    up the check."""
    with log.open("wb") as output:
        output.write((" ".join(command) + "\n\n").encode())
        output.flush()
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        try:
            process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **streams)
            status = process.wait(seconds)
        except OSError as error:
            status = f"not started: {error}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            status = f"killed after {seconds} s"
    return status, log.read_text(errors="replace").partition("\n\n")[2]


if __name__ == "__main__":
    main(*sys.argv[1:])
