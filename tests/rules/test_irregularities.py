"""Section 5 of the documents: what each irregularity makes of a round, by paragraph."""

from typing import Any

import msgspec
import pytest

from controller.games.irregularities import (
    FactMissing,
    Incident,
    Irregularity,
    NotForeseen,
    Ruling,
    judge,
)
from controller.games.rule_sets import RuleSet
from controller.games.standard import STANDARD_OF, standard_rules
from controller.games.vocabulary import Game

CONTINUE = [{"box": 1, "option": "continue"}, {"box": 2, "option": "return"}]
RECONSTRUCTED = [{"box": 1, "option": "continue_reconstructed"}, {"box": 2, "option": "return"}]


def rules(game: str) -> RuleSet:
    return standard_rules()[STANDARD_OF[Game(game)]]


def ruling(game: str, what: str, **facts: object) -> Ruling:
    return judge(rules(game), msgspec.convert({"what": what, **facts}, type=Incident))


HOUSE = {"decided_by": "shift-1", "note": "flood"}
LOOKED = {"boxes": [3], "decided_by": "pit-7"}

# What, the facts, the paragraph of TCP (MLP has the same numbers) and of NTP if it has one, and the verdict:
# void, or the boxes that go back.
CASES: list[tuple[str, dict[str, Any], str, str | None, str | list[int]]] = [
    ("interruption", {"outcome_established": True}, "5.7.1", "5.4.1", []),
    ("interruption", {"outcome_established": False}, "5.7.2", "5.4.2", "void"),
    ("foreign_card", {}, "5.8.1", "5.5.1", "void"),
    ("cards_exposed", {"cards_seen": False, "cards_exposed": 2}, "5.8.2", None, "void"),
    ("cards_exposed", {"cards_seen": True}, "5.12", None, []),
    (
        "cards_exposed",
        {"cards_seen": False, "cards_exposed": 1, "reconstructed": False, "options": CONTINUE},
        "5.10",
        "5.7",
        [2],
    ),
    ("deck_count_wrong", {}, "5.8.3", "5.5.2", "void"),
    ("cards_insufficient", {}, "5.8.4", None, "void"),
    ("not_shuffled", {}, "5.8.5", "5.5.3", "void"),
    ("dealt_incorrectly", {"reconstructed": False, "cards_seen": False}, "5.8.6", "5.5.4", "void"),
    (
        "dealt_incorrectly",
        {"reconstructed": False, "cards_seen": True, "options": CONTINUE},
        "5.10",
        "5.7",
        [2],
    ),
    ("dealt_incorrectly", {"reconstructed": True, "options": RECONSTRUCTED}, "5.10", "5.7", [2]),
    ("dealer_cards_wrong", {"reconstructed": False}, "5.8.7", "5.5.5", "void"),
    ("dealer_cards_wrong", {"reconstructed": True, "options": RECONSTRUCTED}, "5.10", "5.7", [2]),
    ("burn_card_missed", {"cards_seen": True}, "5.9", None, "void"),
    ("burn_card_missed", {"cards_seen": False, "reconstructed": False}, "5.9", None, "void"),
    (
        "burn_card_missed",
        {"cards_seen": False, "reconstructed": True, "options": RECONSTRUCTED},
        "5.9",
        None,
        [2],
    ),
    ("dealing_error", {"reconstructed": False, "options": CONTINUE}, "5.10", "5.7", [2]),
    ("card_face_up", {}, "5.13", "5.10", []),
    (
        "simultaneous_cards",
        {"decided_by": "pit-7", "reconstructed": False, "options": CONTINUE},
        "5.14.1",
        "5.11.1",
        [2],
    ),
    ("player_cards_wrong", {"boxes": [1, 3], "reconstructed": False}, "5.15", "5.9", [1, 3]),
    (
        "player_cards_wrong",
        {"boxes": [1], "reconstructed": True, "options": RECONSTRUCTED},
        "5.10",
        "5.7",
        [2],
    ),
    ("progressive_fault", {"cards_seen": False}, "5.16", None, "void"),
    ("progressive_fault", {"cards_seen": True}, "5.17.1", None, []),
    ("extra_hand_examined", {**LOOKED, "intentional": True}, "5.18", None, [3]),
    ("extra_hand_examined", {**LOOKED, "intentional": False}, "5.18", None, []),
    ("found_late", {}, "5.19", "5.12", []),
    ("house_decision", {**HOUSE, "decision": "void"}, "5.23", "5.17", "void"),
    ("house_decision", {**HOUSE, "decision": "return_boxes", "boxes": [4]}, "5.23", "5.17", [4]),
    ("house_decision", {**HOUSE, "decision": "stands"}, "5.23", "5.17", []),
]


def rows() -> list[Any]:
    """Every case for every game that has a paragraph; GTP is silent and chose TCP's."""
    found = []
    for what, facts, paragraph, ntp, verdict in CASES:
        by_game = {"TCP": f"TCP {paragraph}", "MLP": f"MLP {paragraph}"}
        by_game["GTP"] = f"TCP {paragraph}, chosen for GTP"
        if ntp is not None:
            by_game["NTP"] = f"NTP {ntp}"
        for game, rule in by_game.items():
            name = f"{rule.split(',')[0]} for {game}: {what} {verdict}"
            found.append(pytest.param(game, what, facts, rule, verdict, id=name))
    return found


@pytest.mark.parametrize(("game", "what", "facts", "rule", "verdict"), rows())
def test_5_an_irregularity_is_ruled_by_its_paragraph(
    game: str, what: str, facts: dict[str, Any], rule: str, verdict: str | list[int]
) -> None:
    found = ruling(game, what, **facts)
    assert found.rule == rule
    assert found.void == (verdict == "void")
    assert list(found.invalidated) == ([] if verdict == "void" else verdict)
    assert found.remark().sentence.endswith(".")


def test_every_irregularity_has_a_case() -> None:
    assert {what for what, *_ in CASES} == set(Irregularity)


def test_5_10_3_a_player_who_wants_the_bet_back_gets_it_by_that_paragraph() -> None:
    tcp = ruling("TCP", "dealing_error", reconstructed=False, options=CONTINUE)
    ntp = ruling("NTP", "dealing_error", reconstructed=True, options=RECONSTRUCTED)
    assert (tcp.invalidated, ntp.invalidated) == ({2: "TCP 5.10.3"}, {2: "NTP 5.7.3"})


@pytest.mark.parametrize(("reconstructed", "wrong"), [(True, "continue"), (False, "continue_reconstructed")])
def test_5_10_1_and_5_10_2_a_hand_continues_reconstructed_if_and_only_if_it_was(
    *, reconstructed: bool, wrong: str
) -> None:
    options = [{"box": 1, "option": wrong}]
    with pytest.raises(FactMissing, match="box 1"):
        ruling("TCP", "dealing_error", reconstructed=reconstructed, options=options)


@pytest.mark.parametrize(
    ("what", "facts", "missing"),
    [
        ("interruption", {}, "outcome_established"),
        ("cards_exposed", {}, "cards_seen"),
        ("cards_exposed", {"cards_seen": False}, "cards_exposed"),
        ("dealt_incorrectly", {}, "reconstructed"),
        ("dealt_incorrectly", {"reconstructed": False}, "cards_seen"),
        ("dealer_cards_wrong", {}, "reconstructed"),
        ("burn_card_missed", {"cards_seen": False}, "reconstructed"),
        ("dealing_error", {}, "options"),
        ("dealing_error", {"options": []}, "reconstructed"),
        ("simultaneous_cards", {}, "decided_by"),
        ("player_cards_wrong", {}, "boxes"),
        ("progressive_fault", {}, "cards_seen"),
        ("extra_hand_examined", {"boxes": [1]}, "decided_by"),
        ("extra_hand_examined", LOOKED, "intentional"),
        ("house_decision", {}, "decided_by"),
        ("house_decision", {"decided_by": "x"}, "decision"),
        ("house_decision", {"decided_by": "x", "decision": "void"}, "note"),
    ],
)
def test_a_fact_that_the_paragraph_needs_is_asked_for_never_assumed(
    what: str, facts: dict[str, Any], missing: str
) -> None:
    with pytest.raises(FactMissing) as asked:
        ruling("TCP", what, **facts)
    assert asked.value.field == missing


@pytest.mark.parametrize("what", ["burn_card_missed", "cards_insufficient", "progressive_fault"])
def test_ntp_5_17_what_the_document_does_not_know_is_the_houses(what: str) -> None:
    with pytest.raises(NotForeseen, match="house_decision"):
        ruling("NTP", what, cards_seen=False, reconstructed=False)
