"""A session with version 1 of the official Python library."""

from adapter import Python1
from conversation import run

run(Python1, version="2025-11-25")
