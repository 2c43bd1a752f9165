"""Checks a compose file with the models of the compose specification, which refuse unknown keys."""

import sys
from pathlib import Path

import yaml
from compose_spec import ComposeSpecification
from pydantic import ValidationError

try:
    compose = yaml.safe_load(Path(sys.argv[1]).read_text())
    ComposeSpecification.model_validate(compose, extra="forbid")
except ValidationError as error:
    sys.exit(f"tests/deploy: {sys.argv[1]}: {error}")
