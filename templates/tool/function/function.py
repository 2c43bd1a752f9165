"""The tool __NAME__. Clients see its name, its types and its docstring; printed output is logged."""

from mcp_bash import ToolError, progress, tool


@tool(__NAMED__read_only=True, open_world=False)
def __FUNCTION__(name: str = "World") -> str:
    """Greets somebody by name. Say here what the tool does and when a model should use it.

    Args:
        name: Who is greeted, for example Ada; the world if nobody is named
    """
    # If the model can correct its call, raise an error with a hint.
    if "\n" in name:
        raise ToolError("The name has more than one line", hint="Give a name without line breaks")

    # Progress, for calls that take longer than this one.
    progress(1, 2, f"Greeting {name}")

    return f"Hello, {name}!"
