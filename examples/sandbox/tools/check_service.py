"""Asks a service on this machine how it is."""

import http.client

from mcp_bash import tool


@tool(read_only=True, open_world=False, sandbox={"network": ["localhost:8099"], "cpu_secs": 10})
def check_service(port: int = 8099) -> str:
    """Whether the service on this machine answers."""
    connection = http.client.HTTPConnection("localhost", port, timeout=3)
    try:
        connection.request("GET", "/")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as problem:
        return f"Nothing answers at localhost:{port} ({problem or type(problem).__name__})."
    finally:
        connection.close()
    return f"It answers with {status}."
