"""What a model is given and what it replies, in the terms that all providers share."""

from dataclasses import dataclass, field


@dataclass
class Tool:
    """A tool that the program offers to the model, under the program's name for it."""

    name: str
    description: str = ""
    schema: dict = field(default_factory=dict)
    namespace: str | None = None


@dataclass
class Result:
    """The result of a call, as the model sees it."""

    call_id: str
    text: str
    # Only Gemini identifies results by the name of the tool.
    tool: str | None = None


@dataclass
class Conversation:
    """A request to the model: everything that it is shown."""

    tools: list[Tool]
    results: list[Result]
    # The pictures anywhere in the request, in Base64. Some programs send a picture beside the result that brought it.
    pictures: list[str]


@dataclass
class Call:
    id: str
    tool: Tool
    arguments: dict


@dataclass
class Answer:
    text: str
    # Frameworks take two replies with the same id for one.
    id: str = "answer"


def joined_text(content):
    """The text in a string, or in a list of parts that have a `text`."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or [] if isinstance(part.get("text"), str))


def data_of_url(url):
    """The Base64 in a `data:` URL."""
    return url.partition("base64,")[2]
