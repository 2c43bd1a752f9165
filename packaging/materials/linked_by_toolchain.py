"""Parts of the program that no crate of a registry brings: the Rust toolchain links them."""

import subprocess
from dataclasses import dataclass


def rust_version():
    said = subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE).stdout.decode()
    return said.split()[1]


@dataclass(frozen=True)
class Part:
    name: str
    title: str
    licence: str
    copyright: str
    # A part of the names of the targets that have it.
    targets: str

    def is_in(self, target):
        return self.targets in target

    @property
    def reference(self):
        return f"toolchain:{self.name}"

    def component(self):
        """Its version is that of the toolchain, which chooses the sources."""
        return {
            "type": "library",
            "bom-ref": self.reference,
            "name": self.name,
            "version": f"rust-{rust_version()}",
            "description": self.title,
            "scope": "required",
            "licenses": [{"expression": self.licence}],
        }


PARTS = [
    Part(
        "rust-std",
        "the Rust standard library, with the crates that it consists of",
        "MIT OR Apache-2.0",
        "Copyright (c) The Rust Project Contributors",
        targets="",
    ),
    Part(
        "musl",
        "musl, the C library",
        "MIT",
        "Copyright (c) 2005-2020 Rich Felker, et al.",
        targets="-musl",
    ),
    Part(
        "libunwind",
        "libunwind of LLVM",
        "Apache-2.0 WITH LLVM-exception",
        "Copyright (c) The LLVM Project contributors",
        targets="-musl",
    ),
]
