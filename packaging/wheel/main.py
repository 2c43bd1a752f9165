"""`python -m mcp_bash`: runs the program that was installed with this package."""

import os
import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, files
from typing import Iterator

NAME = "mcp-bash"


def places() -> Iterator[str]:
    """Where the program may be, the likeliest first."""
    try:
        for file in files(NAME) or []:
            if file.name == NAME:
                yield str(file.locate())
    except PackageNotFoundError:
        pass
    yield os.path.join(sysconfig.get_path("scripts"), NAME)
    # `pip install --target` and `--prefix`, whose lists of files name places that are no more.
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(packages, "bin", NAME)
    yield os.path.join(packages, "..", "..", "..", "bin", NAME)


def main() -> None:
    looked = [os.path.normpath(place) for place in places()]
    for place in looked:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            os.execv(place, [place, *sys.argv[1:]])
    sys.exit(
        "mcp_bash: the program mcp-bash is not where it was installed. Looked for:\n  %s\n"
        "Install it again: python -m pip install --force-reinstall mcp-bash" % "\n  ".join(dict.fromkeys(looked))
    )


if __name__ == "__main__":
    main()
