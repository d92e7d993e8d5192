"""Rankings of hands. Every rank is a tuple that compares as the documents order hands."""

from enum import IntEnum
from typing import NamedTuple

from controller.games.cards import ACE, Card, Hand, Suit


class ThreeCardHand(IntEnum):
    """TCP, MLP 3.1.2 and GTP's ranking: a straight beats a flush."""

    HIGH_CARD = 0
    PAIR = 1
    FLUSH = 2
    STRAIGHT = 3
    THREE_OF_A_KIND = 4
    STRAIGHT_FLUSH = 5


class ThreeCardRank(NamedTuple):
    """A three-card hand's place: its kind, then its cards in the order in which they decide (3.1.3)."""

    hand: ThreeCardHand
    cards: tuple[int, int, int]


def rank_three(hand: Hand) -> ThreeCardRank:
    """The rank of three cards; 3-2-A is the lowest straight (TCP, MLP 3.1.1).

    >>> from controller.games.cards import parse_cards
    >>> rank_three(parse_cards(["AD", "3S", "2H"]))
    ThreeCardRank(hand=<ThreeCardHand.STRAIGHT: 3>, cards=(3, 2, 1))
    """
    first, second, third = hand
    low, mid, high = sorted((first.rank, second.rank, third.rank))
    if low == high:
        return ThreeCardRank(ThreeCardHand.THREE_OF_A_KIND, (high, high, high))
    if low == mid:
        return ThreeCardRank(ThreeCardHand.PAIR, (low, low, high))
    if mid == high:
        return ThreeCardRank(ThreeCardHand.PAIR, (high, high, low))
    suited = first.suit is second.suit is third.suit
    if high == ACE and mid == 3:  # 3-2-A: the ace counts as one
        return ThreeCardRank(ThreeCardHand.STRAIGHT_FLUSH if suited else ThreeCardHand.STRAIGHT, (3, 2, 1))
    cards = (high, mid, low)
    if high - low == 2:
        return ThreeCardRank(ThreeCardHand.STRAIGHT_FLUSH if suited else ThreeCardHand.STRAIGHT, cards)
    return ThreeCardRank(ThreeCardHand.FLUSH if suited else ThreeCardHand.HIGH_CARD, cards)


def qualifies(rank: ThreeCardRank, high_card: int) -> bool:
    """Whether a dealer's hand plays: this high card or anything better (TCP 1.16, MLP 1.18)."""
    return rank.hand > ThreeCardHand.HIGH_CARD or rank.cards[0] >= high_card


class FiveCardHand(IntEnum):
    """Poker hands of five cards; a progressive pays from the flush upwards (MLP 3.17)."""

    HIGH_CARD = 0
    PAIR = 1
    TWO_PAIRS = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8
    ROYAL_FLUSH = 9


_ROYAL = sum(1 << rank for rank in range(10, 15))
_WHEEL = 1 << ACE | sum(1 << rank for rank in range(2, 6))
_STRAIGHTS = {_WHEEL} | {sum(1 << rank for rank in range(low, low + 5)) for low in range(2, 11)}


def rank_five(cards: tuple[Card, Card, Card, Card, Card]) -> FiveCardHand:
    """What five cards are. A-2-3-4-5 is a straight (a choice: docs/games.md).

    >>> from controller.games.cards import parse_cards
    >>> rank_five(parse_cards(["QC", "JC", "TC", "9C", "8C"])).name
    'STRAIGHT_FLUSH'
    """
    a, b, c, d, e = cards
    ranks = 1 << a.rank | 1 << b.rank | 1 << c.rank | 1 << d.rank | 1 << e.rank
    different = ranks.bit_count()
    if different == 5:
        return _all_different(ranks, suited=a.suit is b.suit is c.suit is d.suit is e.suit)
    if different == 4:
        return FiveCardHand.PAIR
    counts = [card.rank for card in cards]
    most = max(counts.count(a.rank), counts.count(b.rank), counts.count(c.rank))
    if different == 2:
        return FiveCardHand.FOUR_OF_A_KIND if most == 4 else FiveCardHand.FULL_HOUSE
    return FiveCardHand.THREE_OF_A_KIND if most == 3 else FiveCardHand.TWO_PAIRS


def _all_different(ranks: int, *, suited: bool) -> FiveCardHand:
    if ranks not in _STRAIGHTS:
        return FiveCardHand.FLUSH if suited else FiveCardHand.HIGH_CARD
    if not suited:
        return FiveCardHand.STRAIGHT
    return FiveCardHand.ROYAL_FLUSH if ranks == _ROYAL else FiveCardHand.STRAIGHT_FLUSH


def progressive_three(hand: Hand, rank: ThreeCardRank) -> str | None:
    """The progressive hand of three cards (TCP 3.17, GTP pay table), if it is one."""
    if rank.hand is ThreeCardHand.STRAIGHT_FLUSH:
        if rank.cards[0] != ACE:
            return "straight_flush"
        return "akq_spades" if hand[0].suit is Suit.SPADES else "akq_other_suit"
    if rank.hand >= ThreeCardHand.STRAIGHT:
        return rank.hand.name.lower()
    return None


def progressive_five(cards: tuple[Card, Card, Card, Card, Card]) -> str | None:
    """The progressive hand of three cards and the community cards (MLP 1.17, 3.17), if it is one."""
    hand = rank_five(cards)
    return hand.name.lower() if hand >= FiveCardHand.FLUSH else None


THREE_PICTURES_RANK = 30
_PICTURE_WORDS = ("Plain", "Single Picture", "Double Pictures")
_POINT_WORDS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


class PicturesRank(NamedTuple):
    """A hand's place in Appendix C of NTP: 30 is Three Pictures, then points and picture cards."""

    place: int
    points: int | None
    """The point total; None for Three Pictures, which stands outside the count (NTP 3.2)."""

    @property
    def title(self) -> str:
        """The name that Appendix C gives.

        >>> PicturesRank(29, 9).title, PicturesRank(30, None).title
        ('Double Pictures Nine', 'Three Pictures')
        """
        if self.points is None:
            return "Three Pictures"
        return f"{_PICTURE_WORDS[self.place - 3 * self.points]} {_POINT_WORDS[self.points]}"


def rank_pictures(hand: Hand) -> PicturesRank:
    """The rank of three cards in NTP: 31 ranks (NTP 3.2, 3.3, Appendix C).

    >>> from controller.games.cards import parse_cards
    >>> rank_pictures(parse_cards(["KD", "JS", "9H"])).title
    'Double Pictures Nine'
    """
    pictures = points = 0
    for card in hand:
        if card.rank < 10:
            points += card.rank
        elif card.rank == ACE:
            points += 1
        elif card.rank > 10:
            pictures += 1
    if pictures == 3:
        return PicturesRank(THREE_PICTURES_RANK, None)
    points %= 10
    return PicturesRank(3 * points + pictures, points)
