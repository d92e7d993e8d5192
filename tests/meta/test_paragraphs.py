"""docs/paragraphs.md is true: every paragraph is there, its code exists, its tests exist."""

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from controller.games.standard import standard_rules

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/paragraphs.md"


def outline(text: str) -> list[str]:
    """`5.8.1-7` is seven paragraphs; `5.8.1` is one."""
    found = []
    for item in text.split():
        base, _, last = item.partition("-")
        prefix, _, first = base.rpartition(".")
        found += [f"{prefix}.{n}" for n in range(int(first), int(last or first) + 1)]
    return found


# How the documents are numbered; TCP and MLP share section 5.
SECTION_5 = outline(
    "5.1 5.1.1 5.2 5.2.1 5.3 5.3.1-2 5.4-7 5.7.1-2 5.8 5.8.1-7 5.9-10 5.10.1-3 "
    "5.11-14 5.14.1 5.15-17 5.17.1-2 5.18-23"
)
BEGINNING = "2.1 2.1.1 2.2 2.2.1 3.1 3.1.1-3 3.2-6 3.6.1-2 3.7-8 3.8.1 3.9-10"
END = "3.12 3.12.1-2 3.13-15 3.15.1-3 3.16-17 4.1-4"
APPENDIX = [f"Appendix {letter}" for letter in "ABCD"]
OUTLINES = {
    "TCP": [*outline(f"1.1-22 {BEGINNING} 3.11 {END} 4.5-9 4.9.1"), *SECTION_5, *APPENDIX[:2]],
    "MLP": [
        *outline(f"1.1-24 {BEGINNING} 3.10.1 3.11 3.11.1 {END} 4.4.1 4.5-7 4.7.1-2"),
        *SECTION_5,
        *APPENDIX,
    ],
    "NTP": [
        *outline("1.1-19 2.1 2.1.1 2.2 2.2.1 3.1-2 3.2.1-3 3.3-12 3.12.1 3.13 3.13.1-4 4.1"),
        *outline("5.1 5.1.1-2 5.2 5.2.1 5.3-4 5.4.1-2 5.5 5.5.1-5 5.6-7 5.7.1-3 5.8-11 5.11.1 5.12-17"),
        *APPENDIX[:3],
    ],
    "GTP": [
        "introduction",
        "ranking",
        "bet against the dealer's hand",
        "bet your own hand",
        "playing against the dealer",
        "tie",
        "ante bonus payouts",
        "pair plus payouts",
        "progressive rules",
        "pay table",
    ],
}


def rows() -> dict[str, dict[str, tuple[str, str]]]:
    """By document and paragraph: what carries it, and what shows it or why nothing needs to."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    game = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            game = line[3:6]
            found[game] = {}
        elif line.startswith("| ") and not line.startswith("| paragraph"):
            paragraph, about, code, shown = (cell.strip() for cell in line.strip("|").split("|"))
            assert about, line
            found[game][paragraph] = (code.strip("`"), shown.strip("`"))
    return found


@cache
def names_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("game", OUTLINES)
def test_every_paragraph_of_a_document_is_on_the_page_in_order(game: str) -> None:
    assert list(rows()[game]) == OUTLINES[game]


@pytest.mark.parametrize("game", OUTLINES)
def test_what_carries_a_paragraph_and_what_shows_it_exist(game: str) -> None:
    for paragraph, (code, shown) in rows()[game].items():
        if not code:
            assert shown.endswith("."), f"{game} {paragraph}: needs no code, and says why"
            continue
        assert _resolves(code), f"{game} {paragraph}: {code}"
        path, _, name = shown.partition("::")
        assert (ROOT / path).is_file(), f"{game} {paragraph}: {shown}"
        assert not name or name in names_in(path), f"{game} {paragraph}: {shown}"


def _resolves(dotted: str) -> bool:
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            found = getattr(found, name, None)
        return found is not None
    return False


def test_every_paragraph_that_a_standard_rule_set_cites_is_on_the_page_with_its_code() -> None:
    page = rows()
    for rules in standard_rules().values():
        for point, rule in rules.paragraphs.items():
            cited = re.sub(r", chosen for GTP$", "", rule)
            code, _ = page[cited[:3]][cited[4:]]
            assert code, f"{rules.id}: {point} cites {rule}, which has no code"
