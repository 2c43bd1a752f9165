"""What a wheel says of itself: the files METADATA and WHEEL."""

import re
from dataclasses import dataclass

SUMMARY = "Turns a folder of scripts into a Model Context Protocol server"


class BadRepository(Exception):
    pass


@dataclass(frozen=True)
class Repository:
    address: str
    owner: str
    name: str

    @classmethod
    def of(cls, address):
        if not address:
            return None
        parts = re.fullmatch(r"https://github\.com/([A-Za-z0-9-]+)/([A-Za-z0-9._-]+?)/?", address)
        if not parts:
            raise BadRepository(f"REPOSITORY is {address}, and should be https://github.com/OWNER/NAME")
        return cls(address.rstrip("/"), *parts.groups())

    @property
    def registry_name(self):
        """The name of the server in the MCP registry, which looks for it in the package."""
        return f"io.github.{self.owner}/mcp-bash"


def metadata(project, version, licences, repository, readme):
    lines = [
        "Metadata-Version: 2.4",
        "Name: mcp-bash",
        f"Version: {version}",
        f"Summary: {SUMMARY}",
        "License-Expression: MIT",
        *(f"License-File: {name}" for name in licences),
        f"Keywords: {','.join(project['keywords'])}",
        *(f"Classifier: {classifier}" for classifier in [*project["classifiers"], "Environment :: Console"]),
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Operating System :: MacOS :: MacOS X",
        f"Requires-Python: {project['requires-python']}",
    ]
    if repository:
        lines += [
            f"Project-URL: Source, {repository.address}",
            f"Project-URL: Documentation, {repository.address}/tree/main/docs",
            f"Project-URL: Changelog, {repository.address}/blob/main/CHANGELOG.md",
            f"Project-URL: Issues, {repository.address}/issues",
        ]
        readme += f"\n<!-- mcp-name: {repository.registry_name} -->\n"
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme]).encode()


def wheel(tags):
    lines = ["Wheel-Version: 1.0", "Generator: mcp-bash", "Root-Is-Purelib: false", *(f"Tag: {tag}" for tag in tags)]
    return ("\n".join(lines) + "\n").encode()
