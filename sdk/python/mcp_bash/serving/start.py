"""The life of the process: pipes, the author's file, definitions, calls, and closing of kept objects."""

from __future__ import annotations

import gc
import os
import sys

from ..capture import capture_output, print_outside_to
from ..call_context import NoCall, set_outside
from ..definitions import Definitions
from ..encoding import encode
from ..errors import DefinitionError
from ..frame_limits import misfit
from ..log_installing import install_if_used
from . import loading
from .after_import import change_what_is_imported
from .frames import Frames, open_frames
from .module_state import split
from .worker import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List

_PROTOCOL = 1
_DEFAULT_OUTPUT_LIMIT = 10485760


def serve(words: List[str], is_kept: bool) -> None:
    """Serves ``words[1]``, the file. Exits. ``is_kept`` says that the modules of the start are kept for the next one."""
    if len(words) != 2:
        sys.stderr.write("usage: worker.py FILE\n")
        sys.exit(2)
    file = os.path.abspath(words[1])
    frames = open_frames()
    capture_output()
    change_what_is_imported()
    status = 0
    try:
        worker = _load(frames, file)
    except BaseException as problem:
        _report(frames, loading.failure(problem, file))
        status = 1
    else:
        worker.serve()
        _end_state(worker)
        if not is_kept and not sys.dont_write_bytecode:
            from .start_file import keep

            keep()
    _leave(status)


def _load(frames: Frames, file: str) -> Any:
    set_outside(NoCall())
    loading.set_path(file)
    gc.freeze()
    gc.enable()
    loaded = loading.load(file)
    definitions = Definitions(loaded.declarations)
    from ..declaring import told, worker_options

    ready: Dict[str, Any] = {"protocol": _PROTOCOL, **definitions.describe()}
    if told:
        ready["instructions"] = "\n\n".join(told)
    several = split(worker_options, loaded.state)
    if several is not None:
        ready["splitState"] = several
    if worker_options:
        ready["worker"] = worker_options
    files = loading.loaded_files(file)
    if files:
        ready["files"] = files
    worker = _choose(frames, definitions, file, int(worker_options.get("atOnce") or 1))
    install_if_used()
    worker.watch_input()
    frame = encode({"ready": ready})
    problem = misfit(frame)
    if problem is not None:
        raise DefinitionError("%s: the definitions cannot be sent: what they say %s" % (os.path.basename(file), problem))
    frames.send(frame)
    # The server shows the end of standard error to the caller whose call ends the worker. Output outside
    # calls may be about another caller, so it goes only to the operator.
    print_outside_to(1)
    return worker


def _choose(frames: Frames, definitions: Definitions, file: str, at_once: int) -> Any:
    """Files without async functions need no event loop, and avoid its cost."""
    limit = os.environ.get("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "")
    output_limit = int(limit) if limit.isdigit() else _DEFAULT_OUTPUT_LIMIT
    if at_once > 1 or any(offered.is_async for offered in definitions.all()):
        from .event_loop import LoopWorker

        return LoopWorker(frames, definitions, file, output_limit, at_once)
    return Worker(frames, definitions, file, output_limit)


def _report(frames: Frames, failed: Dict[str, Any]) -> None:
    frames.send(encode({"failed": failed}))
    os.write(2, ("%s\n" % (failed["trace"] or failed["message"])).encode("utf-8", "replace"))


def _end_state(worker: Any) -> None:
    keeping = sys.modules.get("mcp_bash.keeping")
    if keeping is not None:
        worker.end_state(keeping)


def _leave(status: int) -> None:
    """Exits without waiting for threads that calls left behind."""
    import atexit

    getattr(atexit, "_run_exitfuncs")()
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(status)
