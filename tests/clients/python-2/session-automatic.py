"""A session with version 2 of the official Python library as it comes: it finds out what the server speaks."""

from adapter import Python2
from conversation import run

run(Python2, version="2026-07-28")
