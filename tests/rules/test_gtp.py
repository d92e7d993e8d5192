"""Three-Card Poker Progressive (GTP), section by section: the document has no numbers."""

import pytest

from controller.games.poker import PokerBox
from controller.games.rule_sets import Limits
from controller.games.settlement import Settlement
from controller.games.vocabulary import Bet, Decision, Game
from tests.rules.deals import ended, hand, play_round

PLAY, FOLD = Decision.PLAY, Decision.FOLD
QUALIFIED, UNQUALIFIED = "QS 7H 2D", "JS 7H 2D"
DEALER_RULE, OWN_HAND, PAYS = "GTP playing against the dealer", "GTP bet your own hand", "GTP pay table"


def one(
    cards: str | None,
    decision: Decision = PLAY,
    dealer: str = QUALIFIED,
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
    return play_round(Game.GTP, dealer, [own], {Bet(k): v for k, v in limits.items()})


@pytest.mark.parametrize(
    ("cards", "dealer", "ante", "play"),
    [
        ("6C 5D 3H", UNQUALIFIED, ("won", 1000, 2000, DEALER_RULE), ("returned", 1000, 1000, DEALER_RULE)),
        ("KC 5D 3H", QUALIFIED, ("won", 1000, 2000, DEALER_RULE), ("won", 1000, 2000, DEALER_RULE)),
        ("QC 6D 3H", QUALIFIED, ("lost", 1000, 0, "GTP introduction"), ("lost", 1000, 0, "GTP introduction")),
        ("QC 7D 2H", QUALIFIED, ("returned", 1000, 1000, "GTP tie"), ("returned", 1000, 1000, "GTP tie")),
    ],
)
def test_gtp_playing_against_the_dealer(
    cards: str, dealer: str, ante: tuple[str, int, int, str], play: tuple[str, int, int, str]
) -> None:
    settled = one(cards, dealer=dealer)
    assert ended(settled, Bet.ANTE) == [ante]
    assert ended(settled, Bet.PLAY) == [play]


def test_gtp_bet_your_own_hand_a_fold_loses_ante_and_pair_plus_and_keeps_the_progressive() -> None:
    settled = one("8C 8D 8H", FOLD)
    assert ended(settled, Bet.ANTE) == [("lost", 1000, 0, OWN_HAND)]
    assert ended(settled, Bet.PAIR_PLUS) == [("lost", 100, 0, OWN_HAND)]
    assert ended(settled, Bet.ANTE_BONUS) == []
    assert ended(settled, Bet.PROGRESSIVE) == [("won", 500, 60 * 500, PAYS)]


@pytest.mark.parametrize(
    ("cards", "returned"),
    [("JD 10D 9D", 4100), ("8C 8D 8H", 3100), ("9C 8D 7C", 700), ("AC 9C 4C", 500), ("4C 4D 9H", 200)],
)
def test_gtp_pair_plus_payouts_pay_six_for_a_straight(cards: str, returned: int) -> None:
    for dealer in (UNQUALIFIED, "AS AH AD"):
        settled = one(cards, dealer=dealer)
        assert ended(settled, Bet.PAIR_PLUS) == [("won", 100, returned, "GTP pair plus payouts")]


@pytest.mark.parametrize(("cards", "bonus"), [("JD 10D 9D", 5000), ("8C 8D 8H", 4000), ("9C 8D 7C", 1000)])
def test_gtp_ante_bonus_payouts_even_if_the_hand_loses(cards: str, bonus: int) -> None:
    for dealer in (UNQUALIFIED, "AS KS QS"):
        assert ended(one(cards, dealer=dealer), Bet.ANTE_BONUS) == [
            ("won", 0, bonus, "GTP ante bonus payouts")
        ]


@pytest.mark.parametrize(
    ("cards", "odds"), [("AH KH QH", 499), ("JD 10D 9D", 69), ("8C 8D 8H", 59), ("9C 8D 7C", 5)]
)
def test_gtp_pay_table_pays_odds_and_returns_the_wager(cards: str, odds: int) -> None:
    settled = one(cards)
    assert ended(settled, Bet.PROGRESSIVE) == [("won", 500, 500 * odds + 500, PAYS)]
    assert [(claim.amount_cents, claim.rule) for claim in settled.claims] == [(500 * odds, PAYS)]


def test_gtp_pay_table_the_major_returns_the_wager_too() -> None:
    settled = one("AS KS QS", dealer=UNQUALIFIED)
    assert ended(settled, Bet.PROGRESSIVE) == [("won", 500, 500, PAYS)]
    claim = settled.claims[0]
    assert (claim.hand, claim.amount_cents, claim.share_ppm) == ("akq_spades", None, 1_000_000)


def test_gtp_pay_table_a_flush_loses_the_wager() -> None:
    assert ended(one("AC 9C 4C"), Bet.PROGRESSIVE) == [("lost", 500, 0, PAYS)]


def test_gtp_has_no_envy() -> None:
    other = PokerBox(box=2, ante_cents=1000, progressive_cents=500, decision=PLAY, cards=hand("4C 9D 2H"))
    own = PokerBox(box=1, ante_cents=1000, progressive_cents=500, decision=PLAY, cards=hand("AH KH QH"))
    assert play_round(Game.GTP, QUALIFIED, [own, other]).envy == []


def test_gtp_a_hand_that_is_not_shown_loses_everything() -> None:
    rule = "TCP 4.5, chosen for GTP"
    assert {(line.bet, line.returned_cents, line.rule) for line in one(None).lines} == {
        (bet, 0, rule) for bet in (Bet.ANTE, Bet.PLAY, Bet.PAIR_PLUS, Bet.PROGRESSIVE)
    }


def test_gtp_above_the_maximum_the_maximum_plays() -> None:
    settled = one("KC 5D 3H", ante=Limits(max_cents=600))
    assert ended(settled, Bet.ANTE) == [
        ("returned", 400, 400, "TCP 5.1.1, chosen for GTP"),
        ("won", 600, 1200, DEALER_RULE),
    ]
    assert ended(settled, Bet.PLAY) == [
        ("returned", 400, 400, "TCP 5.3.1, chosen for GTP"),
        ("won", 600, 1200, DEALER_RULE),
    ]


def test_gtp_play_below_the_ante_counts_as_placed() -> None:
    settled = one("KC 5D 3H", play=400)
    assert ended(settled, Bet.PLAY) == [("won", 400, 800, DEALER_RULE)]
    assert [remark.rule for remark in settled.remarks] == ["TCP 5.3.2, chosen for GTP"]
