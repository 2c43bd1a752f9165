"""Our handler for Python's ``logging``, put in place as soon as somebody has loaded that module: it is not cheap to load."""

from __future__ import annotations

import sys

_installed = False


def install_if_used() -> None:
    """Costs next to nothing where nobody logs."""
    global _installed
    if not _installed and "logging" in sys.modules:
        from .log_handler import install

        install()
        _installed = True
