"""Installs our handler for Python's ``logging`` as soon as that module is loaded: it is slow to load."""

from __future__ import annotations

import sys

_installed = False


def install_if_used() -> None:
    """Costs almost nothing without logging."""
    global _installed
    if not _installed and "logging" in sys.modules:
        from .log_handler import install

        install()
        _installed = True
