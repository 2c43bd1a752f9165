"""Functions whose packages `uv` installs: those that a file names itself (PEP 723), and those of a project of `uv`.

The project that is named on the command line is not used: this one is made here, and needs packages that are nowhere yet.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters

sys.path.insert(0, str(Path(__file__).parent.parent))
from conversation import check

FUNCTION = '''from mcp_bash import tool
import humanize


@tool
def {name}(count: int) -> str:
    """Writes a size for people."""
    return humanize.naturalsize(count) + " by " + humanize.__version__
'''

INLINE = """# /// script
# requires-python = ">=3.8"
# dependencies = ["humanize==4.9.0"]
# ///
"""

PROJECT = """[project]
name = "sizes"
version = "1"
requires-python = ">=3.9"
dependencies = ["humanize==4.10.0"]
"""

BROKEN = """# /// script
# dependencies = ["there-is-no-such-package-of-this-name==1"]
# ///
"""


def make_project(folder, environment):
    (folder / "tools/own").mkdir(parents=True)
    (folder / "tools/inline.py").write_text(INLINE + FUNCTION.format(name="inline"))
    (folder / "tools/own/locked.py").write_text(FUNCTION.format(name="locked"))
    (folder / "pyproject.toml").write_text(PROJECT)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o022)
    subprocess.run(["uv", "lock", "--quiet"], cwd=folder, env=environment, check=True)


async def converse(command):
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        # A cache of its own, so that nothing is there already.
        environment["UV_CACHE_DIR"] = str(folder / "cache")
        project = folder / "project"
        make_project(project, environment)
        server = StdioServerParameters(command=command[0], args=["--project-root", str(project)], env=environment)
        async with Client(server) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            check("both files are tools", listed == {"inline", "locked"}, listed)
            for name, wanted in [("inline", "1.2 kB by 4.9.0"), ("locked", "1.2 kB by 4.10.0")]:
                result = await client.call_tool(name, {"count": 1234})
                said = result.content[0].text
                check(f"{name} has the version that it asks for", said == wanted, said)
            check("the environment of the project was made", (project / ".venv/bin/python").exists(), folder)
        broken = project / "tools/broken.py"
        broken.write_text(BROKEN + FUNCTION.format(name="broken"))
        validate = [command[0], "validate", "--project-root", str(project)]
        said = subprocess.run(validate, env=environment, capture_output=True, text=True)
        told = said.stdout + said.stderr
        check("a package that is nowhere is named", "there-is-no-such-package-of-this-name" in told, told)


asyncio.run(converse(sys.argv[1:]))
