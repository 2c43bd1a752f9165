"""The measured function, as mcp-bash serves it."""

from mcp_bash import tool


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b
