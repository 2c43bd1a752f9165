"""All agents, by their names."""

from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


def all_names():
    files = [*sorted(HERE.glob("programs/*.py")), *sorted(HERE.glob("frameworks/*.py"))]
    return [file.stem.replace("_", "-") for file in files if not file.name.startswith(("turn", "__"))]


def agent_named(name):
    module = name.replace("-", "_")
    folder = "programs" if (HERE / f"programs/{module}.py").exists() else "frameworks"
    return import_module(f"{folder}.{module}").AGENT
