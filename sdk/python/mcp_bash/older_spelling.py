"""Rewrites hints of a newer Python for this one. Only hints that are texts can be rewritten."""

from __future__ import annotations

import ast
import sys
from types import CodeType
from typing import Any

_BUILTIN_GENERICS = {"list": "List", "dict": "Dict", "tuple": "Tuple", "set": "Set", "frozenset": "FrozenSet"}


def in_older_spelling(hint: str) -> CodeType:
    """Code that evaluates to the hint. It uses `typing` under the name ``__mcp_typing``."""
    tree = _OlderSpelling().visit(ast.parse(hint, mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<type hint>", "eval")


class _OlderSpelling(ast.NodeTransformer):
    """``X | Y`` becomes ``Union[X, Y]``, ``list[X]`` becomes ``List[X]``."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.BitOr):
            return node
        both = ast.Tuple(elts=[node.left, node.right], ctx=ast.Load())
        part: Any = both if sys.version_info >= (3, 9) else ast.Index(value=both)  # type: ignore[call-arg,unused-ignore]
        return ast.Subscript(value=_from_typing("Union"), slice=part, ctx=ast.Load())

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in _BUILTIN_GENERICS:
            node.value = _from_typing(_BUILTIN_GENERICS[node.value.id])
        return node


def _from_typing(name: str) -> ast.expr:
    return ast.Attribute(value=ast.Name(id="__mcp_typing", ctx=ast.Load()), attr=name, ctx=ast.Load())
