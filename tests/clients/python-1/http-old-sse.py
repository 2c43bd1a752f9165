"""A session with version 1 of the official Python library over the deprecated transport of 2024-11-05."""

from adapter import Python1
from http_conversation import run_over_old_sse
from mcp.client.sse import sse_client


class OverOldSse(Python1):
    def transport(self, way):
        return sse_client(way.url, way.headers)


run_over_old_sse(OverOldSse, version="2025-11-25")
