"""Compares the bill of materials with the list inside the program: check.py PROGRAM FOLDER"""

import json
import struct
import sys
import zlib
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def section(program, wanted):
    """The content of a section of a 64-bit little-endian ELF file."""
    content = Path(program).read_bytes()
    (table,) = struct.unpack_from("<Q", content, 0x28)
    size, count, names = struct.unpack_from("<HHH", content, 0x3A)

    def header(index):
        return struct.unpack_from("<IIQQQQ", content, table + index * size)

    names_at = header(names)[4]
    for index in range(count):
        name_at, _, _, _, offset, length = header(index)
        start = names_at + name_at
        if content[start : content.index(b"\0", start)] == wanted:
            return content[offset : offset + length]
    sys.exit(f"packaging/materials: {program} has no section {wanted.decode()}: it was not built by scripts/dist")


def main(program, folder):
    text = (Path(folder) / "mcp-bash.cdx.json").read_text()
    validator = JsonStrictValidator(SchemaVersion.V1_5)
    if problem := validator.validate_str(text):
        sys.exit(f"packaging/materials: the bill is not valid: {problem}")
    if not validator.validate_str(text.replace('"library"', '"shelf"', 1)):
        sys.exit("packaging/materials: the validator accepts everything")

    bill = json.loads(text)
    billed = {(one["name"], one["version"]) for one in bill["components"] if "purl" in one}
    packages = json.loads(zlib.decompress(section(program, b".dep-v0")))["packages"]
    inside = {
        (one["name"], one["version"])
        for one in packages
        if one.get("kind", "runtime") == "runtime" and one["source"] != "local"
    }
    # The list inside has macros, too, which run during the build only: no linked crate may be missing from it.
    if missing := billed - inside:
        sys.exit(f"packaging/materials: the program does not know of {sorted(missing)}")
    (root,) = [one for one in packages if one.get("root")]
    if (root["name"], root["version"]) != ("mcp-bash", bill["metadata"]["component"]["version"]):
        sys.exit(f"packaging/materials: the program is {root}")

    known = {one["bom-ref"] for one in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    for one in bill["dependencies"]:
        if unknown := {one["ref"], *one["dependsOn"]} - known:
            sys.exit(f"packaging/materials: unknown references: {unknown}")
    licences = (Path(folder) / "THIRD-PARTY-LICENSES").read_text()
    for name, version in sorted(billed):
        # Once in the list, and once at the text.
        if licences.count(f"{name} {version}") < 2:
            sys.exit(f"packaging/materials: there is no licence text of {name} {version}")
    print(f"{len(billed)} crates are in the program, in its bill and in its licences; {len(inside - billed)} more ran during the build")


main(*sys.argv[1:])
