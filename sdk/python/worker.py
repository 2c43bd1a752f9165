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


def load_start():
    """Loads the modules of the start from the one file that holds them (`serving/start_file.py`). Whether it did: it is there from
    the second start on, and is for one Python, one folder and the sources as they are."""
    import marshal

    import _frozen_importlib
    import _frozen_importlib_external as external

    folder = os.path.dirname(os.path.abspath(__file__))
    kept = "start.%s.modules" % sys.implementation.cache_tag
    try:
        with open(os.path.join(folder, "mcp_bash", "__pycache__", kept), "rb") as opened:
            text = opened.read()
        if text[:4] != external.MAGIC_NUMBER or sys.flags.optimize:
            return False
        home, modules = marshal.loads(memoryview(text)[4:])
        if home != folder:
            return False
        for path, changed, size in [entry[1:4] for entry in modules]:
            now = os.stat(path)
            if now.st_mtime_ns != changed or now.st_size != size:
                return False
    except (OSError, EOFError, ValueError, TypeError):
        return False
    for name, path, _, _, compiled, folders, code in modules:
        loader = external.SourceFileLoader(name, path)
        spec = _frozen_importlib.ModuleSpec(name, loader, origin=path)
        spec.has_location, spec.cached, spec.submodule_search_locations = True, compiled, folders
        module = sys.modules[name] = _frozen_importlib.module_from_spec(spec)
        exec(code, module.__dict__)
        package, _, own = name.rpartition(".")
        if package:
            setattr(sys.modules[package], own, module)
    return True


if __name__ == "__main__":
    if sys.version_info < (3, 8):
        say_too_old()
    # Nothing that is loaded before the author's file becomes garbage (`serving/start.py` enables it).
    gc.disable()
    is_kept = load_start()
    # The package beside this file matches this server's protocol, whatever else is installed.
    from mcp_bash.serving.start import serve

    serve(sys.argv, is_kept)
