"""Patches for modules of the standard library that are slow to load: applied when the author's code loads
one, and not before. Our patching module is also loaded only then."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import PathFinder
    from typing import Any, Dict, Tuple
else:
    # The module where `importlib` gets it, which is slower to load.
    from _frozen_importlib_external import PathFinder

# The patched modules, and the functions that patch them in modules beside this one.
_CHANGES: Dict[str, Tuple[str, str]] = {
    "threading": ("submitting", "carry_into_threads"),
    "concurrent.futures._base": ("submitting", "carry_into_callbacks"),
    "concurrent.futures.thread": ("submitting", "carry_into_executors"),
    "multiprocessing.pool": ("submitting", "carry_into_pools"),
    "queue": ("shared_queues", "watch_thread_queues"),
    "asyncio.queues": ("shared_queues", "watch_task_queues"),
    "contextlib": ("redirecting", "redirect_by_call"),
}
_waiting = set(_CHANGES)


def change_what_is_imported() -> None:
    """Patches loaded modules now, and the rest as soon as they are loaded."""
    sys.meta_path.insert(0, _Finder)
    for name in _CHANGES:
        module = sys.modules.get(name)
        if module is not None:
            _change(module)


def _change(module: Any) -> None:
    _waiting.discard(module.__name__)
    place, function = _CHANGES[module.__name__]
    getattr(__import__("mcp_bash.serving." + place, fromlist=[function]), function)(module)


class _Finder:
    """Finds the expected modules, and patches them once they are loaded."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _waiting:
            return None
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = spec and spec.loader
        if loader is not None:
            load = loader.exec_module
            _waiting.discard(name)

            def load_and_change(module: Any) -> None:
                load(module)
                _change(module)

            loader.exec_module = load_and_change
        return spec
