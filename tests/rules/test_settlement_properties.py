"""What must hold for every round, whatever was dealt, bet, decided or limited."""

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from controller.games.cards import DECK, Card, Hand
from controller.games.pictures import PicturesBox, PlayerBet, settle_pictures
from controller.games.poker import PokerBox, settle_poker
from controller.games.rule_sets import Limits
from controller.games.settlement import Line, Settlement
from controller.games.vocabulary import Bet, Decision, Game, Outcome
from tests.rules.deals import hand, pay_table_of, rules_of

POKER_ODDS = {Bet.ANTE: 1, Bet.PLAY: 1, Bet.PAIR_PLUS: 40}
PICTURES_ODDS = {Bet.INITIAL: 1, Bet.TIE: 8, Bet.THREE_PICTURES: 16}
AMOUNTS = st.integers(0, 10_000) | st.sampled_from([0, 1, 100, 500, 10**10])
PLAYERS = st.sampled_from(["ann", "bob", "cho", None])


@st.composite
def decks(draw: st.DrawFn) -> list[Card]:
    """Cards in random order, sometimes with the best hands on top."""
    front = draw(st.sampled_from(["", "AS KS QS", "AH KH QH", "KS QH JD", "8S 8H 8D"]))
    top = list(hand(front)) if front else []
    rest = [card for card in DECK if card not in top]
    draw(st.randoms(use_true_random=False)).shuffle(rest)
    return top + rest


@st.composite
def limits_of(draw: st.DrawFn, bets: tuple[Bet, ...]) -> dict[Bet, Limits]:
    found = {}
    for bet in bets:
        if draw(st.booleans()):
            low = draw(st.integers(0, 2000))
            found[bet] = Limits(
                min_cents=low, max_cents=draw(st.none() | st.integers(max(low, 1), low + 4000))
            )
    return found


@st.composite
def poker_boxes(draw: st.DrawFn, number: int, cards: Hand) -> PokerBox:
    ante = draw(AMOUNTS | st.none())
    decision = draw(st.sampled_from(Decision)) if ante != 0 else None
    return PokerBox(
        box=number,
        player=draw(PLAYERS),
        ante_cents=ante,
        pair_plus_cents=draw(AMOUNTS),
        progressive_cents=draw(st.sampled_from([0, 500])) if ante != 0 else 0,
        play_cents=draw(st.none() | AMOUNTS) if decision is Decision.PLAY else None,
        decision=decision,
        cards=cards if draw(st.integers(0, 9)) else None,
        walked_away=draw(st.booleans()),
        invalidated_by=draw(st.sampled_from([None, None, None, "TCP 5.10.3"])),
    )


PokerRound = tuple[Game, list[PokerBox], dict[Bet, Limits], Settlement]


@st.composite
def poker_rounds(draw: st.DrawFn) -> PokerRound:
    game = draw(st.sampled_from([Game.TCP, Game.MLP, Game.GTP]))
    deck = draw(decks())
    count = draw(st.integers(1, 7))
    dealt = [(deck[3 * i], deck[3 * i + 1], deck[3 * i + 2]) for i in range(count + 1)]
    boxes = [draw(poker_boxes(i + 1, dealt[i])) for i in range(count)]
    limits = draw(limits_of((Bet.ANTE, Bet.PAIR_PLUS)))
    community = (deck[-1], deck[-2]) if game is Game.MLP else ()
    settled = settle_poker(rules_of(game), pay_table_of(game), dealt[-1], community, boxes, limits)
    return game, boxes, limits, settled


PicturesRound = tuple[list[PicturesBox], dict[Bet, Limits], Settlement]


@st.composite
def pictures_rounds(draw: st.DrawFn) -> PicturesRound:
    deck = draw(decks())
    boxes = []
    for i in range(draw(st.integers(1, 5))):
        bets = [
            PlayerBet(
                player=player,
                initial_cents=draw(AMOUNTS),
                tie_cents=draw(AMOUNTS),
                three_pictures_cents=draw(AMOUNTS),
            )
            for player in draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True))
        ]
        own = (deck[3 * i], deck[3 * i + 1], deck[3 * i + 2])
        out = draw(st.sampled_from([None, None, None, "NTP 5.9"]))
        dealt = any(bet.initial_cents for bet in bets)
        boxes.append(PicturesBox(box=i + 1, bets=bets, cards=own if dealt else None, invalidated_by=out))
    limits = draw(limits_of((Bet.INITIAL, Bet.TIE, Bet.THREE_PICTURES)))
    dealer = (deck[-1], deck[-2], deck[-3])
    return boxes, limits, settle_pictures(rules_of(Game.NTP), dealer, boxes, limits)


def placed_in_poker(boxes: list[PokerBox]) -> dict[tuple[int, str | None, Bet], int]:
    """The chips on the layout, counted without the product's own count."""
    chips = {}
    for box in boxes:
        ante = box.ante_cents or 0
        play = box.play_cents
        if play is None:
            play = ante if box.decision is Decision.PLAY else 0
        chips[box.box, box.player, Bet.ANTE] = ante
        chips[box.box, box.player, Bet.PLAY] = play
        chips[box.box, box.player, Bet.PAIR_PLUS] = box.pair_plus_cents
        chips[box.box, box.player, Bet.PROGRESSIVE] = box.progressive_cents
    return {place: stake for place, stake in chips.items() if stake}


def ended_stakes(lines: list[Line]) -> dict[tuple[int, str | None, Bet], int]:
    sums: dict[tuple[int, str | None, Bet], int] = defaultdict(int)
    for line in lines:
        if line.bet is not Bet.ANTE_BONUS:
            sums[line.box, line.player, line.bet] += line.stake_cents
    return dict(sums)


def check_line(line: Line) -> None:
    """A line by itself."""
    assert type(line.stake_cents) is int
    assert type(line.returned_cents) is int
    assert line.rule
    assert line.sentence.endswith(".")
    assert not line.sentence.endswith("..")
    assert (line.stake_cents > 0) is (line.bet is not Bet.ANTE_BONUS)
    if line.outcome is Outcome.LOST:
        assert line.returned_cents == 0
    elif line.outcome is Outcome.RETURNED:
        assert line.returned_cents == line.stake_cents
    elif line.bet is not Bet.PROGRESSIVE:
        # half of one cent is nothing: a winning six of one cent gets its stake back
        assert line.returned_cents > line.stake_cents or (line.bet is Bet.INITIAL and line.stake_cents == 1)


@settings(deadline=None)
@given(poker_rounds())
def test_every_poker_bet_ends_exactly_once_and_says_why(played: PokerRound) -> None:
    _, boxes, _, settled = played
    assert ended_stakes(settled.lines) == placed_in_poker(boxes)
    for line in settled.lines:
        check_line(line)
    for remark in settled.remarks:
        assert remark.rule
        assert remark.sentence.endswith(".")


@settings(deadline=None)
@given(pictures_rounds())
def test_every_pictures_bet_ends_exactly_once_and_says_why(played: PicturesRound) -> None:
    boxes, _, settled = played
    placed = {
        (box.box, bet.player, kind): stake
        for box in boxes
        for bet in box.bets
        for kind, stake in (
            (Bet.INITIAL, bet.initial_cents),
            (Bet.TIE, bet.tie_cents),
            (Bet.THREE_PICTURES, bet.three_pictures_cents),
        )
        if stake
    }
    assert ended_stakes(settled.lines) == placed
    for line in settled.lines:
        check_line(line)


@settings(deadline=None)
@given(poker_rounds())
def test_a_box_never_gets_back_more_than_the_pay_table_allows(played: PokerRound) -> None:
    game, boxes, limits, settled = played
    antes = {box.box: box.ante_cents or 0 for box in boxes}
    best_award = max((line.amount_cents(500) or 0) for line in pay_table_of(game).lines)
    for line in settled.lines:
        if line.bet is Bet.ANTE_BONUS:
            limit = limits.get(Bet.ANTE, Limits()).max_cents
            ante = antes[line.box] if limit is None else min(antes[line.box], limit)
            assert line.returned_cents <= 5 * ante
        elif line.bet is Bet.PROGRESSIVE:
            assert line.returned_cents <= best_award + line.stake_cents
        else:
            assert line.returned_cents <= line.stake_cents * (1 + POKER_ODDS[line.bet])
            maximum = limits.get(line.bet, Limits()).max_cents
            if line.outcome is not Outcome.RETURNED and maximum is not None:
                assert line.stake_cents <= maximum


@settings(deadline=None)
@given(pictures_rounds())
def test_a_pictures_box_never_gets_back_more_than_the_pay_table_allows(played: PicturesRound) -> None:
    for line in played[2].lines:
        assert line.returned_cents <= line.stake_cents * (1 + PICTURES_ODDS[line.bet])


@settings(deadline=None)
@given(pictures_rounds())
def test_ntp_5_1_1_together_no_more_than_the_maximum_plays(played: PicturesRound) -> None:
    """Except where the minimum of each player alone exceeds it."""
    boxes, limits, settled = played
    for box in boxes:
        for kind, limit in limits.items():
            counted = sum(
                line.stake_cents
                for line in settled.lines
                if line.box == box.box
                and line.bet is kind
                and (line.outcome is not Outcome.RETURNED or line.rule == "NTP 3.13.3")
            )
            assert limit.max_cents is None or counted <= max(limit.max_cents, len(box.bets) * limit.min_cents)


@settings(deadline=None)
@given(poker_rounds())
def test_an_invalidated_box_gets_every_chip_back_and_nothing_else(played: PokerRound) -> None:
    _, boxes, _, settled = played
    out = {box.box for box in boxes if box.invalidated_by is not None}
    for line in settled.lines:
        if line.box in out:
            assert (line.outcome, line.rule) == (Outcome.RETURNED, "TCP 5.10.3")
    assert not out & {claim.box for claim in settled.claims}
    assert not out & {bonus.box for bonus in settled.envy}
    assert not out & {bonus.hand_box for bonus in settled.envy}


@settings(deadline=None)
@given(pictures_rounds())
def test_an_invalidated_pictures_box_gets_every_chip_back(played: PicturesRound) -> None:
    boxes, _, settled = played
    out = {box.box for box in boxes if box.invalidated_by is not None}
    for line in settled.lines:
        if line.box in out:
            assert (line.outcome, line.rule) == (Outcome.RETURNED, "NTP 5.9")


@settings(deadline=None)
@given(poker_rounds())
def test_claims_and_bonuses_belong_to_progressive_bets(played: PokerRound) -> None:
    game, boxes, _, settled = played
    with_bet = {box.box for box in boxes if box.progressive_cents}
    won = {line.box for line in settled.lines if line.bet is Bet.PROGRESSIVE and line.outcome is Outcome.WON}
    assert sorted(claim.box for claim in settled.claims) == sorted(won)
    assert won <= with_bet
    assert {bonus.box for bonus in settled.envy} <= with_bet
    assert game is Game.TCP or not settled.envy
    owners = {box.box: box.player for box in boxes}
    for bonus in settled.envy:
        assert bonus.box != bonus.hand_box
        assert bonus.player is None or bonus.player != owners[bonus.hand_box]
