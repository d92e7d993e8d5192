"""Cards: small, immutable, made once. One parser for card text.

>>> parse_card("10D") is parse_card("td")
True
>>> [str(card) for card in parse_cards(["AS", "TD", "3c"])]
['AS', 'TD', '3C']
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from controller.errors import JackpotError

RANKS = "23456789TJQKA"
ACE, KING, QUEEN, JACK = 14, 13, 12, 11


class Suit(Enum):
    """All suits have the same rank (TCP, MLP 3.1.1)."""

    SPADES = "S"
    HEARTS = "H"
    DIAMONDS = "D"
    CLUBS = "C"


class CardError(JackpotError):
    """Text that is no card, or a deal that one deck cannot give."""


@dataclass(frozen=True, slots=True)
class Card:
    """One of the 52. `rank` is 2 to 14, the ace high."""

    rank: int
    suit: Suit

    def __str__(self) -> str:
        return RANKS[self.rank - 2] + self.suit.value


Hand = tuple[Card, Card, Card]

DECK: tuple[Card, ...] = tuple(Card(rank, suit) for suit in Suit for rank in range(2, 15))
_BY_TEXT = {str(card): card for card in DECK} | {
    f"10{card.suit.value}": card for card in DECK if card.rank == 10
}


def parse_card(text: str) -> Card:
    """A card from rank and suit; `T` and `10` are the same, case does not matter.

    >>> parse_card("1S")
    Traceback (most recent call last):
    controller.games.cards.CardError: expected a card such as AS, 10D or 3C, got '1S'
    """
    # ASCII only: other letters turn into a suit's in upper case.
    card = _BY_TEXT.get(text.upper()) if text.isascii() else None
    if card is None:
        raise CardError(f"expected a card such as AS, 10D or 3C, got {text[:10]!r}")
    return card


def parse_cards(texts: Iterable[str]) -> tuple[Card, ...]:
    """Cards in the order of their texts."""
    return tuple(parse_card(text) for text in texts)


def repeated_card(cards: Iterable[Card]) -> Card | None:
    """The first card that one deck cannot give a second time.

    >>> print(repeated_card(parse_cards(["AS", "KD", "AS"])))
    AS
    """
    seen: set[Card] = set()
    for card in cards:
        if card in seen:
            return card
        seen.add(card)
    return None
