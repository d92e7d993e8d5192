"""Files that people write: YAML, because they comment it; every error names line, field and expectation.

YAML's own types are narrowed to mappings, lists, text, integers, booleans and null: a float in such a
file is always a mistake about money, and a date or a repeated key is one about YAML.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import yaml

from controller.errors import JackpotError

Shape = TypeVar("Shape")
Finding = tuple[str, str]
"""The path of a field, and what was expected there."""

_KINDS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "bool": lambda text: text == "true",
    "null": lambda _: None,
}


@dataclass
class SourceError(JackpotError):
    """A file that is refused: where, which field, and what was expected."""

    source: str
    line: int
    field: str
    expected: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.field}: {self.expected}"


class _Reader:
    """Turns YAML nodes into plain values and remembers the line of each path."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[str, int] = {}

    def error(self, field: str, expected: str) -> SourceError:
        """An error at the nearest path that has a line."""
        path = field
        while path and path not in self.lines:
            path = path.rpartition("[" if path.endswith("]") else ".")[0]
        return SourceError(self.source, self.lines.get(path, 1), field or "the file", expected)

    def value(self, node: yaml.Node, path: str) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, f"{path}[{i}]") for i, item in enumerate(node.value)]
        kind = node.tag.rpartition(":")[2]
        if kind == "int" and not re.fullmatch(r"-?(0|[1-9][\d_]*)", node.value):
            kind = "int in another base"
        if kind == "bool" and node.value not in ("true", "false"):
            kind = "neither true nor false"
        if kind not in _KINDS:
            raise self.error(
                path, f"expected text, a whole number or true/false, got {node.value!r} ({kind})"
            )
        return _KINDS[kind](node.value)

    def _mapping(self, node: yaml.MappingNode, path: str) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            name = str(key.value)
            child = f"{path}.{name}" if path else name
            self.lines[child] = key.start_mark.line + 1
            if name in result:
                raise self.error(child, "expected each field once, this one is repeated")
            result[name] = self.value(value, child)
        return result


def read_yaml(
    text: str, shape: type[Shape], contradictions: Callable[[Shape], Iterable[Finding]], source: str
) -> Shape:
    """A value of this shape without contradictions, or a `SourceError`."""
    reader = _Reader(source)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or str(error)
        raise SourceError(source, line, "the file", f"expected YAML: {problem}") from error
    if node is None:
        raise SourceError(source, 1, "the file", "expected content, got an empty file")
    plain = reader.value(node, "")
    try:
        value = msgspec.convert(plain, type=shape)
    except msgspec.ValidationError as error:
        raise _located(reader, str(error)) from error
    for path, expected in contradictions(value):
        raise reader.error(path, expected)
    return value


def _located(reader: _Reader, message: str) -> SourceError:
    expected, _, path = message.partition(" - at `")
    field = path.rstrip("`").removeprefix("key` in `").removeprefix("$").removeprefix(".")
    named = re.search(r"(?:unknown|missing required) field `(\w+)`", expected)
    if named:
        field = f"{field}.{named[1]}" if field else named[1]
    return reader.error(field, expected[0].lower() + expected[1:])
