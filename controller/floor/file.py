"""Reading a floor file."""

from pathlib import Path

import msgspec

from controller.floor.definition import Floor
from controller.floor.rules import contradictions
from controller.yaml_source import read_yaml

# msgspec completes a type's description at its first use, and two threads that meet there crash the
# process: it is completed here, at import.
msgspec.json.Decoder(Floor)


def parse_floor(text: str, source: str = "floor") -> Floor:
    """A validated floor, or a `SourceError`."""
    return read_yaml(text, Floor, contradictions, source)


def load_floor(path: Path) -> Floor:
    """Read and validate a floor file."""
    return parse_floor(path.read_text(encoding="utf-8"), str(path))
