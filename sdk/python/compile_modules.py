"""Compiles the package beside this file for the Python that runs it, and keeps the outcome where that Python looks for it:
PYTHON -I -S compile_modules.py. The server runs it for workers that cannot write there, because they are confined or because
`PYTHONDONTWRITEBYTECODE` is set."""

import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source

_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mcp_bash")
# Only the tests of authors import these.
_LEFT_OUT = ("__pycache__", "testing")


def main():
    sys.dont_write_bytecode = False
    for folder, folders, files in os.walk(_PACKAGE):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        for path in [os.path.join(folder, name) for name in files if name.endswith(".py")]:
            SourceFileLoader("module", path).get_code("module")
            if not os.path.exists(cache_from_source(path)):
                sys.exit("%s cannot be written" % cache_from_source(path))
    sys.path.append(os.path.dirname(_PACKAGE))
    from mcp_bash.serving.start_file import keep

    keep()


if __name__ == "__main__":
    main()
