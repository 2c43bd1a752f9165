"""Searches the source of a file for variables of its module that its functions change."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any, Dict, Iterator, List, Set, Tuple, Union

_CHANGING = frozenset(
    "add append appendleft clear discard extend extendleft insert pop popitem popleft put put_nowait remove reverse "
    "setdefault sort update".split()
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Function = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]


def changed_variables(source: bytes, namespace: Dict[str, Any]) -> List[Tuple[str, int]]:
    """The variables with the lines that define them, in their order."""
    tree = ast.parse(source)
    defined = _defined(tree)
    changed: Set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            changed.update(_changed_by(node, set(defined)))
    return sorted(
        ((name, defined.get(name, 1)) for name in changed if not isinstance(namespace.get(name), ModuleType)),
        key=lambda found: (found[1], found[0]),
    )


def _defined(tree: ast.Module) -> Dict[str, int]:
    """The variables that statements of the module assign, with their first lines."""
    found: Dict[str, int] = {}
    for node in _outside_functions(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, node.lineno)
    return found


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield child
            yield from _outside_functions(child)


def _own_nodes(function: _Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions in it."""
    body = function.body if isinstance(function.body, list) else [function.body]
    for statement in body:
        if not isinstance(statement, _FUNCTIONS):
            yield statement
            yield from _outside_functions(statement)


def _changed_by(function: _Function, variables: Set[str]) -> Iterator[str]:
    nodes = list(_own_nodes(function))
    shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    arguments = function.args
    own = {one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]} | (assigned - shared)
    yield from shared & assigned
    for node in nodes:
        name = _root_of_change(node)
        if name in variables and name not in own:
            yield name


def _root_of_change(node: ast.AST) -> str:
    """The variable whose value a node changes: ``x`` in ``x[0] = 1``, ``del x.y`` and ``x.y.append(1)``."""
    if isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
        return _root(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        return _root(node.func.value)
    return ""


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
