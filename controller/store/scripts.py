"""Lua scripts as functions with a contract.

A script's header names its keys and arguments. The loader reads the header, resolves the includes
and refuses a call whose names differ, so that a script and its callers cannot drift apart.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Protocol

from redis.exceptions import NoScriptError

from controller.errors import ScriptContractError
from controller.store.keys import LinkKeys

_TAG = re.compile(r"^-- @(\w+) (.*)$", re.MULTILINE)
_FOLDER = files("controller.store") / "lua"


class Evaluator(Protocol):
    """What a Redis client offers for running scripts."""

    def evalsha(self, sha: str, numkeys: int, *keys_and_args: str) -> object:
        """Run a script that the server knows."""

    def script_load(self, script: str) -> object:
        """Make a script known to the server."""


@dataclass(frozen=True)
class Script:
    """One verb: its source with includes, and the contract of its header."""

    name: str
    source: str
    keys: tuple[str, ...]
    args: tuple[str, ...]
    has_rest: bool
    emits: tuple[str, ...]
    outcomes: tuple[str, ...]

    @cached_property
    def sha(self) -> str:
        """The name under which Redis knows the script."""
        return hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()

    def arguments(self, keys: LinkKeys, rest: list[str], named: dict[str, str]) -> list[str]:
        """Keys and arguments in the order of the header."""
        if set(named) != set(self.args) or (rest and not self.has_rest):
            raise ScriptContractError(
                f"{self.name}.lua takes {self.args}{' and more' if self.has_rest else ''}, got {tuple(named)}"
            )
        return [*(getattr(keys, name) for name in self.keys), *(named[name] for name in self.args), *rest]

    def call(self, client: Evaluator, keys: LinkKeys, rest: list[str] | None = None, **named: str) -> object:
        """Run the script; a server that has forgotten it (a restart, a failover) is taught it again."""
        arguments = self.arguments(keys, rest or [], named)
        try:
            return client.evalsha(self.sha, len(self.keys), *arguments)
        except NoScriptError:
            client.script_load(self.source)
        return client.evalsha(self.sha, len(self.keys), *arguments)


def parse_script(name: str, text: str, includes: dict[str, str]) -> Script:
    """Read a script's header and put its includes, once each, in front of it."""
    tags: dict[str, list[str]] = {}
    for tag, rest in _TAG.findall(text):
        tags.setdefault(tag, []).append(rest.strip())
    wanted = " ".join(tags.get("include", [])).split()
    missing = [include for include in wanted if include not in includes]
    if missing:
        raise ScriptContractError(f"{name}.lua includes {missing[0]!r}, which does not exist")
    if "keys" not in tags or "returns" not in tags:
        raise ScriptContractError(f"{name}.lua: its header must say @keys and @returns")
    return Script(
        name=name,
        source="\n".join([*(includes[include] for include in wanted), text]),
        keys=tuple(tags["keys"][0].split()),
        args=tuple(" ".join(tags.get("args", [])).split()),
        has_rest="rest" in tags,
        emits=tuple(" ".join(tags.get("emits", [])).split()),
        outcomes=tuple(" ".join(tags.get("outcomes", [])).split()),
    )


@cache
def load_scripts() -> dict[str, Script]:
    """Every verb in the package, by name."""
    includes = {
        path.name.removesuffix(".lua"): path.read_text(encoding="utf-8")
        for path in (_FOLDER / "include").iterdir()
    }
    names = sorted(path.name for path in _FOLDER.iterdir() if path.name.endswith(".lua"))
    return {
        name.removesuffix(".lua"): parse_script(
            name.removesuffix(".lua"), (_FOLDER / name).read_text(encoding="utf-8"), includes
        )
        for name in names
    }
