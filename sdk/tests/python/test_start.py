"""The modules that a worker loads before its first result: a simple file must not pay for those that only
others need."""

import inspect
import os
import sys
import tempfile
import unittest

from host import WorkerTest
from mcp_bash import callables

SIMPLE = '''
import sys
from mcp_bash import tool

@tool
def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b

@tool
def loaded() -> str:
    return " ".join(sys.modules)
'''
# Each takes about as long to load as the rest of the worker together.
COSTLY = {"ast", "asyncio", "collections", "dataclasses", "enum", "functools", "inspect", "json", "logging", "pathlib", "re", "typing"}


class Start(WorkerTest):
    def test_a_simple_file_loads_nothing_costly(self):
        # Some installations load many modules at each start, by `.pth` files, which `-S` skips.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        bare = os.path.join(folder.name, "python")
        with open(bare, "w") as file:
            file.write('#!/bin/sh\nexec "%s" -S "$@"\n' % sys.executable)
        os.chmod(bare, 0o755)
        for head in ("", "from __future__ import annotations\n"):
            worker = self.served(head + SIMPLE, python=bare)
            self.assert_text(worker.call("add", {"a": 1}), "3")
            loaded = set(worker.call("loaded")["content"][0]["text"].split())
            self.assertEqual(loaded & COSTLY, set())


def plain(a, b: int = 1, *more: str, c: "float", d=None, **others) -> bool:
    """Words."""


def positional(a, /, b=2):
    yield a


async def waits(*, a=1):
    return a


async def waits_and_yields():
    yield 1


class Callables(unittest.TestCase):
    def test_a_plain_function_is_read_as_inspect_reads_it(self):
        empty = inspect.Parameter.empty
        for function in (plain, positional, waits, waits_and_yields, lambda: 1):
            signature = inspect.signature(function)
            given, returns = callables.signature_of(function)
            known = [
                (one.name, one.kind, *(empty if value is callables.Missing else value for value in (one.default, one.hint)))
                for one in given
            ]
            expected = [(one.name, int(one.kind), one.default, one.annotation) for one in signature.parameters.values()]
            self.assertEqual(sorted(known, key=str), sorted(expected, key=str))
            self.assertEqual([one[0] for one in known], list(signature.parameters))
            self.assertEqual(empty if returns is callables.Missing else returns, signature.return_annotation)
            generates = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
            self.assertEqual(callables.is_generator(function), generates)
            self.assertEqual(callables.is_async(function), inspect.iscoroutinefunction(function))
        self.assertEqual(callables.doc_of(plain), "Words.")
