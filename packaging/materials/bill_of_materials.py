"""The bill of materials as CycloneDX 1.5: the program, its crates, and what uses what."""

import json
import uuid
from datetime import datetime, timezone

from linked_by_toolchain import PARTS

NAMESPACE = uuid.UUID("6f6f1d3c-5d8e-5c44-9c59-0f1d2a3b4c5d")


def bill(linked, version, target, epoch):
    """The same text for the same crates, version, target and time."""
    program = f"pkg:generic/mcp-bash@{version}?target={target}"
    parts = [part for part in PARTS if part.is_in(target)]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": program,
                "name": "mcp-bash",
                "version": version,
                "purl": program,
                "licenses": [{"expression": "MIT"}],
            },
        },
        "components": [component(crate) for crate in linked.crates] + [part.component() for part in parts],
        "dependencies": [
            {
                "ref": crate.purl if crate else program,
                "dependsOn": [used.purl for used in uses] + ([] if crate else [part.reference for part in parts]),
            }
            for crate, uses in linked.uses.items()
        ],
    }
    document["dependencies"].sort(key=lambda one: (one["ref"] != program, one["ref"]))
    text = json.dumps(document, sort_keys=True)
    serial = {"serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, text)}"}
    return json.dumps({"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", **serial, **document}, indent=1) + "\n"


def component(crate):
    return {
        "type": "library",
        "bom-ref": crate.purl,
        "name": crate.name,
        "version": crate.version,
        "scope": "required",
        "purl": crate.purl,
        "licenses": [{"expression": crate.licence}],
        "hashes": [{"alg": "SHA-256", "content": crate.checksum}],
    }
