"""Multi-Link Progressive 3 Card Poker (MLP), paragraph by paragraph."""

import pytest

from controller.games.poker import PokerBox
from controller.games.rule_sets import Limits
from controller.games.settlement import Settlement
from controller.games.vocabulary import Bet, Decision, Game
from tests.rules.deals import ended, hand, play_round

PLAY, FOLD = Decision.PLAY, Decision.FOLD
QUALIFIED, UNQUALIFIED = "QS 7H 2D", "JS 7H 2D"


def one(
    cards: str | None,
    decision: Decision = PLAY,
    dealer: str = QUALIFIED,
    community: str = "3S 5C",
    play: int | None = None,
    **limits: Limits,
) -> Settlement:
    """Ante 10, Pair Plus 1, progressive 5."""
    own = PokerBox(
        box=1,
        ante_cents=1000,
        pair_plus_cents=100,
        progressive_cents=500,
        play_cents=play,
        decision=decision,
        cards=None if cards is None else hand(cards),
    )
    return play_round(Game.MLP, dealer, [own], {Bet(k): v for k, v in limits.items()}, community)


def test_mlp_3_12_1_a_fold_loses_only_the_ante() -> None:
    settled = one("KC KD KH", FOLD, community="KS 5C")
    assert ended(settled, Bet.ANTE) == [("lost", 1000, 0, "MLP 3.12.1")]
    assert ended(settled, Bet.PLAY) == ended(settled, Bet.ANTE_BONUS) == []
    assert ended(settled, Bet.PAIR_PLUS) == [("won", 100, 3100, "MLP 4.2")]
    assert ended(settled, Bet.PROGRESSIVE) == [("won", 500, 200_000, "MLP 4.4")]


@pytest.mark.parametrize(
    ("cards", "dealer", "ante", "play"),
    [
        ("6C 5D 3H", UNQUALIFIED, ("won", 1000, 2000, "MLP 3.13"), ("returned", 1000, 1000, "MLP 3.13")),
        ("KC 5D 3H", QUALIFIED, ("won", 1000, 2000, "MLP 3.15.1"), ("won", 1000, 2000, "MLP 3.15.1")),
        ("QC 6D 3H", QUALIFIED, ("lost", 1000, 0, "MLP 3.15.2"), ("lost", 1000, 0, "MLP 3.15.2")),
        (
            "QC 7D 2H",
            QUALIFIED,
            ("returned", 1000, 1000, "MLP 3.15.3"),
            ("returned", 1000, 1000, "MLP 3.15.3"),
        ),
    ],
)
def test_mlp_3_13_and_3_15_the_hand_against_the_dealer(
    cards: str, dealer: str, ante: tuple[str, int, int, str], play: tuple[str, int, int, str]
) -> None:
    settled = one(cards, dealer=dealer)
    assert ended(settled, Bet.ANTE) == [ante]
    assert ended(settled, Bet.PLAY) == [play]


def test_mlp_3_15_community_cards_do_not_help_against_the_dealer() -> None:
    settled = one("KC 5D 3H", dealer="AS 9H 2D", community="KS KH")
    assert ended(settled, Bet.ANTE) == [("lost", 1000, 0, "MLP 3.15.2")]
    assert ended(settled, Bet.PAIR_PLUS) == [("lost", 100, 0, "MLP 4.2")]


@pytest.mark.parametrize(
    ("cards", "returned"),
    [("JD 10D 9D", 4100), ("8C 8D 8H", 3100), ("9C 8D 7C", 600), ("AC 9C 4C", 500), ("4C 4D 9H", 200)],
)
def test_mlp_4_2_pair_plus_pays_five_for_a_straight(cards: str, returned: int) -> None:
    assert ended(one(cards), Bet.PAIR_PLUS) == [("won", 100, returned, "MLP 4.2")]


@pytest.mark.parametrize(("cards", "bonus"), [("JD 10D 9D", 5000), ("8C 8D 8H", 4000), ("9C 8D 7C", 1000)])
def test_mlp_4_3_the_ante_bonus_pays_irrespective_of_the_dealer(cards: str, bonus: int) -> None:
    for dealer in (UNQUALIFIED, "AS AH AD"):
        assert ended(one(cards, dealer=dealer), Bet.ANTE_BONUS) == [("won", 0, bonus, "MLP 4.3")]


@pytest.mark.parametrize(
    ("cards", "community", "name", "amount", "ppm"),
    [
        ("AC KC QC", "JC 10C", "royal_flush", None, 1_000_000),
        ("QC JC 10C", "9C 8C", "straight_flush", None, 100_000),
        ("AC 2C 3C", "4C 5C", "straight_flush", None, 100_000),
        ("KC KH KD", "KS 5C", "four_of_a_kind", 200_000, None),
        ("KC KH 5D", "KS 5C", "full_house", 20_000, None),
        ("KH JH 9H", "5H 3H", "flush", 10_000, None),
    ],
)
def test_mlp_4_4_the_progressive_is_five_cards(
    cards: str, community: str, name: str, amount: int | None, ppm: int | None
) -> None:
    for decision in (PLAY, FOLD):
        settled = one(cards, decision, community=community)
        assert ended(settled, Bet.PROGRESSIVE) == [("won", 500, amount or 0, "MLP 4.4")]
        claim = settled.claims[0]
        assert (claim.hand, claim.amount_cents, claim.share_ppm) == (name, amount, ppm)
        assert settled.envy == []


@pytest.mark.parametrize(
    ("cards", "community"),
    [("AS KS QH", "JC 10C"), ("8C 8D 8H", "3S 5C"), ("AC KC QC", "3S 5C"), ("4C 4D 9H", "9S 5C")],
)
def test_mlp_1_17_three_good_cards_or_a_straight_win_no_progressive(cards: str, community: str) -> None:
    settled = one(cards, community=community)
    assert ended(settled, Bet.PROGRESSIVE) == [("lost", 500, 0, "MLP 4.4")]
    assert settled.claims == []


def test_mlp_4_5_a_hand_that_is_not_shown_loses_everything() -> None:
    settled = one(None, dealer=UNQUALIFIED)
    assert {(line.bet, line.returned_cents, line.rule) for line in settled.lines} == {
        (bet, 0, "MLP 4.5") for bet in (Bet.ANTE, Bet.PLAY, Bet.PAIR_PLUS, Bet.PROGRESSIVE)
    }


def test_mlp_5_1_1_above_the_maximum_the_maximum_plays() -> None:
    settled = one("KC 5D 3H", ante=Limits(max_cents=600))
    assert ended(settled, Bet.ANTE) == [("returned", 400, 400, "MLP 5.1.1"), ("won", 600, 1200, "MLP 3.15.1")]
    assert ended(settled, Bet.PLAY) == [("returned", 400, 400, "MLP 5.3.1"), ("won", 600, 1200, "MLP 3.15.1")]


def test_mlp_5_2_1_below_the_minimum_the_bet_plays() -> None:
    settled = one("KC 5D 3H", ante=Limits(min_cents=2000))
    assert ended(settled, Bet.ANTE) == [("won", 1000, 2000, "MLP 3.15.1")]
    assert [remark.rule for remark in settled.remarks] == ["MLP 5.2.1"]


def test_mlp_5_3_2_play_below_the_ante_counts_as_placed() -> None:
    assert ended(one("KC 5D 3H", play=400), Bet.PLAY) == [("won", 400, 800, "MLP 3.15.1")]


def test_mlp_5_5_walking_away_undecided_loses_the_ante_and_keeps_the_progressive() -> None:
    own = PokerBox(box=1, ante_cents=1000, progressive_cents=500, cards=hand("KC KH KD"), walked_away=True)
    settled = play_round(Game.MLP, QUALIFIED, [own], community="KS 5C")
    assert ended(settled, Bet.ANTE) == [("lost", 1000, 0, "MLP 3.12.1")]
    assert ended(settled, Bet.PROGRESSIVE) == [("won", 500, 200_000, "MLP 4.4")]
    assert [remark.rule for remark in settled.remarks] == ["MLP 5.5"]


def test_mlp_5_6_walking_away_decided_is_settled_as_it_stands() -> None:
    own = PokerBox(box=1, ante_cents=1000, decision=PLAY, cards=hand("KC 5D 3H"), walked_away=True)
    settled = play_round(Game.MLP, QUALIFIED, [own], community="3S 5C")
    assert ended(settled, Bet.ANTE) == [("won", 1000, 2000, "MLP 3.15.1")]
    assert [remark.rule for remark in settled.remarks] == ["MLP 5.6"]


def test_mlp_1_17_three_cards_alone_are_no_progressive_hand() -> None:
    assert one("JD 10D 9D", community="").claims == []
