"""What the reader of Containerfiles refuses. Run by packaging/image/test."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
import containerfile

for line in [
    "ADD x /x",
    "ARG UNKNOWN",
    "COPY --link x /x",
    "COPY --chown=1:1 x /x",
    "COPY --chmod=go-w x /x",
    "COPY x",
    "FROM debian",
    "HEALTHCHECK NONE",
    "CMD serve /project",
    "LABEL version=$UNKNOWN",
    "ENV NAME",
]:
    try:
        containerfile.read(f"FROM scratch AS it\n{line}\n", {"VERSION": "1"})
    except SystemExit as refusal:
        assert line in str(refusal), refusal
    else:
        sys.exit(f"it reads: {line}")

stages = containerfile.read(Path(__file__).with_name("Containerfile").read_text(), {"VERSION": "1.2.3"})
static, debian = stages["static"], stages["debian"]
assert static.labels["org.opencontainers.image.version"] == "1.2.3", static.labels
# Both images are used in the same way.
for key in ("User", "WorkingDir", "Healthcheck", "StopSignal", "Entrypoint", "Cmd"):
    assert static.config[key] == debian.config[key], key
