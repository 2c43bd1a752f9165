"""The function that is measured, on FastMCP over stdio."""

from fastmcp import FastMCP

server = FastMCP("fastmcp")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


server.run(show_banner=False)
