"""The four documents a second time: slow, literal, sharing only input types with `controller.games`.

Only amounts are modelled, not the cited paragraphs. Where a document is silent: docs/choices.md.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import permutations
from typing import NamedTuple

from controller.games.cards import Card
from controller.games.pictures import PicturesBox
from controller.games.poker import PokerBox
from controller.games.rule_sets import Limits
from controller.games.vocabulary import Bet, Decision

Part = tuple[str, int, int]
"""Outcome, stake, everything that goes back to the player."""

Place = tuple[int, str | None, str]
"""Box, player, bet."""

CATEGORIES = ("high_card", "pair", "flush", "straight", "three_of_a_kind", "straight_flush")

PAIR_PLUS = {
    "TCP": {"straight_flush": 40, "three_of_a_kind": 30, "straight": 5, "flush": 4, "pair": 1},
    "MLP": {"straight_flush": 40, "three_of_a_kind": 30, "straight": 5, "flush": 4, "pair": 1},
    "GTP": {"straight_flush": 40, "three_of_a_kind": 30, "straight": 6, "flush": 4, "pair": 1},
}
ANTE_BONUS = {"straight_flush": 5, "three_of_a_kind": 4, "straight": 1}
FOLD_KILLS = {"TCP": {"pair_plus", "progressive"}, "MLP": set[str](), "GTP": {"pair_plus"}}

MAJORS = {
    "TCP": {"akq_spades": 100},
    "MLP": {"royal_flush": 100, "straight_flush": 10},
    "GTP": {"akq_spades": 100},
}
"""Percent of the jackpot."""

FIXED = {
    "TCP": {
        "akq_other_suit": 1250_00,
        "straight_flush": 175_00,
        "three_of_a_kind": 150_00,
        "straight": 15_00,
    },
    "MLP": {"four_of_a_kind": 2000_00, "full_house": 200_00, "flush": 100_00},
    "GTP": {},
}
ODDS: dict[str, dict[str, int]] = {
    "TCP": {},
    "MLP": {},
    "GTP": {"akq_other_suit": 499, "straight_flush": 69, "three_of_a_kind": 59, "straight": 5},
}
ENVY = {"akq_spades": 250_00, "akq_other_suit": 50_00}


class Claim(NamedTuple):
    """A progressive hand that is paid: an amount, or a percentage of the jackpot."""

    box: int
    player: str | None
    hand: str
    amount: int | None
    percent: int | None


class Envy(NamedTuple):
    """What one box receives for another one's hand."""

    box: int
    player: str | None
    amount: int
    hand_box: int
    hand: str


class Settled(NamedTuple):
    """A round's end, in no particular order."""

    parts: dict[Place, list[Part]]
    claims: list[Claim]
    envy: list[Envy]


class Ledger:
    """Collects how bets end."""

    def __init__(self) -> None:
        self.parts: dict[Place, list[Part]] = defaultdict(list)
        self.claims: list[Claim] = []
        self.envy: list[Envy] = []

    def put(self, box: int, player: str | None, bet: str, part: Part) -> None:
        """Note a part of a bet; a part of nothing is not noted."""
        if part[1] or bet == "ante_bonus":
            self.parts[box, player, bet].append(part)

    def settled(self) -> Settled:
        """The result."""
        parts = {place: sorted(parts) for place, parts in self.parts.items()}
        return Settled(parts, sorted(self.claims, key=str), sorted(self.envy, key=str))


# --- hands -----------------------------------------------------------------------------------------------


@cache
def three_cards(hand: tuple[Card, ...]) -> tuple[int, list[int]]:
    """A hand's value by 3.1.1-3.1.3: its category, then the ranks in the order in which they are compared."""
    ranks = [card.rank for card in hand]
    same_suit = len({card.suit for card in hand}) == 1
    in_sequence = None
    for a, b, c in permutations(ranks):
        if a == b + 1 and b == c + 1:
            in_sequence = [a, b, c]
        if (a, b, c) == (3, 2, 14):
            in_sequence = [3, 2, 1]
    if in_sequence:
        return CATEGORIES.index("straight_flush" if same_suit else "straight"), in_sequence
    kinds = sorted(set(ranks), key=lambda rank: (ranks.count(rank), rank), reverse=True)
    if len(kinds) == 1:
        return CATEGORIES.index("three_of_a_kind"), kinds
    if len(kinds) == 2:
        return CATEGORIES.index("pair"), kinds
    return CATEGORIES.index("flush" if same_suit else "high_card"), kinds


def category(hand: tuple[Card, ...]) -> str:
    """The name of a three-card hand."""
    return CATEGORIES[three_cards(hand)[0]]


def dealer_qualifies(hand: tuple[Card, ...]) -> bool:
    """A queen, a king or an ace, or a ranked hand."""
    return category(hand) != "high_card" or any(card.rank in (12, 13, 14) for card in hand)


def three_card_jackpot(hand: tuple[Card, ...]) -> str | None:
    """The list of TCP 3.17 and of GTP's pay table, from its top."""
    ranks, suits = {card.rank for card in hand}, {card.suit.value for card in hand}
    if ranks == {14, 13, 12} and suits == {"S"}:
        return "akq_spades"
    if ranks == {14, 13, 12} and suits in ({"H"}, {"D"}, {"C"}):
        return "akq_other_suit"
    for name in ("straight_flush", "three_of_a_kind", "straight"):
        if category(hand) == name:
            return name
    return None


def five_card_jackpot(cards: Sequence[Card]) -> str | None:
    """The list of MLP 3.17, from its top; the ace may also be low in a sequence (a choice)."""
    ranks = sorted(card.rank for card in cards)
    same_suit = len({card.suit for card in cards}) == 1
    low_ace = sorted(1 if rank == 14 else rank for rank in ranks)
    sequence = any(ace == list(range(ace[0], ace[0] + 5)) for ace in (ranks, low_ace))
    if same_suit and ranks == [10, 11, 12, 13, 14]:
        return "royal_flush"
    if same_suit and sequence:
        return "straight_flush"
    most = sorted(ranks.count(rank) for rank in set(ranks))
    if most == [1, 4]:
        return "four_of_a_kind"
    if most == [2, 3]:
        return "full_house"
    return "flush" if same_suit else None


# --- three-card poker ------------------------------------------------------------------------------------


def limited(stake: int, limit: Limits | None) -> tuple[int, int]:
    """What plays and what goes back (5.1.1); a bet below the minimum plays (5.2.1)."""
    maximum = limit.max_cents if limit else None
    if maximum is not None and stake > maximum:
        return maximum, stake - maximum
    return stake, 0


def has_folded(box: PokerBox) -> bool:
    """3.12.1 and 5.5: only an Ante asks for a decision."""
    with_ante = box.ante_cents is None or box.ante_cents > 0
    return with_ante and (box.decision is Decision.FOLD or (box.walked_away and box.decision is None))


def play_chips(box: PokerBox) -> int:
    """The Play Bet on the layout: as reported, else equal to the Ante of someone who plays."""
    if box.play_cents is not None:
        return box.play_cents
    return (box.ante_cents or 0) if box.decision is Decision.PLAY else 0


def poker_round(
    game: str,
    dealer: tuple[Card, ...],
    community: Sequence[Card],
    boxes: Sequence[PokerBox],
    limits: Mapping[Bet, Limits],
) -> Settled:
    """A round of TCP, MLP or GTP."""
    ledger = Ledger()
    playing = [box for box in boxes if box.invalidated_by is None]
    for box in boxes:
        if box not in playing:
            everything = {
                "ante": box.ante_cents or 0,
                "play": play_chips(box),
                "pair_plus": box.pair_plus_cents,
                "progressive": box.progressive_cents,
            }
            for bet, stake in everything.items():
                ledger.put(box.box, box.player, bet, ("returned", stake, stake))
    for box in playing:
        _ante_and_play(ledger, dealer, box, limits)
        _pair_plus(ledger, game, box, limits)
        _progressive(ledger, game, box, community)
    if game == "TCP":
        for box in playing:
            _envy(ledger, box, playing)
    return ledger.settled()


def _ante_and_play(
    ledger: Ledger, dealer: tuple[Card, ...], box: PokerBox, limits: Mapping[Bet, Limits]
) -> None:
    ante, over = limited(box.ante_cents or 0, limits.get(Bet.ANTE))
    play = play_chips(box)
    above = 0 if box.ante_cents is None else max(play - ante, 0)
    play -= above
    for bet, back in (("ante", over), ("play", above)):
        ledger.put(box.box, box.player, bet, ("returned", back, back))
    if has_folded(box) or box.cards is None:
        endings = ("lost", "lost")
    elif not dealer_qualifies(dealer):
        endings = ("won", "returned")
    elif three_cards(box.cards) > three_cards(dealer):
        endings = ("won", "won")
    elif three_cards(box.cards) < three_cards(dealer):
        endings = ("lost", "lost")
    else:
        endings = ("returned", "returned")
    times = {"won": 2, "lost": 0, "returned": 1}
    for bet, stake, ending in zip(("ante", "play"), (ante, play), endings, strict=True):
        ledger.put(box.box, box.player, bet, (ending, stake, stake * times[ending]))
    if ante and not has_folded(box) and box.cards is not None and category(box.cards) in ANTE_BONUS:
        ledger.put(box.box, box.player, "ante_bonus", ("won", 0, ante * ANTE_BONUS[category(box.cards)]))


def _pair_plus(ledger: Ledger, game: str, box: PokerBox, limits: Mapping[Bet, Limits]) -> None:
    stake, over = limited(box.pair_plus_cents, limits.get(Bet.PAIR_PLUS))
    ledger.put(box.box, box.player, "pair_plus", ("returned", over, over))
    killed = has_folded(box) and "pair_plus" in FOLD_KILLS[game]
    part: Part = ("lost", stake, 0)
    if box.cards is not None and not killed:
        odds = PAIR_PLUS[game].get(category(box.cards))
        if odds:
            part = ("won", stake, stake + odds * stake)
    ledger.put(box.box, box.player, "pair_plus", part)


def _progressive(ledger: Ledger, game: str, box: PokerBox, community: Sequence[Card]) -> None:
    stake = box.progressive_cents
    killed = has_folded(box) and "progressive" in FOLD_KILLS[game]
    hand = None
    if stake and box.cards is not None and not killed:
        five = [*box.cards, *community]
        hand = five_card_jackpot(five) if game == "MLP" else three_card_jackpot(box.cards)
    if hand is None:
        ledger.put(box.box, box.player, "progressive", ("lost", stake, 0))
        return
    wager = stake if game == "GTP" else 0
    percent = MAJORS[game].get(hand)
    amount = None
    if percent is None:
        amount = FIXED[game][hand] if hand in FIXED[game] else ODDS[game][hand] * stake
    ledger.put(box.box, box.player, "progressive", ("won", stake, wager + (amount or 0)))
    ledger.claims.append(Claim(box.box, box.player, hand, amount, percent))


def _envy(ledger: Ledger, winner: PokerBox, playing: Sequence[PokerBox]) -> None:
    with_ante = winner.ante_cents is None or winner.ante_cents > 0
    hand = three_card_jackpot(winner.cards) if winner.cards is not None else None
    if not with_ante or has_folded(winner) or hand not in ENVY:
        return
    for other in playing:
        own = other is winner or (winner.player is not None and winner.player == other.player)
        if other.progressive_cents > 0 and not own and not has_folded(other):
            ledger.envy.append(Envy(other.box, other.player, ENVY[hand], winner.box, hand))


# --- three pictures --------------------------------------------------------------------------------------

VALUES = {14: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8, 9: 9, 10: 0, 11: 0, 12: 0, 13: 0}
NUMBERS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


@cache
def appendix_c() -> list[str]:
    """The names of the ranking list, from the top."""
    names = ["Three Pictures"]
    for points in range(9, -1, -1):
        names += [f"{kind} {NUMBERS[points]}" for kind in ("Double Pictures", "Single Picture", "Plain")]
    return names


@cache
def pictures_name(hand: tuple[Card, ...]) -> str:
    """Where a hand stands in Appendix C."""
    pictures = [card for card in hand if card.rank in (11, 12, 13)]
    if len(pictures) == 3:
        return "Three Pictures"
    kind = ("Plain", "Single Picture", "Double Pictures")[len(pictures)]
    return f"{kind} {NUMBERS[points_of(hand)]}"


def points_of(hand: tuple[Card, ...]) -> int:
    """The last digit of the sum (NTP 1.12)."""
    return int(str(sum(VALUES[card.rank] for card in hand))[-1])


def in_play(placed: Sequence[int], limit: Limits | None) -> list[int]:
    """What each bet on a box counts for (NTP 5.1.1, 5.1.2)."""
    maximum = limit.max_cents if limit else None
    if limit is None or maximum is None or sum(placed) <= maximum:
        return list(placed)
    counts: list[int | None] = [stake if stake < limit.min_cents else None for stake in placed]
    while True:
        rest = max(0, maximum - sum(count for count in counts if count is not None))
        pool = sum(stake for stake, count in zip(placed, counts, strict=True) if count is None)
        pro_rata = [
            stake * rest // pool if count is None else count
            for stake, count in zip(placed, counts, strict=True)
        ]
        too_low = [i for i, count in enumerate(counts) if count is None and pro_rata[i] < limit.min_cents]
        if not too_low:
            return pro_rata
        for i in too_low:
            counts[i] = limit.min_cents


def pictures_round(
    dealer: tuple[Card, ...], boxes: Sequence[PicturesBox], limits: Mapping[Bet, Limits]
) -> Settled:
    """A round of NTP."""
    ledger = Ledger()
    for box in boxes:
        without_initial = not [bet for bet in box.bets if bet.initial_cents > 0]
        chips = {
            Bet.INITIAL: [bet.initial_cents for bet in box.bets],
            Bet.TIE: [bet.tie_cents for bet in box.bets],
            Bet.THREE_PICTURES: [bet.three_pictures_cents for bet in box.bets],
        }
        for kind, placed in chips.items():
            if box.invalidated_by is not None or without_initial or box.cards is None:
                counts = [0] * len(placed)
            else:
                counts = in_play(placed, limits.get(kind))
            for bet, stake, count in zip(box.bets, placed, counts, strict=True):
                back = stake - count
                ledger.put(box.box, bet.player, kind.value, ("returned", back, back))
                if count and box.cards is not None:
                    ending = _pictures_bet(kind.value, count, box.cards, dealer)
                    ledger.put(box.box, bet.player, kind.value, ending)
    return ledger.settled()


def _pictures_bet(kind: str, stake: int, hand: tuple[Card, ...], dealer: tuple[Card, ...]) -> Part:
    own, other = pictures_name(hand), pictures_name(dealer)
    if kind == "three_pictures":
        return ("won", stake, 17 * stake) if own == "Three Pictures" else ("lost", stake, 0)
    if kind == "tie":
        outside = "Three Pictures" in (own, other)
        same_points = not outside and points_of(hand) == points_of(dealer)
        return ("won", stake, 9 * stake) if own == other or same_points else ("lost", stake, 0)
    order = appendix_c()
    if order.index(own) > order.index(other):
        return ("lost", stake, 0)
    if own == other:
        return ("returned", stake, stake)
    six = own.endswith(" Six")
    return ("won", stake, stake + (stake // 2 if six else stake))
