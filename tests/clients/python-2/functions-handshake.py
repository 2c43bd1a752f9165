"""Functions as version 2 of the official Python library sees them when it is told to use the handshake."""

from about_functions import run

run("legacy", version="2025-11-25")
