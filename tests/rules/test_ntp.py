"""Non-Commission Three Pictures (NTP), paragraph by paragraph."""

import pytest

from controller.games.pictures import PicturesBox, PlayerBet, settle_pictures
from controller.games.rule_sets import Limits
from controller.games.settlement import Settlement
from controller.games.vocabulary import Bet, Game
from tests.rules.deals import hand, rules_of

Ending = tuple[str, int, int, str]


def settle(own: PicturesBox, dealer: str, **limits: Limits) -> Settlement:
    return settle_pictures(
        rules_of(Game.NTP), hand(dealer), [own], {Bet(kind): limit for kind, limit in limits.items()}
    )


def box(cards: str | None, *bets: PlayerBet, walked_away: bool = False) -> PicturesBox:
    return PicturesBox(
        box=1, bets=list(bets), cards=None if cards is None else hand(cards), walked_away=walked_away
    )


def bet(player: str, initial: int = 0, tie: int = 0, three: int = 0) -> PlayerBet:
    return PlayerBet(player=player, initial_cents=initial, tie_cents=tie, three_pictures_cents=three)


def ends(settled: Settlement, kind: Bet, player: str = "ann") -> list[Ending]:
    return [
        (line.outcome.value, line.stake_cents, line.returned_cents, line.rule)
        for line in settled.lines
        if line.bet is kind and line.player == player
    ]


HIGHER = ("won", 1000, 2000, "NTP 3.13.1")
SIX = ("won", 1000, 1500, "NTP 4.1")
LOWER = ("lost", 1000, 0, "NTP 3.13.2")
PUSH = ("returned", 1000, 1000, "NTP 3.13.3")
TIE = ("won", 100, 900, "NTP 3.13.3")
POINTS = ("won", 100, 900, "NTP 3.13.4")
NO_TIE = ("lost", 100, 0, "NTP 3.13")


@pytest.mark.parametrize(
    ("cards", "dealer", "initial", "tie"),
    [
        ("5S 2H AD", "4S 2D AC", HIGHER, NO_TIE),  # eight beats seven
        ("9S 10H AD", "9D 10C 2D", LOWER, NO_TIE),  # zero of ten (9+1) against one of eleven
        ("KS QH 9D", "KD 7S 2S", HIGHER, POINTS),  # double picture nine beats single picture nine
        ("KS 7H 2D", "KD QD 9S", LOWER, POINTS),  # and the other way round
        ("4S 3H 2D", "KD 5D 4H", LOWER, POINTS),  # plain nine below single picture nine
        ("KS 7H 2D", "JD 5D 4H", PUSH, TIE),  # the same rank with other cards
        ("10S 10H 10D", "9D AD 10C", PUSH, TIE),  # plain zero
        ("KS QH JD", "KD QD 9S", HIGHER, NO_TIE),  # three pictures beat everything
        ("KS QH JD", "10S 10H 10D", HIGHER, NO_TIE),  # and do not tie with a zero
        ("KS QH 10D", "KD QD JD", LOWER, NO_TIE),  # from neither side
        ("KS QH JD", "KD QD JS", PUSH, TIE),  # only with three pictures
        ("3S 2H AD", "2S 2D AC", SIX, NO_TIE),  # six pays half
        ("KS QH 6D", "KD 5D AS", SIX, POINTS),  # also on rank, within six points
        ("KS 5H AD", "KD QD 6S", LOWER, POINTS),  # a losing six loses all
        ("KS QH 6D", "KD QD 6S", PUSH, TIE),  # a tied six goes back whole
        ("KS QH 7D", "KD QD 6S", HIGHER, NO_TIE),  # beating a six is not winning on six
    ],
)
def test_ntp_3_13_the_hand_against_the_dealer(cards: str, dealer: str, initial: Ending, tie: Ending) -> None:
    settled = settle(box(cards, bet("ann", 1000, 100)), dealer)
    assert ends(settled, Bet.INITIAL) == [initial]
    assert ends(settled, Bet.TIE) == [tie]


def test_ntp_3_2_the_points_are_the_last_digit_of_the_sum() -> None:
    settled = settle(box("9S 9H 8D", bet("ann", 1000)), "KS QH 5D")  # 26 is six
    assert ends(settled, Bet.INITIAL) == [SIX]


def test_ntp_4_1_half_of_an_odd_cent_is_rounded_down() -> None:
    settled = settle(box("9S 9H 8D", bet("ann", 501)), "KS QH 5D")
    assert ends(settled, Bet.INITIAL) == [("won", 501, 751, "NTP 4.1")]


def test_ntp_4_1_the_three_pictures_bet_pays_sixteen_whatever_the_dealer_has() -> None:
    for dealer in ("KD QD JS", "10S 10H 2D"):
        settled = settle(box("KS QH JD", bet("ann", 1000, three=100)), dealer)
        assert ends(settled, Bet.THREE_PICTURES) == [("won", 100, 1700, "NTP 4.1")]
    settled = settle(box("KS QH 9D", bet("ann", 1000, three=100)), "10S 10H 2D")
    assert ends(settled, Bet.THREE_PICTURES) == [("lost", 100, 0, "NTP 4.1")]


def test_ntp_3_9_any_player_may_bet_on_tie_and_three_pictures_of_a_box_with_an_initial_bet() -> None:
    settled = settle(box("KS QH JD", bet("ann", 1000), bet("bob", tie=100, three=100)), "KD QD JS")
    assert ends(settled, Bet.INITIAL, "ann") == [PUSH]
    assert ends(settled, Bet.TIE, "bob") == [TIE]
    assert ends(settled, Bet.THREE_PICTURES, "bob") == [("won", 100, 1700, "NTP 4.1")]


def test_ntp_3_12_and_5_14_side_bets_without_an_initial_bet_are_returned() -> None:
    settled = settle(box(None, bet("ann", tie=100, three=200), bet("bob", tie=50)), "KD QD JS")
    assert ends(settled, Bet.TIE) == [("returned", 100, 100, "NTP 5.14")]
    assert ends(settled, Bet.THREE_PICTURES) == [("returned", 200, 200, "NTP 5.14")]
    assert ends(settled, Bet.TIE, "bob") == [("returned", 50, 50, "NTP 5.14")]


@pytest.mark.parametrize(
    ("placed", "low", "high", "plays"),
    [
        ([600, 300, 300], 100, 1000, [500, 250, 250]),
        ([500, 500], 100, 1000, [500, 500]),  # exactly the maximum
        ([3000], 100, 1000, [1000]),  # one player alone
        ([700, 700, 700], 100, 1000, [333, 333, 333]),  # rounded down, the cent goes back
        ([1900, 100], 100, 1000, [900, 100]),  # 5.1.1: nobody below the minimum
        ([4000, 200, 100], 100, 1000, [800, 100, 100]),
        ([900, 900, 120], 100, 1000, [450, 450, 100]),
        ([1000, 1000, 50], 100, 1000, [475, 475, 50]),  # 5.1.2: below the minimum counts in full
        ([150, 150, 150], 100, 200, [100, 100, 100]),  # nothing left to share: the minimum stands
    ],
)
def test_ntp_5_1_1_and_5_1_2_above_the_maximum_pro_rata(
    placed: list[int], low: int, high: int, plays: list[int]
) -> None:
    bets = [bet(f"p{i}", stake) for i, stake in enumerate(placed)]
    settled = settle(box("KS QH 9D", *bets), "10S 10H 2D", initial=Limits(min_cents=low, max_cents=high))
    for i, (stake, counts) in enumerate(zip(placed, plays, strict=True)):
        back = stake - counts
        returned = [("returned", back, back, "NTP 5.1.1")] if back else []
        assert ends(settled, Bet.INITIAL, f"p{i}") == [*returned, ("won", counts, 2 * counts, "NTP 3.13.1")]


def test_ntp_5_1_2_a_bet_below_the_minimum_is_noted_and_plays() -> None:
    limit = Limits(min_cents=100, max_cents=1000)
    settled = settle(box("KS QH 9D", bet("ann", 50), bet("bob", 2000)), "10S 10H 2D", initial=limit)
    assert ends(settled, Bet.INITIAL) == [("won", 50, 100, "NTP 3.13.1")]
    assert [remark.rule for remark in settled.remarks] == ["NTP 5.1.2"]


def test_ntp_5_1_each_kind_of_bet_has_its_own_maximum() -> None:
    own = box("KS 7H 2D", bet("ann", 1000, tie=300), bet("bob", 1000, tie=100))
    settled = settle(own, "JD 5D 4H", tie=Limits(max_cents=200))
    assert ends(settled, Bet.INITIAL) == [PUSH]
    assert ends(settled, Bet.TIE) == [("returned", 150, 150, "NTP 5.1.1"), ("won", 150, 1350, "NTP 3.13.3")]
    assert ends(settled, Bet.TIE, "bob") == [
        ("returned", 50, 50, "NTP 5.1.1"),
        ("won", 50, 450, "NTP 3.13.3"),
    ]


def test_ntp_5_2_1_below_the_minimum_the_bet_plays() -> None:
    settled = settle(box("KS QH 9D", bet("ann", 50)), "10S 10H 2D", initial=Limits(min_cents=100))
    assert ends(settled, Bet.INITIAL) == [("won", 50, 100, "NTP 3.13.1")]
    assert [remark.rule for remark in settled.remarks] == ["NTP 5.2.1"]


def test_ntp_5_3_walking_away_changes_nothing() -> None:
    settled = settle(box("KS QH 9D", bet("ann", 1000), walked_away=True), "10S 10H 2D")
    assert ends(settled, Bet.INITIAL) == [HIGHER]
    assert [remark.rule for remark in settled.remarks] == ["NTP 5.3"]


def test_ntp_5_9_a_hand_removed_from_play_gives_every_bet_back() -> None:
    own = PicturesBox(
        box=1, bets=[bet("ann", 1000, 100, 50)], cards=hand("KS QH JD"), invalidated_by="NTP 5.9"
    )
    settled = settle(own, "10S 10H 2D", initial=Limits(max_cents=500))
    assert ends(settled, Bet.INITIAL) == [("returned", 1000, 1000, "NTP 5.9")]
    assert ends(settled, Bet.TIE) == [("returned", 100, 100, "NTP 5.9")]
    assert ends(settled, Bet.THREE_PICTURES) == [("returned", 50, 50, "NTP 5.9")]


def test_ntp_has_no_progressive_and_no_envy() -> None:
    settled = settle(box("KS QH JD", bet("ann", 1000)), "10S 10H 2D")
    assert settled.claims == []
    assert settled.envy == []
