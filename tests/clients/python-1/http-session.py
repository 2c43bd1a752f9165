"""Sessions over HTTP with version 1 of the official Python library."""

from adapter import Python1
from http_conversation import run_over_http

run_over_http(Python1, version="2025-11-25")
