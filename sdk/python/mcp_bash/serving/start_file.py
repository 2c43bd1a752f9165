"""Keeps the compiled modules of each start in one file, from which ``worker.py`` loads them: Python takes longer to find and open
that many files than to run what they hold. A start without the file, or with another Python, imports them as usual."""

from __future__ import annotations

import ast
import marshal
import os
import re
import sys
from importlib.util import MAGIC_NUMBER, cache_from_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator

_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# With what they import, this is what every worker loads before the author's file.
_FIRST = ("mcp_bash.serving.start", "mcp_bash.serving.worker")
# An import at the top of a module; others run later, or never.
_IMPORT = re.compile(r"^from (\.+)([\w.]*) import \(?([\w, ]*)", re.MULTILINE)


def start_file() -> str:
    """Where ``worker.py`` looks for it."""
    return os.path.join(_FOLDER, "mcp_bash", "__pycache__", "start.%s.modules" % sys.implementation.cache_tag)


def keep() -> None:
    """Writes the file."""
    if sys.flags.optimize:
        return
    target = start_file()
    found: Dict[str, Any] = {}
    for name in _FIRST:
        _add(name, found)
    modules = [(name, *entry) for name, entry in found.items()]
    draft = "%s.%d" % (target, os.getpid())
    try:
        with open(draft, "wb") as opened:
            opened.write(MAGIC_NUMBER + marshal.dumps((_FOLDER, modules)))
        os.replace(draft, target)
    except OSError:  # nothing may be kept here
        pass


def _add(name: str, found: Dict[str, Any]) -> None:
    """Adds a module after those that it imports."""
    path = os.path.join(_FOLDER, *name.split("."))
    is_package = os.path.isdir(path)
    path = os.path.join(path, "__init__.py") if is_package else path + ".py"
    if name in found or not os.path.isfile(path):
        return
    # For modules that import each other, and packages whose modules import them.
    found[name] = None
    parent = name.rpartition(".")[0]
    if parent:
        _add(parent, found)
    for imported in _imported(path, name if is_package else parent):
        _add(imported, found)
    with open(path, "rb") as opened:
        tree = ast.parse(opened.read(), path)
    # The statement would load a module, and the flag says the same.
    future = [one for one in tree.body if isinstance(one, ast.ImportFrom) and one.module == "__future__"]
    tree.body = [one for one in tree.body if one not in future]
    code = compile(tree, path, "exec", annotations.compiler_flag if future else 0, dont_inherit=True)
    seen, folders = os.stat(path), [os.path.dirname(path)] if is_package else None
    del found[name]
    found[name] = (path, seen.st_mtime_ns, seen.st_size, cache_from_source(path), folders, code)


def _imported(path: str, package: str) -> Iterator[str]:
    with open(path, encoding="utf-8") as opened:
        text = opened.read()
    for dots, module, names in _IMPORT.findall(text):
        parents = package.split(".")
        base = ".".join(parents[: len(parents) - len(dots) + 1] + ([module] if module else []))
        yield base
        for one in names.split(","):
            yield base + "." + one.split(" as ")[0].strip()
