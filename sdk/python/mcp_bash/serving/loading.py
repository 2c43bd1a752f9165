"""Loads an author's file: runs it once as a module, and finds its definitions and its source files."""

from __future__ import annotations

import os
import sys

from ..declaring import Declaration, declared
from .module_state import describe
from .trusted import with_own_modules_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import PathFinder
    from typing import Any, Collection, Dict, List, Optional
else:
    # The module where `importlib` gets it, which is slower to load.
    from _frozen_importlib_external import PathFinder

_NOT_OURS = ("site-packages", "dist-packages", "node_modules", ".venv", "venv", "__pycache__")
_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def set_path(file: str) -> None:
    """Modules beside the file and in the project can be imported.

    They come after Python's own: `import email` must not find a tool named `email.py`.
    """
    own = os.path.dirname(file)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _OWN_FOLDER]
    at = next((n for n, entry in enumerate(sys.path) if "-packages" in entry), len(sys.path))
    root = project_root(file)
    sys.path[at:at] = [own] if own == root else [own, root]
    # Child processes may use the package, too.
    sys.path.append(_OWN_FOLDER)


def project_root(file: str) -> str:
    return os.path.realpath(os.environ.get("MCPBASH_PROJECT_ROOT") or os.path.dirname(file))


class Loaded:
    """A file that was run: its functions, and the state of its module in words."""

    def __init__(self, declarations: List[Declaration], state: Optional[str]) -> None:
        self.declarations = declarations
        self.state = state


def load(file: str) -> Loaded:
    """Runs the file. Always from its source: Python's cache compares whole seconds, and an edit can be
    faster."""
    with open(file, "rb") as opened:
        source = opened.read()
    code = compile(source, file, "exec", dont_inherit=True)
    module = type(sys)(_module_name(file))
    module.__file__ = file
    sys.modules[module.__name__] = module
    sys.argv[:] = [file]
    with_own_modules_only(project_root(file), lambda: exec(code, module.__dict__))
    declarations = [one for one in declared if belongs(one.file, file)]
    return Loaded(declarations, describe(module, code, source))


def _module_name(file: str) -> str:
    """The name by which others would import the file (pickles and child processes do); another if that is
    taken."""
    name = os.path.splitext(os.path.basename(file))[0]
    if name.isidentifier() and name not in sys.modules and name not in _modules_of_python():
        found = PathFinder.find_spec(name, _path_without_python())
        if found is not None and found.origin is not None and os.path.realpath(found.origin) == os.path.realpath(file):
            return name
    return "mcp_bash_file_" + "".join(letter if letter.isalnum() else "_" for letter in name)


def _modules_of_python() -> Collection[str]:
    known: Collection[str] = getattr(sys, "stdlib_module_names", sys.builtin_module_names)
    return known


def _path_without_python() -> List[str]:
    """The search path without Python's own folder, which is large, and whose module names are known since
    3.10."""
    if not hasattr(sys, "stdlib_module_names"):
        return sys.path
    own = os.path.dirname(os.__file__)
    return [entry for entry in sys.path if entry != own and not entry.startswith(own + "/lib-dynload")]


def belongs(declared_in: str, file: str) -> bool:
    """Whether a function is served by this file. One imported from another function file is served by that
    file."""
    if declared_in == file:
        return True
    tools = os.environ.get("MCPBASH_TOOLS_DIR") or os.path.join(project_root(file), "tools")
    path = os.path.realpath(declared_in)
    in_tools = path.startswith(os.path.realpath(tools) + os.sep) or os.path.dirname(path) == os.path.dirname(file)
    return not in_tools or os.path.basename(path).startswith(("_", "."))


def loaded_files(file: str) -> List[str]:
    """The other files of the project that were loaded."""
    root = project_root(file) + os.sep
    found: List[str] = []
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if not isinstance(path, str):
            continue
        path = os.path.abspath(path)
        if path == file or not path.startswith(root) or path.startswith(_OWN_FOLDER + os.sep):
            continue
        if not set(path[len(root) :].split(os.sep)) & set(_NOT_OURS) and not path.startswith(sys.prefix + os.sep):
            found.append(path)
    return sorted(set(found))


def failure(problem: BaseException, file: str) -> Dict[str, Any]:
    """Why a file cannot be served: one line with its place, and the whole traceback."""
    from ..errors import DefinitionError
    from ..failures import one_line, traceback_text

    if isinstance(problem, DefinitionError):
        return {"message": str(problem), "trace": ""}
    trace = traceback_text(problem)
    if isinstance(problem, SyntaxError):
        place = "%s:%s" % (os.path.basename(problem.filename or file), problem.lineno)
        return {"message": "%s: %s: %s" % (place, type(problem).__name__, problem.msg), "trace": trace}
    place = _last_line_in_project(problem, file) or os.path.basename(file)
    return {"message": "%s: %s" % (place, one_line(problem, "")), "trace": trace}


def _last_line_in_project(problem: BaseException, file: str) -> Optional[str]:
    found = None
    step = problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            found = "%s:%d" % (os.path.basename(file), step.tb_lineno)
        step = step.tb_next
    return found
