"""State that calls of a file share through its module: variables that its functions change, and what `@keep` keeps.

Several processes would each have their own, so a file with state has one process unless its author says otherwise. Only
the file itself is searched, and only if a quick look shows that its functions use such a variable.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType
    from typing import Any, Dict, Iterator, List, Optional, Set

_UNCHANGING: Any = (int, float, complex, bool, str, bytes, tuple, frozenset, type(None), type(sys), type(len), type(lambda: 0))


def describe(module: ModuleType, code: CodeType, source: bytes) -> Optional[str]:
    """The state in words, or None if there is none."""
    found = ["`%s` (@keep)" % name for name in _kept()]
    if _may_have_state(module, code, source):
        from .state_search import changed_variables

        found += ["`%s` (line %d)" % (name, line) for name, line in changed_variables(source, vars(module))]
    return ", ".join(found) or None


def _kept() -> List[str]:
    keeping: Any = sys.modules.get("mcp_bash.keeping")
    return [one.__name__ for one in keeping.kept] if keeping is not None else []


def _may_have_state(module: ModuleType, code: CodeType, source: bytes) -> bool:
    if b"global " in source:
        return True
    variables: Set[str] = {name for name, value in vars(module).items() if _may_change(name, value)}
    return any(not variables.isdisjoint(inner.co_names) for inner in _functions(code))


def _may_change(name: str, value: Any) -> bool:
    return not name.startswith("__") and not isinstance(value, _UNCHANGING)


def _functions(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield constant
            yield from _functions(constant)


def split(options: Dict[str, Any], state: Optional[str]) -> Optional[str]:
    """Sets the number of processes of a file with state. Returns the state if the author has chosen several."""
    if state is None:
        return None
    return state if int(options.setdefault("processes", 1)) > 1 else None
