"""A wrong floor file is refused with the line, the field and what was expected."""

from importlib.resources import files

import pytest

from controller.floor.file import parse_floor
from controller.games.vocabulary import Game
from controller.yaml_source import SourceError

SAMPLE = (files("deploy") / "floor.yaml").read_text(encoding="utf-8")


def edited(old: str, new: str) -> str:
    assert old in SAMPLE
    return SAMPLE.replace(old, new, 1)


def line_of(text: str, needle: str) -> int:
    return next(i for i, line in enumerate(text.splitlines(), start=1) if needle in line)


def test_the_sample_floor_has_all_four_games() -> None:
    floor = parse_floor(SAMPLE)
    count = {game: sum(t.game is game for t in floor.tables) for game in Game}
    assert count == {Game.TCP: 8, Game.MLP: 12, Game.GTP: 4, Game.NTP: 2}
    assert all(t.link is None for t in floor.tables if t.game is Game.NTP)
    assert [len(link.meters) for link in floor.links] == [1, 1, 1]


@pytest.mark.parametrize(
    ("old", "new", "field", "expected"),
    [
        ("reserve_ppm: 30_000 ", "reserve_ppm: 0.03 ", "links[0].meters[0].reserve_ppm", "whole number"),
        ("rate_ppm: 150_000", "rate_ppm: 1_500_000", "links[0].meters[0].rate_ppm", "<= 1000000"),
        ("rate_ppm: 172_500", "rate_ppm: 990_000", "links[1].meters", "at most 1000000 ppm"),
        ("reset_cents: 2_000_000", "reset_cent: 2_000_000", "links[0].meters[0].reset_cent", "unknown field"),
        ("reset_cents: 2_000_000", "reset_cents: -1", "links[0].meters[0].reset_cents", ">= 0"),
        ("cap_cents: 100_000_000", "cap_cents: 10", "links[1].meters[0].cap_cents", "at least the reset"),
        ("currency: SGD", "currency: dollars", "links[0].currency", "matching regex"),
        (
            "progressive_bet_cents: 500",
            "progressive_bet_cents: '500'",
            "links[0].progressive_bet_cents",
            "`int`",
        ),
        ("id: multi-link\n", "id: three-card\n", "links[1].id", "used once"),
        ("id: multi-link\n", "id: unlinked\n", "links[1].id", "another name"),
        ("id: mlp-major\n", "id: tcp-major\n", "links[1].meters[0].id", "used once on the floor"),
        ("pay_tables: [tcp-rws-v3]", "pay_tables: [nothing]", "links[0].pay_tables[0]", "no 'nothing'"),
        ("pay_tables: [tcp-rws-v3]", "pay_tables: [mlp-rws-v2]", "links[0].pay_tables[0]", "over the meters"),
        (
            "hand: straight, fixed_cents",
            "hand: stright, fixed_cents",
            "pay_tables[0].lines[4].hand",
            "akq_spades",
        ),
        ("hand: full_house", "hand: flush", "pay_tables[1].lines", "best first"),
        ("fixed_cents: 125_000", "fixed_cents: 1, odds_to_one: 2", "pay_tables[0].lines[1]", "exactly one"),
        ("meter: tcp-major, share", "share", "pay_tables[0].lines[0].meter", "with share_ppm"),
        ("{id: TCP-02, ", "{id: TCP-01, ", "tables[1].id", "already taken"),
        ("id: TCP-03, game: TCP", "id: TCP-03, game: MLP", "tables[2].game", "a game of link"),
        ("id: NTP-02, game: NTP", "id: NTP-02, game: NTP, link: three-card", "tables[25].link", "none"),
        (
            "id: TCP-04, game: TCP, link: three-card",
            "id: TCP-04, game: TCP, link: x",
            "tables[3].link",
            "no 'x'",
        ),
        ("boxes: 6,", "boxes: 60,", "tables[20].boxes", "<= 12"),
        (
            "tie: {min_cents: 100",
            "tie: {min_cents: 100_000",
            "tables[24].limits.tie.max_cents",
            "the minimum",
        ),
        ("      tie: {", "      ante: {", "tables[24].limits.ante", "initial, tie, three_pictures"),
        ("      tie: {", "      party: {", "tables[24].limits", "enum value"),
        ("{id: TCP-02, ", "{id: TCP-02, rules: x, ", "tables[1].rules", "tcp-rws-v3"),
        ("{id: TCP-02, ", "{id: TCP-02, rules: mlp-rws-v2, ", "tables[1].rules", "tcp-rws-v3"),
        ("version: 1", "version: 2", "version", "invalid enum value 2"),
        ("casino: Sample Casino", "casino: yes", "casino", "neither true nor false"),
        ("casino: Sample Casino", "casino: a\ncasino: b", "casino", "repeated"),
        ("casino: Sample Casino", "casino: 2020-01-01", "casino", "timestamp"),
        ("casino: Sample Casino", "", "casino", "missing required"),
        ("boxes: 7,", "boxes: 0x7,", "tables[1].boxes", "another base"),
        ("boxes: 7,", "boxes: 07,", "tables[1].boxes", "another base"),
        (
            "wager_returned: true, rule",
            "wager_returned: yes, rule",
            "pay_tables[2].lines[0].wager_returned",
            "true nor false",
        ),
        (
            "progressive_bet_cents: 500",
            "progressive_bet_cents: 1000001",
            "links[0].progressive_bet_cents",
            "<= 10",
        ),
    ],
)
def test_a_wrong_field_is_named(old: str, new: str, field: str, expected: str) -> None:
    with pytest.raises(SourceError) as refused:
        parse_floor(edited(old, new), "my.yaml")
    assert (refused.value.field, expected in refused.value.expected) == (field, True), str(refused.value)


def test_the_line_is_the_fields_own() -> None:
    text = edited("rate_ppm: 172_500", "rate_ppm: -3")
    with pytest.raises(SourceError) as refused:
        parse_floor(text, "my.yaml")
    assert str(refused.value).startswith(
        f"my.yaml:{line_of(text, 'rate_ppm: -3')}: links[1].meters[0].rate_ppm: "
    )


@pytest.mark.parametrize(("text", "line"), [("", 1), ("a: [", 1), ("version: 1\n\tx: 2", 2), ("- 1", 1)])
def test_what_is_no_floor_at_all_is_refused(text: str, line: int) -> None:
    with pytest.raises(SourceError) as refused:
        parse_floor(text)
    assert refused.value.line == line


def test_a_links_digest_follows_its_own_definition_only() -> None:
    before, after = parse_floor(SAMPLE), parse_floor(edited("id: TCP-02, game", "id: TCP-99, game"))
    changed = {link for link in before.link_ids if before.digest(link) != after.digest(link)}
    assert changed == {"three-card"}
