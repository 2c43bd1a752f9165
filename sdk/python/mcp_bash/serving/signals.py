"""Signals, with the C module behind Python's ``signal``: that module creates an Enum for each number and each
return value, which is slow to load and to use."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
else:
    _signal = sys.modules["_signal"]

SIGINT, SIGIO, SIGTERM = _signal.SIGINT, _signal.SIGIO, _signal.SIGTERM
SIG_DFL, ITIMER_REAL = _signal.SIG_DFL, _signal.ITIMER_REAL
set_handler, handler_of = _signal.signal, _signal.getsignal
set_timer, send_to_thread = _signal.setitimer, _signal.pthread_kill
_NAMES = "SIGHUP SIGINT SIGQUIT SIGUSR1 SIGUSR2 SIGPIPE SIGALRM SIGTERM SIGCHLD SIGIO"
# The signals that functions commonly use, as far as this system has them.
USUAL = tuple(getattr(_signal, name) for name in _NAMES.split() if hasattr(_signal, name))
