"""The package as a whole: its names, and functions that stay functions."""

import ast
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import mcp_bash
from host import SDK
from mcp_bash import ToolError, keep, prompt, resource, tool


class Names(unittest.TestCase):
    def test_what_editors_see_is_what_there_is(self):
        with open(mcp_bash.__file__) as file:
            tree = ast.parse(file.read())
        branch = next(node for node in tree.body if isinstance(node, ast.If))
        seen = {}
        for imported in branch.body:
            for alias in imported.names:
                seen[alias.name] = imported.module
        del seen["aio"]
        self.assertEqual(seen, mcp_bash._home_of)
        for name in dir(mcp_bash):
            self.assertIsNotNone(getattr(mcp_bash, name), name)

    def test_all_names_at_once(self):
        self.assertEqual(mcp_bash.__all__, sorted([*mcp_bash._home_of, "aio"]))
        names = {}
        exec("from mcp_bash import *", names)
        self.assertEqual(set(names) - {"__builtins__"}, set(mcp_bash.__all__))
        self.assertIs(names["tool"], tool)

    def test_a_name_that_is_not_there(self):
        with self.assertRaises(AttributeError):
            mcp_bash.nothing
        with self.assertRaises(ImportError):
            exec("from mcp_bash import nothing")

    def test_names_are_right_in_any_order(self):
        """A module of the package must not hide a function of the same name."""
        names = [name for name in dir(mcp_bash) if not name.startswith("_")]
        program = "import importlib, mcp_bash, pkgutil\n"
        program += "for one in pkgutil.iter_modules(mcp_bash.__path__): importlib.import_module('mcp_bash.' + one.name)\n"
        program += "print([n for n in %r if type(getattr(mcp_bash, n)).__name__ == 'module'])" % names
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": SDK})
        self.assertEqual(done.stdout.strip(), b"['aio']")


def python_files(folder):
    found = set()
    for place, _, names in os.walk(folder):
        found |= {os.path.relpath(os.path.join(place, name), folder) for name in names if name.endswith((".py", ".typed"))}
    return found


def can_build():
    """Older versions of setuptools need a further package for wheels."""
    try:
        major = importlib.metadata.version("setuptools").split(".")[0]
    except importlib.metadata.PackageNotFoundError:
        return False
    return int(major) > 70 and importlib.util.find_spec("pip") is not None


class Installed(unittest.TestCase):
    @unittest.skipUnless(can_build(), "there is no pip, or no setuptools that makes wheels")
    def test_pip_installs_all_of_it(self):
        with tempfile.TemporaryDirectory() as folder:
            # Building it leaves files beside the source.
            source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
            shutil.copytree(SDK, source, ignore=shutil.ignore_patterns("__pycache__"))
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
            pip += ["--disable-pip-version-check", "--root-user-action=ignore", "--target", target, source]
            done = subprocess.run(pip, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout.decode())
            self.assertEqual(python_files(os.path.join(target, "mcp_bash")), python_files(os.path.join(source, "mcp_bash")))
            used = subprocess.run(
                [sys.executable, "-c", "import mcp_bash; print(mcp_bash.tool.__module__, mcp_bash.__file__)"],
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": target},
            )
            self.assertIn(target, used.stdout.decode())


class Functions(unittest.TestCase):
    def test_decorated_functions_are_themselves(self):
        def add(a: int, b: int) -> int:
            return a + b

        self.assertIs(tool(add), add)
        self.assertIs(tool(name="x")(add), add)
        self.assertIs(resource("a://b")(add), add)
        self.assertIs(prompt(add), add)
        self.assertEqual(add(1, 2), 3)

    def test_mistakes_in_decorating(self):
        with self.assertRaises(TypeError):
            tool("name")
        with self.assertRaises(TypeError):
            resource(len)

    def test_kept_functions(self):
        made = []

        @keep
        def thing(name="x"):
            """Words."""
            made.append(name)
            return [name]

        self.assertIs(thing(), thing())
        self.assertIsNot(thing("a"), thing("b"))
        self.assertEqual(made, ["x", "a", "b"])
        self.assertEqual(thing.__doc__, "Words.")

    def test_state_of_a_script_ends_with_it(self):
        program = "from mcp_bash import keep\n@keep\ndef f():\n    yield 1\n    print('ended')\nprint(f())"
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": SDK})
        self.assertEqual(done.stdout.split(), [b"1", b"ended"])

    def test_errors_carry_data(self):
        error = ToolError("x", hint="y", id=7)
        self.assertEqual((str(error), error.details), ("x", {"id": 7}))


if __name__ == "__main__":
    unittest.main()
