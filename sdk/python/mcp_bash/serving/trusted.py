"""Refuses to run modules of the project that other users may have written.

The server checks the file that a worker is started for, and every file that the worker reports as loaded. A
module runs while it is imported, so it has to be checked before.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import SourceFileLoader
    from typing import Any, Callable, TypeVar

    T = TypeVar("T")
else:
    # The module where `importlib` gets it, which is slower to load.
    from _frozen_importlib_external import SourceFileLoader


def with_own_modules_only(root: str, work: Callable[[], T]) -> T:
    """Does the work; checks imports meanwhile, and keeps compiled files private."""
    get_code = SourceFileLoader.get_code

    def judged(self: Any, fullname: str) -> Any:
        _judge(os.path.realpath(self.get_filename(fullname)), root)
        return get_code(self, fullname)

    umask = os.umask(0o077)
    os.umask(umask | 0o022)
    setattr(SourceFileLoader, "get_code", judged)
    try:
        return work()
    finally:
        setattr(SourceFileLoader, "get_code", get_code)
        os.umask(umask)


def _judge(path: str, root: str) -> None:
    if not path.startswith(root + os.sep):
        return
    try:
        seen = os.stat(path)
    except OSError:
        # Python itself reports missing files.
        return
    if seen.st_mode & 0o022:
        mode = "%04o" % (seen.st_mode & 0o7777)
        raise ImportError(
            "%s is writable by its group or by everyone (mode %s); run `chmod go-w` on it" % (path, mode), path=path
        )
    if seen.st_uid not in (0, os.geteuid()):
        raise ImportError(
            "%s belongs to another user (uid %d); only files of your own or of root are used: run `chown` on it, or put a copy of "
            "your own in its place" % (path, seen.st_uid),
            path=path,
        )
