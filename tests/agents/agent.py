"""What is known about an agent program or a framework: its packages, how it is run, and what its model sees."""

from dataclasses import dataclass
from pathlib import Path
from expectations import USUAL

PROMPT = "Call each tool of the server turns once, and quote the results."


@dataclass
class Turn:
    """The surroundings of one turn."""

    installed: Path
    home: Path
    work: Path
    server: Path
    project: Path
    model_url: str


class Agent:
    name: str
    # Packages with their pinned versions. An agent has one of the two.
    npm: dict[str, str] = {}
    pypi: dict[str, str] = {}
    # What its model sees where that differs from what is usual.
    differs: dict = {}
    # What it puts around each result, as a regular expression.
    wrapping = "$^"
    # What it says when it gives up because a tool asks and no user is there. Such a call gets a turn of its own.
    ends_when_asked: str | None = None
    # Whether it kills every process below it at its end. Then only the next server removes the folder of this one.
    kills_all = False
    seconds = 240

    @property
    def expected(self):
        expected = {**USUAL, **self.differs}
        return {tool: expected[tool] for tool in expected if tool != "asking" or not self.ends_when_asked}

    def environment(self, turn: Turn) -> dict[str, str]:
        return {}

    def configure(self, turn: Turn):
        """Writes the files that the agent reads."""

    def command(self, turn: Turn) -> list[str]:
        """The command line of one turn with PROMPT, after which the agent exits."""
        raise NotImplementedError


class Program(Agent):
    """A program that `mcp-bash install` knows."""

    # Its name for `install`, and how it lists its servers.
    client: str
    list_command: list[str] | None = None


class Framework(Agent):
    """A library: a script beside this file holds the turn with it."""

    script: str

    def command(self, turn):
        interpreter = "venv/bin/python" if self.pypi else "node_modules/.bin/node"
        script = str(turn.installed / self.script)
        return [str(turn.installed / interpreter), script, turn.model_url, str(turn.server), str(turn.project), PROMPT]
