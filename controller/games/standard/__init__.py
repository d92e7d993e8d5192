"""The four rule documents as rule sets, read once. A casino's own are in its floor file."""

from functools import cache
from importlib.resources import files

from controller.games.rule_sets import RuleSet, rule_set_contradictions
from controller.games.vocabulary import Game
from controller.yaml_source import read_yaml

STANDARD_OF = {
    Game.TCP: "tcp-rws-v3",
    Game.MLP: "mlp-rws-v2",
    Game.GTP: "gtp-standard",
    Game.NTP: "ntp-rws-v3",
}
"""The rule set of a table that names none."""


def standard_text(name: str) -> str:
    """A standard rule set as it is written: the start of a casino's own."""
    return files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")


@cache
def standard_rules() -> dict[str, RuleSet]:
    """Every standard rule set by name."""
    return {
        name: read_yaml(
            standard_text(name), RuleSet, lambda rules: rule_set_contradictions("", rules), f"{name}.yaml"
        )
        for name in STANDARD_OF.values()
    }
