"""Rule sets are data: the standard ones are complete, a casino's own is a part of its floor file."""

import textwrap

import pytest

from controller.floor.definition import Floor
from controller.floor.file import parse_floor
from controller.games.cards import Hand, parse_cards
from controller.games.poker import PokerBox, settle_poker
from controller.games.standard import STANDARD_OF, standard_rules, standard_text
from controller.games.vocabulary import Bet, Decision, Game
from controller.yaml_source import SourceError
from tests.unit.test_floor_file import SAMPLE


def with_rule_set(text: str, *, used_by: str = "TCP-02") -> str:
    """The sample floor with one more rule set, used by one table."""
    item = "  - " + textwrap.indent(text, "    ").strip() + "\n"
    floor = SAMPLE.replace("\npay_tables:\n", f"\nrule_sets:\n{item}\npay_tables:\n", 1)
    return floor.replace(f"{{id: {used_by}, ", f"{{id: {used_by}, rules: own, ", 1)


def own(old: str = "", new: str = "", standard: str = "tcp-rws-v3") -> str:
    text = standard_text(standard).replace(f"id: {standard}", "id: own")
    assert old in text
    return text.replace(old, new, 1)


def hand(text: str) -> Hand:
    first, second, third = parse_cards(text.split())
    return first, second, third


def pair_plus_of_a_straight(floor: Floor, table: str) -> int:
    box = PokerBox(box=1, pair_plus_cents=100, decision=Decision.PLAY, cards=hand("9S 8D 7C"))
    settled = settle_poker(floor.rules_of(floor.tables_by_id[table]), None, hand("KS QD 2C"), (), [box])
    return next(line.returned_cents for line in settled.lines if line.bet is Bet.PAIR_PLUS)


def test_every_game_has_a_standard_rule_set_that_names_its_document() -> None:
    assert {standard_rules()[name].game for name in STANDARD_OF.values()} == set(Game)
    for name in ("tcp-rws-v3", "mlp-rws-v2", "ntp-rws-v3"):
        prefix = name[:3].upper()
        assert all(rule.startswith(f"{prefix} ") for rule in standard_rules()[name].paragraphs.values())


def test_another_casinos_variant_is_a_file() -> None:
    floor = parse_floor(with_rule_set(own("straight: 5 to 1", "straight: 6 to 1")))
    assert pair_plus_of_a_straight(floor, "TCP-01") == 600
    assert pair_plus_of_a_straight(floor, "TCP-02") == 700


def test_a_changed_rule_set_changes_the_digest_of_the_links_that_play_by_it_and_no_other() -> None:
    before = parse_floor(with_rule_set(own()))
    after = parse_floor(with_rule_set(own("straight: 5 to 1", "straight: 6 to 1")))
    assert {link for link in before.link_ids if before.digest(link) != after.digest(link)} == {"three-card"}


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        (own("flush: 4 to 1", "flush: four"), "poker.pair_plus[...]", "regex"),
        (own("flush: 4 to 1", "flash: 4 to 1"), "poker.pair_plus.flash", "straight_flush"),
        (own("ante: 1 to 1", "ante: 0 to 1"), "poker.ante", "regex"),
        (own("qualifies_from: 12", "qualifies_from: 15"), "poker.qualifies_from", "<= 14"),
        (own("pair_plus: lost", "pair_plus: burnt"), "poker.fold.pair_plus", "enum value"),
        (own("game: TCP", "game: MLP"), "poker.community_cards", "2 for MLP"),
        (own("game: TCP", "game: NTP"), "pictures", "expected for NTP"),
        (own("  house: TCP 5.23\n", ""), "paragraphs", "the paragraph of house"),
        (own("  house: ", "  houze: "), "paragraphs.houze", "a point that a document decides"),
        (own('"6"', '"10"', "ntp-rws-v3"), "pictures.initial_by_points.10", "0 to 9"),
        (own().replace("id: own", "id: tcp-rws-v3"), "id", "a standard rule set"),
    ],
)
def test_a_wrong_rule_set_is_named_by_line_and_field(text: str, field: str, expected: str) -> None:
    with pytest.raises(SourceError) as refused:
        parse_floor(with_rule_set(text, used_by="nobody"))
    assert refused.value.field == f"rule_sets[0].{field}", str(refused.value)
    assert expected in refused.value.expected
