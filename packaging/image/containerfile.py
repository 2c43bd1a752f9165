"""Reads the few instructions of a Containerfile that our images use. Any other is refused, so that none is silently left out."""

import json
import re
import shlex

# Docker counts times in nanoseconds.
NANOSECONDS = {"s": 10**9, "m": 60 * 10**9}


class Stage:
    """One image: what its files come from, and its configuration as an image of OCI has it."""

    def __init__(self, base):
        self.base = base
        self.files = []  # ("run", command) or ("copy", stage or None, source, target, mode or None)
        self.labels = {}
        self.config = {}


def read(text, arguments):
    """The stages of a Containerfile by name. `arguments` are the values of its ARGs."""
    stages, stage = {}, None
    for line in lines(text):
        word, _, rest = line.partition(" ")
        try:
            if word == "FROM":
                base, name = re.fullmatch(r"(\S+) AS (\S+)", rest).groups()
                stage = stages[name] = Stage(base)
            elif word == "ARG":
                arguments[rest]
            else:
                INSTRUCTIONS[word](stage, rest, arguments)
        except (AttributeError, KeyError, ValueError):
            # No instruction of ours, no argument of that name, or a form that is not known.
            raise SystemExit(f"Containerfile: packaging/image/build does not support: {line}") from None
    return stages


def lines(text):
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def pairs(rest, arguments):
    """The pairs of `A=b C="d e"`, with the values of arguments in place of `$NAME`."""
    found = (word.split("=", 1) for word in shlex.split(rest))
    return {name: re.sub(r"\$(\w+)", lambda match: arguments[match[1]], value) for name, value in found}


def run(stage, rest, _):
    stage.files.append(("run", rest))


def copy(stage, rest, _):
    flags, words = {}, shlex.split(rest)
    while words[0].startswith("--"):
        name, value = words.pop(0)[2:].split("=", 1)
        flags[name] = value
    source, target = words
    mode = flags.pop("chmod", None)
    stage.files.append(("copy", flags.pop("from", None), source, target, mode and int(mode, 8)))
    if flags:
        raise ValueError(flags)


def label(stage, rest, arguments):
    stage.labels.update(pairs(rest, arguments))


def env(stage, rest, arguments):
    stage.config.setdefault("Env", []).extend(f"{name}={value}" for name, value in pairs(rest, arguments).items())


def health_check(stage, rest, _):
    flags, command = re.fullmatch(r"((?:--\S+ )*)CMD (.+)", rest).groups()
    check = {"Test": ["CMD", *json.loads(command)]}
    for name, number, unit in re.findall(r"--([a-z-]+)=(\d+)([sm]) ", flags):
        key = "".join(part.capitalize() for part in name.split("-"))
        check[key] = int(number) * NANOSECONDS[unit]
    stage.config["Healthcheck"] = check


def text(key):
    return lambda stage, rest, _: stage.config.update({key: rest})


def words(key):
    return lambda stage, rest, _: stage.config.update({key: json.loads(rest)})


INSTRUCTIONS = {
    "RUN": run,
    "COPY": copy,
    "LABEL": label,
    "ENV": env,
    "HEALTHCHECK": health_check,
    "USER": text("User"),
    "WORKDIR": text("WorkingDir"),
    "STOPSIGNAL": text("StopSignal"),
    "ENTRYPOINT": words("Entrypoint"),
    "CMD": words("Cmd"),
}
