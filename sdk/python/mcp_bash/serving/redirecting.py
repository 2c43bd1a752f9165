"""``contextlib.redirect_stdout`` replaces ``sys.stdout`` for the whole process: output of other calls would
end in the buffer of this one. Here it is redirected only for the code inside the ``with``.
"""

from __future__ import annotations

import sys

from ..capture import is_captured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def redirect_by_call(module: Any) -> None:
    """Patches `contextlib`."""
    redirect: Any = getattr(module, "_RedirectStream")
    enter, leave = redirect.__enter__, redirect.__exit__

    def enter_here(self: Any) -> Any:
        stream: Any = getattr(sys, self._stream)
        if not is_captured(stream):
            return enter(self)
        self._old_targets.append((stream, stream.redirect(self._new_target)))
        return self._new_target

    def leave_here(self: Any, *problem: Any) -> Any:
        if not isinstance(self._old_targets[-1], tuple):
            return leave(self, *problem)
        stream, token = self._old_targets.pop()
        stream.end_redirect(token)
        return None

    redirect.__enter__, redirect.__exit__ = enter_here, leave_here
