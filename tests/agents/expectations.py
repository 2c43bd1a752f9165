"""What a model is expected to see of each tool."""

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

FLAG = base64.b64encode((Path(__file__).parent / "project/flag.png").read_bytes()).decode()
WORDS_OF_THE_USER = "five words of the user"


@dataclass
class Expectation:
    """What must hold of the text that the model sees, and of the pictures beside it."""

    meaning: str
    holds: Callable[[str, set[str]], bool]


def exactly(expected):
    return Expectation(f"the model sees exactly {expected!r}", lambda text, _: text.strip() == expected)


def says(*words):
    quoted = " and ".join(repr(word) for word in words)
    return Expectation(f"the model sees {quoted}", lambda text, _: all(word in text for word in words))


def cut_by_server():
    ends = ("line 0001 of 5000", "bytes are left out here", "line 5000 of 5000")
    return Expectation("the model sees the beginning and the end", lambda text, _: all(part in text for part in ends))


def cut_below(characters):
    return Expectation(
        f"the model sees less than {characters:,} characters of it", lambda text, _: 0 < len(text) < characters
    )


def picture():
    return Expectation("the model sees the picture", lambda _, pictures: FLAG in pictures)


def no_picture():
    return Expectation("the model sees the text and not the picture", lambda text, pictures: text and FLAG not in pictures)


# What most agents do. Each states where it differs.
USUAL = {
    "plain_text": exactly("You said: hello"),
    "structured": says("Rome", "21.5"),
    "failing": says("no space left on the test disk"),
    "large": cut_by_server(),
    "asking": exactly("The user cannot be asked"),
    "slow": exactly("All 8 seconds are over; progress was wanted"),
    "picture": picture(),
    "text_and_file": says("The report is ready", "spring,4711"),
    "count_words": says("outside"),
}
CAN_READ_ROOTS = exactly("Words in the file: 5")
USER_ACCEPTS = exactly("The user was asked: accept")
WANTS_NO_PROGRESS = exactly("All 8 seconds are over; progress was not wanted")


def steps(tools, work):
    """The calls of the scripted model: a tool and its arguments."""
    arguments = {
        "plain_text": {"words": "hello"},
        "structured": {"city": "Rome"},
        "count_words": {"file": str(work / "notes.txt")},
    }
    return [(tool, arguments.get(tool, {})) for tool in tools]
