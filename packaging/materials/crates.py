"""The crates that are linked into the program for a target: exactly those, with their sources.

`cargo tree` decides which: it resolves features for this program and target alone. `cargo metadata` and `Cargo.lock` say the rest.
"""

import json
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"^(\d+) (\S+) v(\S+)( \(/[^)]*\))?")


@dataclass(frozen=True)
class Crate:
    """A crate of a registry. Those of this workspace are the program itself."""

    name: str
    version: str
    licence: str
    authors: tuple[str, ...]
    folder: Path
    checksum: str

    @property
    def purl(self):
        """The package URL; `+` in a version is percent-encoded there."""
        return f"pkg:cargo/{self.name}@{self.version.replace('+', '%2B')}"


@dataclass(frozen=True)
class Linked:
    """All linked crates, in order of their names, and the direct dependencies of each. `None` is the program."""

    crates: list[Crate]
    uses: dict[Crate | None, list[Crate]]


def cargo(*words):
    said = subprocess.run(["cargo", *words, "--locked"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return said.stdout.decode()


def linked(target):
    found = described(target)
    lines = cargo(
        "tree", "--package", "mcp-bash", "--target", target, "--edges", "normal,no-proc-macro", "--prefix", "depth",
        "--format", " {p}",
    )  # fmt: skip
    edges, path = {None: set()}, []
    for line in lines.splitlines():
        depth, name, version, is_ours = LINE.match(line).groups()
        crate = None if is_ours else found[name, version]
        del path[int(depth) :]
        if path and crate is not None:
            edges[path[-1]].add(crate)
        edges.setdefault(crate, set())
        path.append(crate)

    def ordered(crates):
        return sorted(crates, key=lambda crate: (crate.name, crate.version))

    uses = {crate: ordered(direct) for crate, direct in edges.items()}
    return Linked(ordered(crate for crate in edges if crate is not None), uses)


def described(target):
    """Every crate of a registry that `Cargo.lock` names, by name and version."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in packages}
    crates = {}
    for package in json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", target))["packages"]:
        key = package["name"], package["version"]
        if package["source"] is None:
            continue
        crates[key] = Crate(
            *key,
            # The slash is the older way to write `OR`.
            licence=(package["license"] or "").replace("/", " OR "),
            authors=tuple(package["authors"]),
            folder=Path(package["manifest_path"]).parent,
            checksum=checksums[key],
        )
    return crates
