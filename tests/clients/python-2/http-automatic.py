"""Sessions over HTTP with version 2 of the official Python library as it comes: it finds out what the server speaks."""

from adapter import Python2
from http_conversation import run_over_http

run_over_http(Python2, version="2026-07-28")
