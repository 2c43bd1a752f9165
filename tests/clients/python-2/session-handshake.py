"""A session with version 2 of the official Python library when it is told to use the handshake."""

from adapter import Python2
from conversation import run


class Handshake(Python2):
    mode = "legacy"


run(Handshake, version="2025-11-25")
