"""Write tools, resources and prompts for mcp-bash in Python.

    from mcp_bash import tool

    @tool
    def add(a: int, b: int) -> int:
        "Adds two numbers."
        return a + b

Modules are imported on first use: a script that only reads its arguments pays only for that.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import aio as aio
    from .asking import ask as ask
    from .asking import ask_all as ask_all
    from .asking import ask_url as ask_url
    from .asking import choose as choose
    from .asking import choose_many as choose_many
    from .asking import confirm as confirm
    from .asking import sample as sample
    from .call_facts import arguments as arguments
    from .call_facts import cancelled as cancelled
    from .call_facts import context as context
    from .call_facts import folder as folder
    from .call_facts import inside_roots as inside_roots
    from .call_facts import meta as meta
    from .call_facts import roots as roots
    from .contents import Audio as Audio
    from .contents import Embedded as Embedded
    from .contents import Image as Image
    from .contents import Link as Link
    from .contents import Message as Message
    from .contents import Result as Result
    from .contents import Text as Text
    from .contents import assistant as assistant
    from .contents import user as user
    from .call_context import Context as Context
    from .call_context import Root as Root
    from .declaring import instructions as instructions
    from .declaring import prompt as prompt
    from .declaring import resource as resource
    from .declaring import tool as tool
    from .declaring import worker as worker
    from .errors import Cancelled as Cancelled
    from .errors import CannotAsk as CannotAsk
    from .errors import Declined as Declined
    from .errors import DefinitionError as DefinitionError
    from .errors import Dismissed as Dismissed
    from .errors import NotFound as NotFound
    from .errors import ProtocolError as ProtocolError
    from .errors import ToolError as ToolError
    from .fields import Field as Field
    from .keeping import keep as keep
    from .questions import Question as Question
    from .questions import Sampled as Sampled
    from .reporting import log as log
    from .reporting import progress as progress
    from .script import main as main
    from .script import result as result

__version__ = "0.1.0"

# Which module has which name; a test compares this table with the imports above.
_HOMES = {
    "asking": ("ask", "ask_all", "ask_url", "choose", "choose_many", "confirm", "sample"),
    "call_facts": ("arguments", "cancelled", "context", "folder", "inside_roots", "meta", "roots"),
    "contents": ("Audio", "Embedded", "Image", "Link", "Message", "Result", "Text", "assistant", "user"),
    "call_context": ("Context", "Root"),
    "declaring": ("instructions", "prompt", "resource", "tool", "worker"),
    "errors": (
        "Cancelled", "CannotAsk", "Declined", "DefinitionError", "Dismissed", "NotFound", "ProtocolError", "ToolError",
    ),
    "fields": ("Field",),
    "keeping": ("keep",),
    "questions": ("Question", "Sampled"),
    "reporting": ("log", "progress"),
    "script": ("main", "result"),
}  # fmt: skip
# Spelled out, for type checkers.
__all__ = [
    "Audio", "Cancelled", "CannotAsk", "Context", "Declined", "DefinitionError", "Dismissed", "Embedded", "Field", "Image",
    "Link", "Message", "NotFound", "ProtocolError", "Question", "Result", "Root", "Sampled", "Text", "ToolError", "aio",
    "arguments", "ask", "ask_all", "ask_url", "assistant", "cancelled", "choose", "choose_many", "confirm", "context",
    "folder", "inside_roots", "instructions", "keep", "log", "main", "meta", "progress", "prompt", "resource", "result",
    "roots", "sample", "tool", "user", "worker",
]  # fmt: skip
_home_of = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    # `importlib` itself takes longer to load than most of our modules.
    if name == "aio":
        return __import__("mcp_bash.aio", fromlist=["aio"])
    if name not in _home_of:
        raise AttributeError("module 'mcp_bash' has no attribute %r" % name)
    value: object = getattr(__import__("mcp_bash." + _home_of[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted([*__all__, "__version__"])
