#!/usr/bin/env python3
"""Fills in the templates of `cargo binstall` in crates/cli/Cargo.toml for a target: prints the URL, and the path of the program inside
the archive.

binstall.py VERSION TARGET
"""

import re
import sys
import tomllib

version, target = sys.argv[1:]
with open("crates/cli/Cargo.toml", "rb") as file:
    package = tomllib.load(file)["package"]
with open("Cargo.toml", "rb") as file:
    workspace = tomllib.load(file)["workspace"]["package"]
assert package["repository"] == {"workspace": True} and package["metadata"]["binstall"]["pkg-fmt"] == "tgz"
values = {
    "repo": workspace["repository"],
    "name": package["name"],
    "bin": package["name"],
    "version": version,
    "target": target,
    "binary-ext": "",
}
for key in ("pkg-url", "bin-dir"):
    print(re.sub(r"\{ ([a-z-]+) \}", lambda found: values[found[1]], package["metadata"]["binstall"][key]))
