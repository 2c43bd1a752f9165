"""Changes to modules of the standard library that take long to load: made when a person's code loads one, and not before."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict

_waiting: Dict[str, Callable[[Any], None]] = {}


def after_import(name: str, change: Callable[[Any], None]) -> None:
    """Has ``change(module)`` called as soon as the module is loaded."""
    module = sys.modules.get(name)
    if module is not None:
        change(module)
        return
    if not _waiting:
        sys.meta_path.insert(0, _Finder)
    _waiting[name] = change


class _Finder:
    """Finds what is waited for, and has it changed once it is loaded."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _waiting:
            return None
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = spec and spec.loader
        if loader is not None:
            load, change = loader.exec_module, _waiting.pop(name)

            def load_and_change(module: Any) -> None:
                load(module)
                change(module)

            loader.exec_module = load_and_change
        return spec
