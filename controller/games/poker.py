"""One round of three-card poker: TCP, MLP and GTP. What differs between them is in their rule sets."""

from typing import NamedTuple

import msgspec

from controller.games.cards import Card, Hand
from controller.games.pay_tables import PayTable
from controller.games.progressive import ProgressiveHand, envy_bonuses, settle_progressive
from controller.games.ranking import (
    ThreeCardHand,
    ThreeCardRank,
    progressive_five,
    progressive_three,
    qualifies,
    rank_three,
)
from controller.games.rule_sets import PokerRules, RuleSet
from controller.games.settlement import NO_LIMITS, BoxLimits, Line, Remark, Seat, Settlement, all_returned
from controller.games.vocabulary import Bet, Decision, Point
from controller.money import decimal_text

_RANK_WORDS = dict(zip(range(2, 11), map(str, range(2, 11)), strict=True)) | {
    11: "jack",
    12: "queen",
    13: "king",
    14: "ace",
}


class PokerBox(msgspec.Struct, frozen=True, kw_only=True):
    """One box at the end of a round."""

    box: int
    player: str | None = None
    ante_cents: int | None = 0
    """None: the table does not report Antes; one is presumed placed and is not settled here."""
    pair_plus_cents: int = 0
    progressive_cents: int = 0
    """A counted progressive bet; one without an Ante was returned when the bets were locked (5.4)."""
    play_cents: int | None = None
    """None with a decision to play: equal to the Ante, as it must be (3.12.2)."""
    decision: Decision | None = None
    cards: Hand | None = None
    """None: the hand was not shown."""
    walked_away: bool = False
    invalidated_by: str | None = None
    """The paragraph that takes the hand out of the round and gives its bets back."""

    @property
    def has_ante(self) -> bool:
        """Whether the hand plays against the dealer."""
        return self.ante_cents is None or self.ante_cents > 0

    @property
    def stakes(self) -> dict[Bet, int]:
        """Every chip on the box."""
        ante = self.ante_cents or 0
        play = self.play_cents
        if play is None:
            play = ante if self.decision is Decision.PLAY else 0
        return {
            Bet.ANTE: ante,
            Bet.PLAY: play,
            Bet.PAIR_PLUS: self.pair_plus_cents,
            Bet.PROGRESSIVE: self.progressive_cents,
        }


class _Dealer(NamedTuple):
    rank: ThreeCardRank
    qualified: bool


def settle_poker(
    rules: RuleSet,
    pay_table: PayTable | None,
    dealer: Hand,
    community: tuple[Card, ...],
    boxes: list[PokerBox],
    limits: BoxLimits = NO_LIMITS,
) -> Settlement:
    """End every bet of a round."""
    rank = rank_three(dealer)
    shown = _Dealer(rank, qualifies(rank, rules.poker_rules.qualifies_from))
    lines: list[Line] = []
    remarks: list[Remark] = []
    claims = []
    hands: list[ProgressiveHand] = []
    for box in boxes:
        if box.invalidated_by is not None:
            lines += all_returned(box.box, box.player, box.stakes, box.invalidated_by, "hand invalidated")
            continue
        seat = Seat(rules, box.box, box.player)
        own = rank_three(box.cards) if box.cards is not None else None
        folded = _folded(seat, box)
        _settle_ante(seat, rules.poker_rules, box, own, shown, limits, folded=folded)
        _settle_pair_plus(seat, rules.poker_rules, box, own, limits, folded=folded)
        if pay_table is not None:
            hand = _progressive_hand(rules.poker_rules, box, own, community, folded=folded)
            hands.append(hand)
            if hand.stake_cents:
                forfeited = _forfeited(
                    rules.poker_rules.fold.progressive, Point.FOLD_PROGRESSIVE, box, folded
                )
                claim = settle_progressive(seat, hand, pay_table, forfeited=forfeited)
                claims += [claim] if claim else []
        lines += seat.lines
        remarks += seat.remarks
    envy = list(envy_bonuses(rules, pay_table, hands)) if pay_table and rules.knows(Point.ENVY) else []
    return Settlement(lines=lines, claims=claims, envy=envy, remarks=remarks)


def _folded(seat: Seat, box: PokerBox) -> bool:
    """A fold, or what the documents count as one: walking away undecided (5.5)."""
    if not box.has_ante:
        return False
    if box.walked_away and box.decision is None:
        seat.remark(Point.WALKED_AWAY_UNDECIDED, "the player walked away with a decision to make: folded")
        return True
    if box.walked_away:
        seat.remark(
            Point.WALKED_AWAY_DECIDED, "the player walked away after the decision: settled as it stands"
        )
    return box.decision is Decision.FOLD


def _settle_ante(
    seat: Seat,
    rules: PokerRules,
    box: PokerBox,
    own: ThreeCardRank | None,
    dealer: _Dealer,
    limits: BoxLimits,
    *,
    folded: bool,
) -> None:
    stakes = box.stakes
    ante = seat.within(Bet.ANTE, stakes[Bet.ANTE], limits)
    play = stakes[Bet.PLAY] if folded else _play_in_play(seat, box, ante, stakes[Bet.PLAY])
    if folded or own is None:
        for bet, stake in ((Bet.ANTE, ante), (Bet.PLAY, play)):
            if stake:
                seat.forfeited(bet, stake, Point.FOLD if folded else Point.NOT_REVEALED)
        return
    if not dealer.qualified:
        why = f"the dealer's {describe(dealer.rank)} does not qualify"
        _pay(seat, Bet.ANTE, ante, rules, Point.NOT_QUALIFIED, why)
        if play:
            seat.returned(Bet.PLAY, play, Point.NOT_QUALIFIED, why)
    else:
        _compare(seat, rules, ante, play, own, dealer.rank)
    bonus = rules.ante_bonus_odds.get(own.hand)
    if ante and bonus is not None:
        seat.bonus(ante, bonus, f"a {describe(own)}")


def _play_in_play(seat: Seat, box: PokerBox, ante: int, play: int) -> int:
    """The Play Bet as it counts: never more than the Ante (5.3.1), less if less was placed (5.3.2)."""
    if box.ante_cents is None:
        return play
    if play > ante:
        seat.returned(Bet.PLAY, play - ante, Point.PLAY_OVER_ANTE, f"above the Ante of {decimal_text(ante)}")
        return ante
    if play < ante:
        seat.remark(
            Point.PLAY_UNDER_ANTE, f"Play {decimal_text(play)} is less than the Ante: it counts as placed"
        )
    return play


def _compare(
    seat: Seat, rules: PokerRules, ante: int, play: int, own: ThreeCardRank, dealer: ThreeCardRank
) -> None:
    names = f"{describe(own)} against the dealer's {describe(dealer)}"
    for bet, stake in ((Bet.ANTE, ante), (Bet.PLAY, play)):
        if not stake:
            continue
        if own > dealer:
            _pay(seat, bet, stake, rules, Point.BEATS_DEALER, names)
        elif own < dealer:
            seat.lost(bet, stake, Point.LOSES_TO_DEALER, names)
        else:
            seat.returned(bet, stake, Point.STAND_OFF, f"{names}, a stand-off")


def _pay(seat: Seat, bet: Bet, stake: int, rules: PokerRules, point: Point, why: str) -> None:
    if stake:
        seat.won(bet, stake, rules.ante_odds if bet is Bet.ANTE else rules.play_odds, point, why)


def _settle_pair_plus(
    seat: Seat,
    rules: PokerRules,
    box: PokerBox,
    own: ThreeCardRank | None,
    limits: BoxLimits,
    *,
    folded: bool,
) -> None:
    if not box.pair_plus_cents:
        return
    stake = seat.within(Bet.PAIR_PLUS, box.pair_plus_cents, limits)
    forfeited = _forfeited(rules.fold.pair_plus, Point.FOLD_PAIR_PLUS, box, folded)
    if forfeited is not None or own is None:
        seat.forfeited(Bet.PAIR_PLUS, stake, forfeited or Point.NOT_REVEALED)
        return
    odds = rules.pair_plus_odds.get(own.hand)
    if odds is None:
        seat.lost(Bet.PAIR_PLUS, stake, Point.PAIR_PLUS, describe(own))
    else:
        seat.won(Bet.PAIR_PLUS, stake, odds, Point.PAIR_PLUS, f"a {describe(own)}")


def _forfeited(on_fold: str, point: Point, box: PokerBox, folded: bool) -> Point | None:  # noqa: FBT001
    """The point by which a side bet is lost whatever the hand is."""
    if folded and on_fold == "lost":
        return point
    return Point.NOT_REVEALED if box.cards is None else None


def _progressive_hand(
    rules: PokerRules,
    box: PokerBox,
    own: ThreeCardRank | None,
    community: tuple[Card, ...],
    *,
    folded: bool,
) -> ProgressiveHand:
    hand = None
    if box.cards is not None and own is not None:
        if community:
            hand = progressive_five((*box.cards, community[0], community[1]))
        elif not rules.community_cards:
            hand = progressive_three(box.cards, own)
    return ProgressiveHand(
        box=box.box,
        player=box.player,
        stake_cents=box.progressive_cents,
        hand=hand,
        has_ante=box.has_ante,
        folded=folded,
    )


def describe(rank: ThreeCardRank) -> str:
    """A three-card hand in words.

    >>> describe(ThreeCardRank(ThreeCardHand.PAIR, (10, 10, 13)))
    'pair of 10s'
    >>> describe(ThreeCardRank(ThreeCardHand.HIGH_CARD, (12, 7, 2)))
    'queen high'
    """
    high = _RANK_WORDS[14 if rank.cards[0] == 1 else rank.cards[0]]
    if rank.hand is ThreeCardHand.HIGH_CARD:
        return f"{high} high"
    if rank.hand is ThreeCardHand.PAIR:
        return f"pair of {high}s".replace("xs", "xes")
    if rank.hand is ThreeCardHand.THREE_OF_A_KIND:
        return f"three {high}s"
    return f"{rank.hand.name.lower().replace('_', ' ')}, {high} high"
