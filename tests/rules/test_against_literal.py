"""Thousands of whole rounds, settled by the product and by the literal reading: the same money."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

import pytest

from controller.games.cards import DECK, Card, Hand
from controller.games.pictures import PicturesBox, PlayerBet, apportion, settle_pictures
from controller.games.poker import PokerBox, settle_poker
from controller.games.rule_sets import Limits
from controller.games.settlement import Settlement
from controller.games.vocabulary import Bet, Decision, Game
from tests.rules import literal
from tests.rules.deals import hand, pay_table_of, rules_of

ROUNDS = 20_000
POKER = (Game.TCP, Game.MLP, Game.GTP)
PLAYERS = ("ann", "bob", "cho", None)
STACKED = (
    "AS KS QS",
    "AH KH QH",
    "AC KC QC",
    "JD 10D 9D",
    "3C 2C AC",
    "7S 7H 7D",
    "9S 8H 7D",
    "KS KH KD",
    "QS JS 10S",
    "JS 5H 4D",
    "6S 6H 10S",
)


def money(settlement: Settlement) -> literal.Settled:
    """The product's answer in the literal reading's shape."""
    parts: dict[literal.Place, list[literal.Part]] = defaultdict(list)
    for line in settlement.lines:
        part = (line.outcome.value, line.stake_cents, line.returned_cents)
        parts[line.box, line.player, line.bet.value].append(part)
    claims = [
        literal.Claim(c.box, c.player, c.hand, c.amount_cents, c.share_ppm // 10_000 if c.share_ppm else None)
        for c in settlement.claims
    ]
    envy = [literal.Envy(e.box, e.player, e.amount_cents, e.hand_box, e.hand) for e in settlement.envy]
    return literal.Settled(
        {place: sorted(found) for place, found in parts.items()},
        sorted(claims, key=str),
        sorted(envy, key=str),
    )


def shuffled(dice: random.Random) -> list[Card]:
    """A deck, often stacked so that one or two of its first hands are rare ones."""
    deck = list(DECK)
    dice.shuffle(deck)
    front: list[Card] = []
    for text in dice.sample(STACKED, dice.choice((0, 0, 1, 1, 2, 3))):
        stacked = hand(text)
        if not set(stacked) & set(front):
            front += stacked
    return front + [card for card in deck if card not in front] if front else deck


def deal(deck: list[Card], count: int, dice: random.Random) -> tuple[list[Hand], tuple[Card, Card]]:
    """That many hands in any order, and two more cards (often good ones for MLP)."""
    hands = [(deck[3 * i], deck[3 * i + 1], deck[3 * i + 2]) for i in range(count)]
    left = deck[3 * count :]
    first = hands[0]
    dice.shuffle(hands)
    if dice.random() < 0.3:
        suited = [card for card in left if card.suit is first[0].suit]
        return hands, (suited[0], suited[1]) if len(suited) > 1 else (left[0], left[1])
    if dice.random() < 0.3:
        near = sorted(left, key=lambda card: (abs(card.rank - first[0].rank), str(card)))
        return hands, (near[0], near[1])
    return hands, (left[0], left[1])


def some_limits(dice: random.Random, bets: tuple[Bet, ...]) -> dict[Bet, Limits]:
    limits = {}
    for bet in bets:
        if dice.random() < 0.6:
            low = dice.choice((0, 100, 500, 1000))
            limits[bet] = Limits(min_cents=low, max_cents=dice.choice((None, low + 1, low + 333, 2000, 5000)))
    return limits


def poker_box(dice: random.Random, number: int, cards: Hand) -> PokerBox:
    ante = dice.choice((0, 1, 100, 499, 1000, 2500, 6000, None))
    decision = dice.choice((Decision.PLAY, Decision.PLAY, Decision.FOLD)) if ante != 0 else None
    walked = dice.random() < 0.1
    if walked and dice.random() < 0.5:
        decision = None
    play = None
    if decision is Decision.PLAY and dice.random() < 0.4:
        play = dice.choice((0, 1, 100, 1000, 2500, 9999))
    return PokerBox(
        box=number,
        player=dice.choice(PLAYERS),
        ante_cents=ante,
        pair_plus_cents=dice.choice((0, 0, 1, 333, 1000, 7000)),
        progressive_cents=dice.choice((0, 250, 500, 500)) if ante != 0 else 0,
        play_cents=play,
        decision=decision,
        cards=cards if dice.random() < 0.9 else None,
        walked_away=walked,
        invalidated_by="TCP 5.15" if dice.random() < 0.05 else None,
    )


def agree(
    game: Game, dealer: Hand, community: tuple[Card, ...], boxes: list[PokerBox], limits: Mapping[Bet, Limits]
) -> literal.Settled:
    found = money(settle_poker(rules_of(game), pay_table_of(game), dealer, community, boxes, limits))
    expected = literal.poker_round(game.value, dealer, community, boxes, limits)
    assert found == expected, (game, dealer, community, boxes, limits)
    return found


@pytest.mark.parametrize("game", POKER)
def test_poker_rounds_end_as_the_documents_read(game: Game) -> None:
    dice = random.Random(f"{game} rounds")
    seen: Counter[str] = Counter()
    for _ in range(ROUNDS):
        count = dice.randint(1, 7)
        (dealer, *hands), pair = deal(shuffled(dice), count + 1, dice)
        limits = some_limits(dice, (Bet.ANTE, Bet.PAIR_PLUS))
        boxes = [poker_box(dice, i, cards) for i, cards in enumerate(hands, start=1)]
        settled = agree(game, dealer, pair if game is Game.MLP else (), boxes, limits)
        seen.update(claim.hand for claim in settled.claims)
        seen["envy"] += len(settled.envy)
        seen["two triggers"] += len({bonus.hand_box for bonus in settled.envy}) > 1
        for (_, _, bet), parts in settled.parts.items():
            seen.update(f"{bet} {part[0]}" for part in parts)
    rare = [*literal.MAJORS[game], *literal.FIXED[game], *literal.ODDS[game]]
    rare += ["ante_bonus won", "ante returned", "play returned", "pair_plus returned", "progressive returned"]
    rare += ["envy", "two triggers"] if game is Game.TCP else []
    assert all(seen[name] >= 20 for name in rare), {name: seen[name] for name in rare}


def test_ntp_rounds_end_as_the_document_reads() -> None:
    dice = random.Random("NTP rounds")
    seen: Counter[str] = Counter()
    for _ in range(ROUNDS // 2):  # each has several players on a box
        (dealer, *hands), _ = deal(shuffled(dice), dice.randint(2, 8), dice)
        limits = some_limits(dice, (Bet.INITIAL, Bet.TIE, Bet.THREE_PICTURES))
        boxes = [pictures_box(dice, i, cards) for i, cards in enumerate(hands, start=1)]
        found = money(settle_pictures(rules_of(Game.NTP), dealer, boxes, limits))
        assert found == literal.pictures_round(dealer, boxes, limits), (dealer, boxes, limits)
        for (_, _, bet), parts in found.parts.items():
            seen.update(f"{bet} {part[0]}" for part in parts)
    kinds = [
        f"{bet} {end}" for bet in ("initial", "tie", "three_pictures") for end in ("won", "lost", "returned")
    ]
    assert all(seen[kind] >= 100 for kind in kinds), seen


def pictures_box(dice: random.Random, number: int, cards: Hand) -> PicturesBox:
    players = dice.sample(("ann", "bob", "cho", "dee", "eve"), dice.randint(1, 4))
    bets = [
        PlayerBet(
            player=player,
            seated=i == 0,
            initial_cents=dice.choice((0, 1, 50, 100, 777, 1000, 3000)),
            tie_cents=dice.choice((0, 0, 33, 100, 1000, 2400)),
            three_pictures_cents=dice.choice((0, 0, 99, 500, 1000)),
        )
        for i, player in enumerate(players)
    ]
    dealt = any(bet.initial_cents for bet in bets)
    return PicturesBox(
        box=number,
        bets=bets,
        cards=cards if dealt else None,
        walked_away=dice.random() < 0.1,
        invalidated_by="NTP 5.9" if dice.random() < 0.05 else None,
    )


def structured_hands() -> list[Hand]:
    """One hand of nearly every shape: every kind and neighbours in its order, in two suit patterns."""
    texts = [*STACKED, "KS QH JD", "QD JD 10D", "KH QC JS", "AS AH KD", "AD AC KH", "2S 2H 3D", "2D 2C 4H"]
    texts += [
        "QS 3H 2D",
        "QD 3C 2H",
        "JC 10H 8S",
        "KS JH 9D",
        "AS 5S 2S",
        "AH 5H 2H",
        "AD KH JC",
        "AC KD 10H",
    ]
    texts += [
        "10S 10H KC",
        "9D 9C 9H",
        "AD 2S 3H",
        "4S 3C 2H",
        "6C 8D 2C",
        "5C 5D 6H",
        "10C 4D 2S",
        "JH QS KC",
    ]
    return [hand(text) for text in texts]


def pairs_of_hands() -> Iterator[tuple[Hand, Hand]]:
    hands = structured_hands()
    spread = list(combinations(DECK, 3))[::97]
    for own in [*hands, *spread]:
        for dealer in hands:
            if not set(own) & set(dealer):
                yield own, dealer


@pytest.mark.parametrize("game", POKER)
def test_every_pair_of_structured_hands_ends_as_the_documents_read(game: Game) -> None:
    for own, dealer in pairs_of_hands():
        left = [card for card in DECK if card not in own and card not in dealer]
        community = (left[0], left[1]) if game is Game.MLP else ()
        plays, folds = (
            PokerBox(
                box=1 + (decision is Decision.FOLD),
                cards=own,
                decision=decision,
                ante_cents=1000,
                pair_plus_cents=700,
                progressive_cents=500,
            )
            for decision in (Decision.PLAY, Decision.FOLD)
        )
        boxes = [plays, folds, PokerBox(box=3, cards=own, pair_plus_cents=700)]
        agree(game, dealer, community, boxes, {})


def test_ntp_every_pair_of_structured_hands_ends_as_the_document_reads() -> None:
    for own, dealer in pairs_of_hands():
        bet = PlayerBet(player="ann", initial_cents=101, tie_cents=10, three_pictures_cents=7)
        boxes = [PicturesBox(box=1, bets=[bet], cards=own)]
        found = money(settle_pictures(rules_of(Game.NTP), dealer, boxes))
        assert found == literal.pictures_round(dealer, boxes, {}), (own, dealer)


def test_ntp_5_1_1_bets_on_a_box_are_apportioned_as_the_document_reads() -> None:
    dice = random.Random("pro rata")
    for _ in range(ROUNDS):
        placed = [
            dice.choice((0, dice.randint(1, 120), dice.randint(1, 5000))) for _ in range(dice.randint(1, 6))
        ]
        low = dice.choice((0, 1, 50, 100, 700))
        limit = Limits(min_cents=low, max_cents=max(1, low + dice.randint(0, 3000)))
        assert apportion(placed, limit) == literal.in_play(placed, limit), (placed, limit)


@pytest.mark.parametrize("game", POKER)
def test_5_3_1_play_above_the_ante_is_returned_also_when_the_hand_is_not_shown(game: Game) -> None:
    dealer = hand("QS 3H 2D")
    community = (DECK[5], DECK[6]) if game is Game.MLP else ()
    limits = {Bet.ANTE: Limits(max_cents=300)}
    for box in (
        PokerBox(box=1, ante_cents=500, decision=Decision.PLAY),
        PokerBox(box=1, ante_cents=300, play_cents=500, decision=Decision.PLAY),
    ):
        agree(game, dealer, community, [box], limits)
