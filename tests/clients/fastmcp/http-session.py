"""Sessions over HTTP with FastMCP."""

from adapter import FastMcp
from http_conversation import run_over_http

run_over_http(FastMcp, version="2026-07-28")
