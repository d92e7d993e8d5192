"""Exact odds: counts against combinatorics and full enumeration, money against sums done by hand."""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from itertools import combinations
from math import comb
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from controller.floor.file import parse_floor
from controller.games.cards import DECK, Hand, parse_cards
from controller.games.odds import (
    PLAYS_FROM,
    ProgressiveBet,
    average_at_hit,
    break_even,
    envied_probability,
    expected_return,
    hand_counts,
    long_run,
    variations,
)
from controller.games.ranking import ThreeCardHand, progressive_five, qualifies, rank_three
from controller.games.vocabulary import Game
from controller.settings import Settings
from deploy.cli import main
from deploy.odds_report import ask, find_floor, report_text
from deploy.prepare import prepare_database
from models.engine import Ledger
from models.in_force import record_floor

SAMPLE = (files("deploy") / "floor.yaml").read_text(encoding="utf-8")
FLOOR = (parse_floor(SAMPLE), "sample")
LINKS = ("three-card", "multi-link", "three-card-progressive")


def bet_on(link: str) -> ProgressiveBet:
    return ask(FLOOR, link, 6, ()).bets()[0]


def at(link: str, cents: int) -> dict[str, Fraction]:
    return {bet_on(link).meters[0].id: Fraction(cents)}


# How often.


def test_three_card_counts_are_the_known_ones() -> None:
    known = {
        "akq_spades": 1,
        "akq_other_suit": 3,
        "straight_flush": 44,
        "three_of_a_kind": 52,
        "straight": 720,
    }
    for game in (Game.TCP, Game.GTP):
        counts = hand_counts(game)
        assert {hand: counts[hand] for hand in known} == known
        assert sum(counts.values()) == comb(52, 3)
    assert hand_counts(Game.NTP) == {}


def test_five_card_counts_are_those_of_the_full_enumeration() -> None:
    counts = hand_counts(Game.MLP)
    full = Counter(progressive_five(cards) or "" for cards in combinations(DECK, 5))
    assert counts == full
    paying = ("royal_flush", "straight_flush", "four_of_a_kind", "full_house", "flush")
    assert [counts[hand] for hand in paying] == [4, 36, 624, 3744, 5108]
    assert sum(counts.values()) == comb(52, 5)


@pytest.mark.parametrize("game", [Game.TCP, Game.GTP, Game.MLP])
def test_probabilities_sum_to_one(game: Game) -> None:
    counts = hand_counts(game)
    assert sum(Fraction(n, sum(counts.values())) for n in counts.values()) == 1


def test_a_box_that_folds_receives_no_envy_counted_hand_by_hand() -> None:
    trigger = set(parse_cards(["AS", "KS", "QS"]))
    rest = [card for card in DECK if card not in trigger]
    played = sum(_played(hand) for hand in combinations(rest, 3))
    assert envied_probability(Game.TCP, "akq_spades") == Fraction(1, 22_100) * Fraction(played, comb(49, 3))
    # The suits are alike: three such hands in the other suits.
    assert envied_probability(Game.TCP, "akq_other_suit") == 3 * envied_probability(Game.TCP, "akq_spades")


def _played(hand: Hand) -> bool:
    rank = rank_three(hand)
    return rank.hand > ThreeCardHand.HIGH_CARD or rank.cards >= PLAYS_FROM


@pytest.mark.parametrize(("cards", "plays"), [(["QS", "6H", "4D"], True), (["QS", "6H", "3D"], False)])
def test_playing_from_queen_six_four_is_the_best_play_of_the_ante(cards: list[str], plays: bool) -> None:
    a, b, c = parse_cards(cards)
    own, total = rank_three((a, b, c)), 0
    for dealer in combinations([card for card in DECK if card not in (a, b, c)], 3):
        rank = rank_three(dealer)
        if not qualifies(rank, 12):
            total += 1
        elif own != rank:
            total += 2 if own > rank else -2
    assert (Fraction(total, comb(49, 3)) > -1) is plays


# What the bet is worth.


def test_three_card_return_is_the_sum_done_by_hand() -> None:
    bet = bet_on("three-card")
    # 1 x meter + 3 x $1,250 + 44 x $175 + 52 x $150 + 720 x $15, over 22,100 hands.
    fixed = 3 * 125_000 + 44 * 17_500 + 52 * 15_000 + 720 * 1_500
    assert fixed == 3_005_000
    found = expected_return(bet, at("three-card", 2_000_000), 1)
    assert (found.meters, found.fixed) == (Fraction(2_000_000, 22_100), Fraction(3_005_000, 22_100))
    assert found.total == Fraction(5_005_000, 22_100)
    assert break_even(bet, "tcp-major", 1) == 500 * 22_100 - 3_005_000 == 8_045_000


def test_the_wager_comes_back_with_every_gtp_award() -> None:
    bet = bet_on("three-card-progressive")
    odds = 3 * 499 + 44 * 69 + 52 * 59 + 720 * 5
    found = expected_return(bet, at("three-card-progressive", 1_000_000), 7)
    assert found.wagers == Fraction(100 * 820, 22_100)
    assert found.total == Fraction(1_000_000 + 100 * odds + 100 * 820, 22_100)


def test_multi_link_return_is_the_sum_done_by_hand() -> None:
    found = expected_return(bet_on("multi-link"), at("multi-link", 10_000_000), 3)
    fixed = 624 * 200_000 + 3744 * 20_000 + 5108 * 10_000
    assert found.total == Fraction(4 * 10_000_000 + 36 * 1_000_000 + fixed, comb(52, 5))


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("boxes", [1, 4, 7])
def test_at_break_even_the_return_is_the_bet(link: str, boxes: int) -> None:
    bet = bet_on(link)
    even = break_even(bet, bet.meters[0].id, boxes)
    assert expected_return(bet, {bet.meters[0].id: even}, boxes).total == bet.bet_cents


def test_envy_is_linear_in_boxes_and_return_rises_with_the_meter() -> None:
    bet = bet_on("three-card")
    values = at("three-card", 3_000_000)
    per_box = expected_return(bet, values, 2).envy
    assert 0 < per_box < Fraction(25_000 + 3 * 5_000, 22_100)
    assert [expected_return(bet, values, n).envy for n in range(1, 8)] == [per_box * n for n in range(7)]
    totals = [expected_return(bet, at("three-card", cents), 3).total for cents in range(0, 10**7, 10**6)]
    assert totals == sorted(set(totals))


# The long run.


def test_the_average_at_a_hit_without_partial_lines_is_reset_plus_growth() -> None:
    run = long_run(bet_on("three-card"), 1)
    meter = run.meters[0]
    assert (meter.bets_between_resets, meter.growth) == (Fraction(22_100), Fraction(75 * 22_100))
    assert meter.at_hit == 3_657_500
    assert meter.coverage == Fraction(15 * 22_100, 2_000_000)
    # The reserve is spent on resets: every cent is a player's or the house's.
    assert run.returned.total + run.kept == 500


def test_the_multi_link_average_solves_its_balance() -> None:
    run = long_run(bet_on("multi-link"), 1)
    average = run.meters[0].at_hit
    assert average == (Fraction(345, 4) * comb(52, 5) + 4 * 5_000_000) / Fraction(38, 5)
    # What the meter pays is what it gets: contributions and resets.
    assert run.returned.meters == run.to_meters + run.meters[0].reset_cost
    surplus = run.to_reserves - run.meters[0].reset_cost
    assert surplus > 0
    assert run.house_tops_up == 0
    assert run.returned.total + run.kept + surplus == 500


def _step(values: dict[Fraction, Fraction], reset: int, add: int, full: Fraction, part: Fraction,
          share: Fraction) -> dict[Fraction, Fraction]:  # fmt: skip
    """One bet: the exact distribution of the value that the next hand finds."""
    after: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
    for value, weight in values.items():
        after[Fraction(reset + add)] += weight * full
        after[value * (1 - share) + add] += weight * part
        after[value + add] += weight * (1 - full - part)
    return dict(after)


def test_the_recursion_agrees_with_the_exact_distribution_bet_by_bet() -> None:
    reset, add, full, part, share = 1000, 7, Fraction(1, 5), Fraction(1, 4), Fraction(1, 10)
    drained = full + part * share
    average = average_at_hit(Fraction(add), Fraction(reset), full, drained)
    values = {Fraction(reset + add): Fraction(1)}
    for bets in range(1, 12):
        values = _step(values, reset, add, full, part, share)
        assert sum(values.values()) == 1
        mean = sum(value * weight for value, weight in values.items())
        assert mean - average == (1 - drained) ** bets * (reset + add - average)


def test_the_average_at_the_first_full_award_after_a_reset_is_the_same() -> None:
    reset, add, full, part, share = 1000, 7, Fraction(1, 5), Fraction(1, 4), Fraction(1, 10)
    average = average_at_hit(Fraction(add), Fraction(reset), full, full + part * share)
    # Sum over k of P(first full award at bet k) x E[value there], with what is left bounded.
    value, left, total = Fraction(reset + add), Fraction(1), Fraction(0)
    for _ in range(120):
        total += left * full * value
        left *= 1 - full
        value = value * (1 - part * share / (1 - full)) + add
    assert abs(total - average) < Fraction(1, 10**6)


def test_a_cap_below_the_average_is_told() -> None:
    bet = bet_on("multi-link")
    low = replace(bet, meters=(replace(bet.meters[0], cap_cents=6_000_000),))
    assert long_run(low, 1).meters[0].cap_binds
    assert long_run(low, 1).meters[0].at_hit == 6_000_000
    assert not long_run(bet, 1).meters[0].cap_binds


def test_the_terms_move_the_house_as_they_should() -> None:
    runs = {title: long_run(bet, 6) for title, bet in variations(bet_on("three-card"))}
    now = runs["as it is"]
    assert len(runs) == 7
    assert runs["rate + 5 points"].kept == now.kept - 25
    assert runs["reset x 2"].kept == now.kept - Fraction(2_000_000, 22_100)
    # A reserve that covers less than the reset only changes who is said to pay.
    assert runs["reserve x 0"].kept == runs["reserve x 2"].kept == now.kept
    assert runs["reserve x 0"].house_tops_up == now.house_tops_up + 15


def test_terms_that_cannot_be_are_left_out() -> None:
    bet = bet_on("three-card")
    meter = replace(bet.meters[0], rate_ppm=20_000, cap_cents=3_000_000)
    titles = [title for title, _ in variations(replace(bet, meters=(meter,)))]
    assert "rate - 5 points" not in titles
    assert "reset x 2" not in titles


# Several meters, several pay tables.

TWO = """
version: 1
casino: Test
pay_tables:
  - id: tcp
    game: TCP
    title: TCP
    lines:
      - {hand: akq_spades, meter: big, share_ppm: 1_000_000, rule: TCP 4.4}
      - {hand: akq_other_suit, meter: small, share_ppm: 500_000, rule: TCP 4.4}
  - id: mlp
    game: MLP
    title: MLP
    lines:
      - {hand: royal_flush, meter: big, share_ppm: 1_000_000, envy_cents: 100, rule: MLP 4.4}
      - {hand: flush, meter: small, share_ppm: 1_000_000, rule: MLP 4.4}
links:
  - id: two
    title: "Two <meters> & more"
    currency: USD
    pay_tables: [tcp, mlp]
    progressive_bet_cents: 100
    meters:
      - {id: big, title: Big, reset_cents: 1_000_000, opening_cents: 1_000_000, rate_ppm: 100_000}
      - {id: small, title: Small, reset_cents: 5_000, opening_cents: 5_000, rate_ppm: 50_000}
tables:
  - {id: T-1, game: TCP, link: two, boxes: 7}
  - {id: M-1, game: MLP, link: two, boxes: 7}
"""


def test_each_meter_has_its_break_even_with_the_others_held() -> None:
    question = ask((parse_floor(TWO), "two"), "two", 6, ("small=9000",))
    for bet in question.bets():
        for meter in bet.meters:
            even = break_even(bet, meter.id, 6, question.values)
            values = {**bet.resets(), **question.values, meter.id: even}
            assert expected_return(bet, values, 6).total == 100
    run = long_run(question.bets()[0], 1)
    small = run.meters[1]
    assert (small.bets_between_resets, small.growth, small.coverage) == (None, None, None)
    assert small.at_hit == 5 * Fraction(22_100, 3) * 2
    text = report_text(question)
    assert "Break-even of small" in text
    assert "all bets of the link are on this pay table" in text


# The command.


def run(*arguments: str, data: Path) -> Result:
    return CliRunner().invoke(main, ["odds", *arguments], env={"JACKPOT_DATA_DIR": str(data)})


@pytest.mark.parametrize("link", LINKS)
def test_without_a_database_the_sample_answers_and_says_so(link: str, tmp_path: Path) -> None:
    found = run(link, data=tmp_path)
    assert found.exit_code == 0, found.output
    assert "the sample floor: no floor is in force here" in found.stdout
    assert all(len(line) <= 110 for line in found.stdout.splitlines())
    assert list(tmp_path.iterdir()) == []


def test_the_text_says_what_the_sums_say(tmp_path: Path) -> None:
    text = run("three-card", "--meter", "8045000", "--boxes", "1", data=tmp_path).stdout
    for words in ("1 in 22,100", "1 in 7,366.67", "80,450.00", "100.0000%", "45.2941%", "16.5750%"):
        assert words in text
    assert "a hand that pays is never folded" in text
    multi = run("multi-link", data=tmp_path).stdout
    assert "The cap of 1,000,000.00 is lower: no displayed value reaches it." in multi
    assert "321,263.55" in multi


def test_the_floor_in_force_comes_first(tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path))
    prepare_database(settings)
    assert "sample floor" in find_floor(settings, None)[1]
    ledger = Ledger(settings.ledger_url)
    record_floor(ledger, TWO, 1)
    ledger.engine.dispose()
    found = run("two", "--json", data=tmp_path)
    assert json.loads(found.stdout)["source"] == "floor version 1, in force"


def test_json_is_exact(tmp_path: Path) -> None:
    data = json.loads(run("three-card", "--json", data=tmp_path).stdout)
    own = data["pay_tables"][0]
    assert own["lines"][0] == {"hand": "akq_spades", "count": 1, "of": 22100, "probability": "1/22100"}
    assert own["break_even"][0] == {
        "meter": "tcp-major",
        "boxes": 1,
        "exact": "8045000",
        "rounded_up": 8045000,
    }
    assert own["long_run"]["meters"][0]["average_at_hit"] == "3657500"
    reset = next(row for row in own["returns"] if row["at"] == "reset")
    assert Fraction(reset["by_boxes"]["1"]) == Fraction(5_005_000, 22_100)


def test_a_chart_is_well_formed_and_stays_inside(tmp_path: Path) -> None:
    target = tmp_path / "chart.svg"
    assert run("three-card", "--svg", str(target), data=tmp_path).exit_code == 0
    root = ET.fromstring(target.read_text())
    for line in root.iter("{http://www.w3.org/2000/svg}line"):
        assert all(0 <= float(line.attrib[k]) <= 900 for k in ("x1", "x2"))
        assert all(0 <= float(line.attrib[k]) <= 520 for k in ("y1", "y2"))
    assert sum("stroke" in line.attrib for line in root.iter("{http://www.w3.org/2000/svg}line")) == 14


def test_several_charts_have_several_files(tmp_path: Path) -> None:
    source = tmp_path / "two.yaml"
    source.write_text(TWO)
    found = run("two", "--floor", str(source), "--svg", str(tmp_path / "odds.svg"), data=tmp_path)
    assert found.exit_code == 0, found.output
    written = sorted(path.name for path in tmp_path.glob("*.svg"))
    assert written == [f"odds-{t}-{m}.svg" for t in ("mlp", "tcp") for m in ("big", "small")]
    for name in written:
        ET.fromstring((tmp_path / name).read_text())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing",), "Error: there is no link 'nothing' on the sample floor"),
        (("three-card", "--meter", "-3"), "expected cents"),
        (("three-card", "--meter", "other=3"), "tcp-major=CENTS, got 'other=3'"),
        (("three-card", "--svg", "/nonexistent/x.svg"), "the chart cannot be written"),
    ],
)
def test_what_cannot_be_answered_is_a_sentence(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    found = run(*arguments, data=tmp_path)
    assert (found.exit_code, words in found.output) == (1, True), found.output


@pytest.mark.parametrize("link", ["three-card", "multi-link"])
def test_the_pictures_in_the_docs_are_those_of_the_sample(link: str, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    target = tmp_path / "now.svg"
    run(link, "--svg", str(target), data=tmp_path)
    assert (root / f"docs/pictures/odds-{link}.svg").read_text() == target.read_text(), (
        f"stale: jackpot odds {link} --floor deploy/floor.yaml --svg docs/pictures/odds-{link}.svg"
    )
