"""A session with FastMCP."""

from adapter import FastMcp
from conversation import run

run(FastMcp, version="2026-07-28")
