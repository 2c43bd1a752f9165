"""Test clients: call the functions of a file as a client of the server would, from pytest or any other test runner.

    from mcp_bash.testing import Client

    def test_add():
        with Client("tools/sums.py") as client:
            assert client.call_tool("add", {"a": 1, "b": 2}).data == 3

`Client` runs the functions in the process of the test. `ServerClient` starts `mcp-bash` and talks to it over pipes. Both
have the same methods. See docs/testing.md.
"""

from __future__ import annotations

from .answers import Accept as Accept
from .answers import Answer as Answer
from .answers import Asked as Asked
from .answers import Cancel as Cancel
from .answers import Decline as Decline
from .file_client import Client as Client
from .results import Log as Log
from .results import Progress as Progress
from .results import PromptResult as PromptResult
from .results import ResourceResult as ResourceResult
from .results import ToolResult as ToolResult
from .server_client import ServerClient as ServerClient

__all__ = [
    "Accept", "Answer", "Asked", "Cancel", "Client", "Decline", "Log", "Progress", "PromptResult", "ResourceResult",
    "ServerClient", "ToolResult",
]  # fmt: skip
