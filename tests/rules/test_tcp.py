"""3 Card Poker (TCP), paragraph by paragraph."""

import pytest

from controller.games.poker import PokerBox
from controller.games.rule_sets import Limits
from controller.games.settlement import Settlement
from controller.games.vocabulary import Bet, Decision, Game
from tests.rules.deals import ended, hand, play_round

PLAY, FOLD = Decision.PLAY, Decision.FOLD
QUALIFIED = "QS 7H 2D"
UNQUALIFIED = "JS 7H 2D"


def box(cards: str | None, number: int = 1, decision: Decision | None = PLAY, **bets: int) -> PokerBox:
    """Ante 10, nothing else, unless said otherwise."""
    return PokerBox(
        box=number,
        ante_cents=bets.get("ante", 1000),
        pair_plus_cents=bets.get("pair_plus", 0),
        progressive_cents=bets.get("progressive", 0),
        play_cents=bets.get("play"),
        decision=decision,
        cards=None if cards is None else hand(cards),
    )


def one(own: PokerBox, dealer: str = QUALIFIED, **limits: Limits) -> Settlement:
    return play_round(Game.TCP, dealer, [own], {Bet(name): limit for name, limit in limits.items()})


@pytest.mark.parametrize(
    ("cards", "dealer", "ante", "play"),
    [
        ("KC 5D 3H", UNQUALIFIED, ("won", 1000, 2000, "TCP 3.13"), ("returned", 1000, 1000, "TCP 3.13")),
        ("6C 5D 3H", UNQUALIFIED, ("won", 1000, 2000, "TCP 3.13"), ("returned", 1000, 1000, "TCP 3.13")),
        ("KC 5D 3H", QUALIFIED, ("won", 1000, 2000, "TCP 3.15.1"), ("won", 1000, 2000, "TCP 3.15.1")),
        ("QC 7D 3H", QUALIFIED, ("won", 1000, 2000, "TCP 3.15.1"), ("won", 1000, 2000, "TCP 3.15.1")),
        ("QC 6D 3H", QUALIFIED, ("lost", 1000, 0, "TCP 3.15.2"), ("lost", 1000, 0, "TCP 3.15.2")),
        ("JC 10D 8H", "2S 2H 3D", ("lost", 1000, 0, "TCP 3.15.2"), ("lost", 1000, 0, "TCP 3.15.2")),
        (
            "QC 7D 2H",
            QUALIFIED,
            ("returned", 1000, 1000, "TCP 3.15.3"),
            ("returned", 1000, 1000, "TCP 3.15.3"),
        ),
        ("3C 2D AH", "AS 9S 4S", ("won", 1000, 2000, "TCP 3.15.1"), ("won", 1000, 2000, "TCP 3.15.1")),
        ("5C 5D KH", "5S 5H QD", ("won", 1000, 2000, "TCP 3.15.1"), ("won", 1000, 2000, "TCP 3.15.1")),
    ],
)
def test_tcp_3_13_and_3_15_the_hand_against_the_dealer(
    cards: str, dealer: str, ante: tuple[str, int, int, str], play: tuple[str, int, int, str]
) -> None:
    settled = one(box(cards), dealer)
    assert ended(settled, Bet.ANTE) == [ante]
    assert ended(settled, Bet.PLAY) == [play]


def test_tcp_3_12_1_a_fold_loses_ante_pair_plus_and_progressive() -> None:
    settled = one(box("AS KS QS", decision=FOLD, pair_plus=300, progressive=500), UNQUALIFIED)
    assert ended(settled, Bet.ANTE) == [("lost", 1000, 0, "TCP 3.12.1")]
    assert ended(settled, Bet.PAIR_PLUS) == [("lost", 300, 0, "TCP 3.12.1")]
    assert ended(settled, Bet.PROGRESSIVE) == [("lost", 500, 0, "TCP 3.12.1")]
    assert ended(settled, Bet.PLAY) == ended(settled, Bet.ANTE_BONUS) == []
    assert settled.claims == []


def test_tcp_3_12_2_the_play_bet_equals_the_ante() -> None:
    assert ended(one(box("AC 5D 3H", ante=1234)), Bet.PLAY) == [("won", 1234, 2468, "TCP 3.15.1")]


@pytest.mark.parametrize(
    ("cards", "returned"),
    [("JD 10D 9D", 4100), ("8C 8D 8H", 3100), ("9C 8D 7C", 600), ("AC 9C 4C", 500), ("4C 4D 9H", 200)],
)
def test_tcp_4_2_pair_plus_pays_irrespective_of_the_dealer(cards: str, returned: int) -> None:
    for dealer in (QUALIFIED, UNQUALIFIED, "AS AH AD"):
        settled = one(box(cards, pair_plus=100), dealer)
        assert ended(settled, Bet.PAIR_PLUS) == [("won", 100, returned, "TCP 4.2")]


def test_tcp_4_2_pair_plus_loses_without_a_pair_even_if_the_hand_wins() -> None:
    assert ended(one(box("AC KD JH", pair_plus=100)), Bet.PAIR_PLUS) == [("lost", 100, 0, "TCP 4.2")]


def test_tcp_3_14_pair_plus_alone_is_settled_on_the_hand() -> None:
    settled = one(box("4C 4D 9H", decision=None, ante=0, pair_plus=100))
    assert [(line.bet, line.returned_cents) for line in settled.lines] == [(Bet.PAIR_PLUS, 200)]


@pytest.mark.parametrize(("cards", "bonus"), [("JD 10D 9D", 5000), ("8C 8D 8H", 4000), ("9C 8D 7C", 1000)])
@pytest.mark.parametrize("dealer", [UNQUALIFIED, QUALIFIED, "AS KS QS"])
def test_tcp_4_3_the_ante_bonus_pays_irrespective_of_the_dealer(cards: str, bonus: int, dealer: str) -> None:
    assert ended(one(box(cards), dealer), Bet.ANTE_BONUS) == [("won", 0, bonus, "TCP 4.3")]


def test_tcp_1_21_a_stand_off_still_pays_ante_bonus_pair_plus_and_progressive() -> None:
    settled = one(box("9C 8D 7C", pair_plus=100, progressive=500), "9S 8S 7H")
    assert ended(settled, Bet.ANTE) == [("returned", 1000, 1000, "TCP 3.15.3")]
    assert ended(settled, Bet.ANTE_BONUS) == [("won", 0, 1000, "TCP 4.3")]
    assert ended(settled, Bet.PAIR_PLUS) == [("won", 100, 600, "TCP 4.2")]
    assert ended(settled, Bet.PROGRESSIVE) == [("won", 500, 1500, "TCP 4.4")]


def test_tcp_4_3_a_flush_has_no_ante_bonus() -> None:
    assert ended(one(box("AC 9C 4C")), Bet.ANTE_BONUS) == []


@pytest.mark.parametrize(
    ("cards", "name", "amount"),
    [
        ("AH KH QH", "akq_other_suit", 125000),
        ("AC KC QC", "akq_other_suit", 125000),
        ("3C 2C AC", "straight_flush", 17500),
        ("8C 8D 8H", "three_of_a_kind", 15000),
        ("AH KC QD", "straight", 1500),
    ],
)
def test_tcp_4_4_a_minor_pays_a_fixed_amount_and_keeps_the_wager(cards: str, name: str, amount: int) -> None:
    for dealer in (UNQUALIFIED, QUALIFIED):
        settled = one(box(cards, progressive=500), dealer)
        assert ended(settled, Bet.PROGRESSIVE) == [("won", 500, amount, "TCP 4.4")]
        assert [(c.hand, c.amount_cents, c.meter, c.rule) for c in settled.claims] == [
            (name, amount, None, "TCP 4.4")
        ]


def test_tcp_4_4_the_major_is_the_whole_jackpot() -> None:
    settled = one(box("AS KS QS", progressive=500), UNQUALIFIED)
    assert ended(settled, Bet.PROGRESSIVE) == [("won", 500, 0, "TCP 4.4")]
    claim = settled.claims[0]
    assert (claim.amount_cents, claim.share_ppm, claim.meter) == (None, 1_000_000, "tcp-major")


def test_tcp_4_4_a_flush_wins_no_progressive() -> None:
    assert ended(one(box("AC 9C 4C", progressive=500)), Bet.PROGRESSIVE) == [("lost", 500, 0, "TCP 4.4")]


def test_tcp_4_5_a_hand_that_is_not_shown_loses_everything() -> None:
    settled = one(box(None, pair_plus=300, progressive=500), UNQUALIFIED)
    assert {(line.bet, line.returned_cents, line.rule) for line in settled.lines} == {
        (bet, 0, "TCP 4.5") for bet in (Bet.ANTE, Bet.PLAY, Bet.PAIR_PLUS, Bet.PROGRESSIVE)
    }


# --- envy (4.7, 4.8) -------------------------------------------------------------------------------------

BAD, BAD_2, BAD_3 = "4C 9D 2H", "5C 9H 3H", "6C 8D 3D"


def seat(number: int, cards: str, player: str | None = None, **bets: int) -> PokerBox:
    folded = bool(bets.pop("folded", 0))
    return PokerBox(
        box=number,
        player=player,
        cards=hand(cards),
        ante_cents=bets.get("ante", 1000),
        progressive_cents=bets.get("progressive", 500),
        pair_plus_cents=bets.get("pair_plus", 0),
        decision=FOLD if folded else PLAY,
    )


def envy(*boxes: PokerBox) -> list[tuple[int, int, int]]:
    settled = play_round(Game.TCP, QUALIFIED, boxes)
    assert all(bonus.rule == "TCP 4.7" for bonus in settled.envy)
    return [(bonus.box, bonus.amount_cents, bonus.hand_box) for bonus in settled.envy]


@pytest.mark.parametrize(("cards", "amount"), [("AS KS QC", 0), ("AH KH QH", 5000), ("JD 10D 9D", 0)])
def test_tcp_4_7_only_the_top_two_hands_give_a_bonus(cards: str, amount: int) -> None:
    assert envy(seat(1, cards), seat(2, BAD)) == ([(2, amount, 1)] if amount else [])


def test_tcp_4_7_every_other_box_with_a_progressive_bet_receives() -> None:
    dealer = "QH 7H 2D"
    boxes = [seat(1, BAD), seat(2, "AS KS QS"), seat(3, BAD_2, progressive=0), seat(4, BAD_3)]
    found = play_round(Game.TCP, dealer, boxes).envy
    assert [(bonus.box, bonus.amount_cents) for bonus in found] == [(1, 25000), (4, 25000)]


def test_tcp_4_7_a_hand_without_a_progressive_bet_triggers() -> None:
    assert envy(seat(1, "AH KH QH", progressive=0), seat(2, BAD)) == [(2, 5000, 1)]


def test_tcp_4_7_a_player_receives_nothing_for_his_own_boxes() -> None:
    boxes = seat(1, "AH KH QH", "ann"), seat(2, BAD, "ann"), seat(3, BAD_2, "bob"), seat(4, BAD_3)
    assert envy(*boxes) == [(3, 5000, 1), (4, 5000, 1)]


def test_tcp_4_7_boxes_without_a_player_are_different_players() -> None:
    assert envy(seat(1, "AH KH QH"), seat(2, BAD)) == [(2, 5000, 1)]


def test_tcp_4_7_two_hands_give_two_bonuses() -> None:
    assert envy(seat(1, "AH KH QH"), seat(2, "AC KC QC"), seat(3, BAD)) == [
        (2, 5000, 1),
        (3, 5000, 1),
        (1, 5000, 2),
        (3, 5000, 2),
    ]


def test_tcp_3_12_1_a_folded_box_neither_receives_nor_triggers() -> None:
    assert envy(seat(1, "AH KH QH"), seat(2, BAD, folded=1), seat(3, BAD_2)) == [(3, 5000, 1)]
    assert envy(seat(1, "AH KH QH", folded=1), seat(2, BAD)) == []


def test_tcp_4_8_a_pair_plus_only_hand_triggers_nothing() -> None:
    assert envy(seat(1, "AH KH QH", ante=0, progressive=0, pair_plus=500), seat(2, BAD)) == []


def test_tcp_5_15_an_invalidated_box_neither_wins_triggers_nor_receives() -> None:
    out = PokerBox(
        box=1, ante_cents=1000, progressive_cents=500, cards=hand("AH KH QH"), invalidated_by="TCP 5.15"
    )
    settled = play_round(Game.TCP, QUALIFIED, [out, seat(2, "AC KC QC"), seat(3, BAD)])
    assert [(bonus.box, bonus.hand_box) for bonus in settled.envy] == [(3, 2)]
    assert [claim.box for claim in settled.claims] == [2]
    assert ended(settled, Bet.ANTE) == [("returned", 1000, 1000, "TCP 5.15")]
    assert ended(settled, Bet.PROGRESSIVE) == [("returned", 500, 500, "TCP 5.15")]


# --- limits and stakes (5.1-5.6) -------------------------------------------------------------------------


def test_tcp_5_1_1_above_the_maximum_the_maximum_plays() -> None:
    own = box("9C 8D 7C", ante=5000, pair_plus=900)
    settled = one(own, ante=Limits(max_cents=3000), pair_plus=Limits(max_cents=500))
    assert ended(settled, Bet.ANTE) == [
        ("returned", 2000, 2000, "TCP 5.1.1"),
        ("won", 3000, 6000, "TCP 3.15.1"),
    ]
    assert ended(settled, Bet.PLAY) == [
        ("returned", 2000, 2000, "TCP 5.3.1"),
        ("won", 3000, 6000, "TCP 3.15.1"),
    ]
    assert ended(settled, Bet.ANTE_BONUS) == [("won", 0, 3000, "TCP 4.3")]
    assert ended(settled, Bet.PAIR_PLUS) == [
        ("returned", 400, 400, "TCP 5.1.1"),
        ("won", 500, 3000, "TCP 4.2"),
    ]


def test_tcp_5_1_1_a_fold_loses_no_more_than_the_maximum() -> None:
    settled = one(box(BAD, decision=FOLD, ante=5000), ante=Limits(max_cents=3000))
    assert ended(settled, Bet.ANTE) == [
        ("returned", 2000, 2000, "TCP 5.1.1"),
        ("lost", 3000, 0, "TCP 3.12.1"),
    ]


def test_tcp_5_2_1_below_the_minimum_the_bet_plays() -> None:
    settled = one(box("KC 5D 3H", ante=400), ante=Limits(min_cents=500))
    assert ended(settled, Bet.ANTE) == [("won", 400, 800, "TCP 3.15.1")]
    assert [remark.rule for remark in settled.remarks] == ["TCP 5.2.1"]


def test_tcp_5_3_1_play_above_the_ante_is_returned() -> None:
    settled = one(box(BAD, play=1500))
    assert ended(settled, Bet.PLAY) == [("returned", 500, 500, "TCP 5.3.1"), ("lost", 1000, 0, "TCP 3.15.2")]


def test_tcp_5_3_2_play_below_the_ante_counts_as_placed() -> None:
    settled = one(box("KC 5D 3H", play=600))
    assert ended(settled, Bet.PLAY) == [("won", 600, 1200, "TCP 3.15.1")]
    assert ended(settled, Bet.ANTE) == [("won", 1000, 2000, "TCP 3.15.1")]
    assert [remark.rule for remark in settled.remarks] == ["TCP 5.3.2"]


def test_tcp_5_5_walking_away_undecided_is_a_fold() -> None:
    own = PokerBox(box=1, ante_cents=1000, progressive_cents=500, cards=hand("8C 8D 8H"), walked_away=True)
    settled = one(own, UNQUALIFIED)
    assert ended(settled, Bet.ANTE) == [("lost", 1000, 0, "TCP 3.12.1")]
    assert ended(settled, Bet.PROGRESSIVE) == [("lost", 500, 0, "TCP 3.12.1")]
    assert [remark.rule for remark in settled.remarks] == ["TCP 5.5"]


def test_tcp_5_6_walking_away_decided_is_settled_as_it_stands() -> None:
    own = PokerBox(box=1, ante_cents=1000, decision=PLAY, cards=hand("KC 5D 3H"), walked_away=True)
    settled = one(own)
    assert ended(settled, Bet.PLAY) == [("won", 1000, 2000, "TCP 3.15.1")]
    assert [remark.rule for remark in settled.remarks] == ["TCP 5.6"]


def test_a_presumed_ante_plays_and_triggers_but_is_not_settled() -> None:
    own = PokerBox(box=1, ante_cents=None, play_cents=700, decision=PLAY, cards=hand("AH KH QH"))
    settled = play_round(Game.TCP, QUALIFIED, [own, seat(2, BAD)])
    assert ended(settled, Bet.ANTE) == ended(settled, Bet.ANTE_BONUS) == []
    assert ended(settled, Bet.PLAY) == [("won", 700, 1400, "TCP 3.15.1")]
    assert [bonus.box for bonus in settled.envy] == [2]
