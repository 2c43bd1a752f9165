"""The functions of a file, in the process of a test."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, List, Union

from ..declaring import Declaration, declared
from ..definitions import Definitions
from ..serving.loading import belongs

Target = Union[str, "os.PathLike[str]", ModuleType]


def definitions_of(target: Target) -> Definitions:
    """The definitions of a module, or of a file, which is imported once, by its name."""
    module = target if isinstance(target, ModuleType) else _imported(os.path.abspath(os.fspath(target)))
    file = os.path.abspath(str(module.__file__))
    found = [one for one in declared if belongs(os.path.abspath(one.file), file)]
    latest: List[Declaration] = [one for one in found if _is_current(one)]
    return Definitions(latest)


def _imported(file: str) -> ModuleType:
    name = os.path.splitext(os.path.basename(file))[0]
    known = sys.modules.get(name)
    if known is not None and os.path.abspath(str(getattr(known, "__file__", ""))) == file:
        return known
    if not os.path.isfile(file):
        raise FileNotFoundError("there is no file %s" % file)
    folder = os.path.dirname(file)
    if folder not in sys.path:
        # After Python's own modules, as in a server.
        sys.path.append(folder)
    if known is not None:
        name = "mcp_bash_file_" + name
    specification: Any = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_current(one: Declaration) -> bool:
    """Whether the module still has the function: one that was loaded again has declared its functions twice."""
    module = sys.modules.get(getattr(one.function, "__module__", ""))
    return module is None or vars(module) is getattr(one.function, "__globals__", vars(module))
