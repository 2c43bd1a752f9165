"""Modules that are not installed: the message names the package to install, when a file is loaded and when a call fails."""

import unittest

from host import WorkerTest
from mcp_bash.missing_modules import remedy


class MissingModules(WorkerTest):
    def test_the_package_is_named(self):
        for module, package in (
            ("PIL", "Pillow"), ("cv2", "opencv-python"), ("yaml", "PyYAML"), ("bs4", "beautifulsoup4"),
            ("sklearn.svm", "scikit-learn"), ("requests", "requests"),
        ):  # fmt: skip
            words = remedy(ModuleNotFoundError("No module named %r" % module, name=module))
            self.assertRegex(words, r"pip install %s`$" % package)

    def test_other_problems_have_no_remedy(self):
        for problem in (ImportError("x"), ModuleNotFoundError("x"), ValueError("x")):
            self.assertEqual(remedy(problem), "")

    def test_when_the_file_is_loaded(self):
        failed = self.host("import nothing_there\n").ready["failed"]["message"]
        self.assertRegex(failed, r"^file.py:1: ModuleNotFoundError: No module named 'nothing_there'; .*pip install nothing_there`$")

    def test_when_a_call_fails(self):
        worker = self.served("from mcp_bash import tool\n@tool\ndef f() -> str:\n    import nothing_there\n    return ''\n")
        text = worker.call("f")["content"][0]["text"]
        self.assertRegex(text, r"^ModuleNotFoundError: No module named 'nothing_there' \(file.py:4\); .*pip install nothing_there`$")

    def test_a_file_for_fastmcp(self):
        for line in ("from fastmcp import FastMCP", "from mcp.server.fastmcp import FastMCP"):
            problem = None
            source = "import sys\nsys.modules['fastmcp'] = sys.modules['mcp'] = None\n"
            problem = self.host(source + line + "\n").ready["failed"]["message"]
            self.assertIn("mcp_bash.fastmcp", problem)
            self.assertIn("docs/from-fastmcp.md", problem)


if __name__ == "__main__":
    unittest.main()
