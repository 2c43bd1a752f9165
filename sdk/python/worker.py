"""Serves a file of Python functions to mcp-bash: PYTHON worker.py FILE. The code is in mcp_bash/serving.

Any Python can read this file, so that one that is too old can say so: it uses nothing newer than Python 2."""

import gc
import os
import sys


def say_too_old():
    needed = "mcp_bash needs Python 3.8 or newer, and %s is %d.%d" % ((sys.executable,) + tuple(sys.version_info[:2]))
    line = '{"failed":{"message":"%s","trace":""}}\n' % needed.replace("\\", "/").replace('"', "'")
    sys.stderr.write(needed + "\n")
    try:
        output = os.open(os.environ.get("MCP_WORKER_OUTPUT", "/dev/fd/3"), os.O_WRONLY)
        os.write(output, line.encode("utf-8"))
    except (OSError, IOError):
        pass
    sys.exit(1)


if __name__ == "__main__":
    if sys.version_info < (3, 8):
        say_too_old()
    # Nothing that is loaded before the author's file becomes garbage (`serving/start.py` enables it).
    gc.disable()
    # The package beside this file matches this server's protocol, whatever else is installed.
    from mcp_bash.serving.start import serve

    serve(sys.argv)
