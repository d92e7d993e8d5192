"""One round of Non-Commission Three Pictures: several players may bet on one box (NTP 3.7-3.9)."""

import msgspec

from controller.games.cards import Hand
from controller.games.ranking import PicturesRank, rank_pictures
from controller.games.rule_sets import Limits, PicturesRules, RuleSet
from controller.games.settlement import NO_LIMITS, BoxLimits, Line, Remark, Seat, Settlement, all_returned
from controller.games.vocabulary import BET_TITLES, Bet, Point
from controller.money import decimal_text


class PlayerBet(msgspec.Struct, frozen=True, kw_only=True):
    """One player's chips on a box."""

    player: str
    seated: bool = False
    initial_cents: int = 0
    tie_cents: int = 0
    three_pictures_cents: int = 0

    @property
    def stakes(self) -> dict[Bet, int]:
        """Every chip of the player on the box."""
        return {
            Bet.INITIAL: self.initial_cents,
            Bet.TIE: self.tie_cents,
            Bet.THREE_PICTURES: self.three_pictures_cents,
        }


class PicturesBox(msgspec.Struct, frozen=True, kw_only=True):
    """One box at the end of a round."""

    box: int
    bets: list[PlayerBet]
    cards: Hand | None = None
    """None only where no Initial Bet was placed: such a box is not dealt (NTP 3.12)."""
    walked_away: bool = False
    invalidated_by: str | None = None

    @property
    def has_initial(self) -> bool:
        """Whether anyone's Initial Bet brings the box cards and side bets (NTP 3.9, 5.14)."""
        return any(bet.initial_cents for bet in self.bets)


def settle_pictures(
    rules: RuleSet, dealer: Hand, boxes: list[PicturesBox], limits: BoxLimits = NO_LIMITS
) -> Settlement:
    """End every bet of a round."""
    lines: list[Line] = []
    remarks: list[Remark] = []
    shown = rank_pictures(dealer)
    for box in boxes:
        if box.invalidated_by is not None:
            for bet in box.bets:
                lines += all_returned(
                    box.box, bet.player, bet.stakes, box.invalidated_by, "hand removed from play"
                )
            continue
        for seat in _settle_box(rules, box, shown, limits):
            lines += seat.lines
            remarks += seat.remarks
    return Settlement(lines=lines, claims=[], envy=[], remarks=remarks)


def _settle_box(rules: RuleSet, box: PicturesBox, dealer: PicturesRank, limits: BoxLimits) -> list[Seat]:
    seats = [Seat(rules, box.box, bet.player) for bet in box.bets]
    if not box.has_initial or box.cards is None:
        for seat, bet in zip(seats, box.bets, strict=True):
            for kind, stake in bet.stakes.items():
                if stake:
                    seat.returned(kind, stake, Point.NO_INITIAL, "no Initial Bet on this box")
        return seats
    own = rank_pictures(box.cards)
    if box.walked_away:
        seats[0].remark(Point.WALKED_AWAY_DECIDED, "a player walked away: settled as it stands")
    for kind in (Bet.INITIAL, Bet.TIE, Bet.THREE_PICTURES):
        placed = [bet.stakes[kind] for bet in box.bets]
        in_play = apportion(placed, limits.get(kind))
        for seat, stake, counted in zip(seats, placed, in_play, strict=True):
            if not stake:
                continue
            _limit_remarks(seat, kind, stake, counted, sum(placed), limits.get(kind))
            if counted:
                _settle_bet(seat, rules.pictures_rules, kind, counted, own, dealer)
    return seats


def apportion(placed: list[int], limit: Limits | None) -> list[int]:
    """What each player's bet on a box counts for when together they exceed the maximum (NTP 5.1).

    Pro rata, rounded down; nobody is brought below the minimum (5.1.1), and a bet that was placed
    below the minimum counts in full (5.1.2). Both come out of the maximum before the others share it.

    >>> apportion([600, 300, 300], Limits(min_cents=100, max_cents=1000))
    [500, 250, 250]
    >>> apportion([1000, 1000, 50], Limits(min_cents=100, max_cents=1000))
    [475, 475, 50]
    >>> apportion([1900, 100], Limits(min_cents=100, max_cents=1000))
    [900, 100]
    """
    if limit is None or limit.max_cents is None or sum(placed) <= limit.max_cents:
        return placed
    counted = {i: stake for i, stake in enumerate(placed) if stake < limit.min_cents}
    while True:
        room = max(limit.max_cents - sum(counted.values()), 0)
        sharing = {i: stake for i, stake in enumerate(placed) if i not in counted}
        total = sum(sharing.values())
        shares = {i: min(stake, stake * room // total) for i, stake in sharing.items()}
        low = {i: limit.min_cents for i, part in shares.items() if part < limit.min_cents}
        if not low:
            counted |= shares
            return [counted[i] for i in range(len(placed))]
        counted |= low


def _limit_remarks(seat: Seat, kind: Bet, stake: int, counted: int, total: int, limit: Limits | None) -> None:
    if limit is None:
        return
    exceeded = limit.max_cents is not None and total > limit.max_cents
    if stake < limit.min_cents:
        below = f"{BET_TITLES[kind]} {decimal_text(stake)} is below the minimum"
        if exceeded:
            seat.remark(Point.OVER_LIMIT_EXEMPT, f"{below}: not reduced pro rata, it plays")
        else:
            seat.remark(Point.UNDER_LIMIT, f"{below} and was not noticed in time: it plays")
    if counted < stake:
        seat.over(kind, stake - counted, limit.max_cents or 0)


def _settle_bet(
    seat: Seat, rules: PicturesRules, kind: Bet, stake: int, own: PicturesRank, dealer: PicturesRank
) -> None:
    names = f"{own.title} against the dealer's {dealer.title}"
    if kind is Bet.INITIAL:
        _settle_initial(seat, rules, stake, own, dealer, names)
    elif kind is Bet.TIE:
        if own.place == dealer.place:
            seat.won(kind, stake, rules.tie_odds, Point.SAME_RANK, names)
        elif own.points is not None and own.points == dealer.points:
            seat.won(kind, stake, rules.tie_odds, Point.SAME_POINTS, f"{names}, the same points")
        else:
            seat.lost(kind, stake, Point.NO_TIE, names)
    elif own.points is None:
        seat.won(kind, stake, rules.three_pictures_odds, Point.THREE_PICTURES, own.title)
    else:
        seat.lost(kind, stake, Point.THREE_PICTURES, own.title)


def _settle_initial(
    seat: Seat, rules: PicturesRules, stake: int, own: PicturesRank, dealer: PicturesRank, names: str
) -> None:
    if own.place > dealer.place:
        special = rules.initial_odds[own.points] != rules.initial_odds[None]
        point = Point.WIN_ON_POINTS if special else Point.HIGHER_RANK
        seat.won(Bet.INITIAL, stake, rules.initial_odds[own.points], point, names)
    elif own.place < dealer.place:
        seat.lost(Bet.INITIAL, stake, Point.LOWER_RANK, names)
    else:
        seat.returned(Bet.INITIAL, stake, Point.SAME_RANK, f"{names}, a tie")
