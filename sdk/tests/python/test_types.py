"""The types of the package and of a function file, if type checkers are installed (mypy, pyright)."""

import os
import shutil
import subprocess
import unittest

from host import SDK

USER_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "types", "user_file.py")


class Types(unittest.TestCase):
    def check(self, folder, *command):
        program = shutil.which(command[0])
        if program is None:
            self.skipTest("%s is not installed" % command[0])
        environment = {**os.environ, "MYPYPATH": SDK, "MYPY_CACHE_DIR": os.devnull}
        done = subprocess.run([program, *command[1:]], cwd=folder, env=environment, stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    def test_mypy(self):
        self.check(SDK, "mypy", "--strict", "mcp_bash")
        self.check(os.path.dirname(USER_FILE), "mypy", "--strict", USER_FILE)

    def test_pyright(self):
        self.check(SDK, "pyright", "mcp_bash")
        self.check(os.path.dirname(USER_FILE), "pyright")


if __name__ == "__main__":
    unittest.main()
