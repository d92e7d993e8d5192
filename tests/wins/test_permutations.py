"""Neither the order in which claims arrive nor anything that happens in between moves money.

Bets, registrations, rejections, voids and settlements go through the real scripts; the second telling in
`model.py` says what they must come to. Deal times are given, far in the past, so that nothing is held back.
"""

import dataclasses
import random
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path

import pytest

from controller.floor.definition import Floor
from controller.floor.file import parse_floor
from controller.ids import LinkId
from controller.jackpots.amounts import settle
from controller.jackpots.book import Book, Decided
from controller.jackpots.cancelling import cancel_round
from controller.jackpots.change import Change
from controller.jackpots.claims import Claim, Kind, Status
from controller.jackpots.deal_order import order_claims
from controller.jackpots.house import reject
from controller.jackpots.settling import settle_due
from controller.results.reversal import reversal_of
from controller.services.round_ends import take_back
from controller.store.connection import connect
from controller.store.link_store import LinkStore
from controller.store.win_store import RoundEnd, WinStore
from tests.support.floors import commission, locked
from tests.support.servers import redis_server, server_binaries
from tests.wins.model import Dealt, Model, Pays, Terms

LINK = LinkId("link")
SCHEDULES = 1000
THROUGH_REDIS = 3
"""Permutations of a schedule that go through the scripts; all of them go through the sums."""
HANDS = {"royal_flush": Pays(1_000_000), "straight_flush": Pays(100_000)}
TABLES = ("A", "B", "C", "D")
BETTOR = "Z"
Step = Callable[[], None]

FLOOR = """
version: 1
casino: Test
pay_tables:
  - id: pays
    game: MLP
    title: Pays
    lines:
      - {{hand: royal_flush, meter: m, share_ppm: 1000000, rule: r}}
      - {{hand: straight_flush, meter: m, share_ppm: 100000, rule: r}}
links:
  - id: link
    title: Link
    currency: USD
    pay_tables: [pays]
    progressive_bet_cents: {bet_cents}
    meters:
      - {{id: m, title: M, reset_cents: {reset_cents}, opening_cents: {opening_cents}, rate_ppm: {rate_ppm},
         reserve_ppm: {reserve_ppm}{cap}}}
    policy: {{verification: not_required}}
tables:
{tables}
"""


def floor_of(terms: Terms) -> Floor:
    cap = "" if terms.cap_cents is None else f", cap_cents: {terms.cap_cents}"
    rows = (f"  - {{id: {name}, game: MLP, link: link, boxes: 7}}" for name in (*TABLES, BETTOR))
    fields = {
        name: getattr(terms, name) for name in ("bet_cents", "reset_cents", "opening_cents", "rate_ppm")
    }
    text = FLOOR.format(cap=cap, reserve_ppm=terms.reserve_ppm, tables="\n".join(rows), **fields)
    return parse_floor(text)


class Both:
    """The store and the model, doing the same."""

    def __init__(self, store: LinkStore, terms: Terms, floor: Floor) -> None:
        store._client.flushall()
        commission(store, floor)
        self.store, self.wins, self.floor = store, WinStore(store._client, store), floor
        self.address = (LINK, 1, floor.digest(LINK))
        self.policy = floor.policy_of(LINK)
        self.model = Model(terms)
        self.seqs: dict[tuple[str, int], int] = {}
        self.rounds: dict[str, int] = {}

    def bets(self, table: str, boxes: int) -> None:
        number = self.rounds[table] = self.rounds.get(table, 0) + 1
        round_ = locked(self.floor, table, number, boxes)
        [[outcome]] = self.store.contribute(*self.address, [[round_]], self.policy)
        assert outcome.record is not None
        self.seqs[table, number] = outcome.record.seq
        assert self.model.bets(table, number, boxes, round_.closed_at) == "new"

    def apply(self, decided: Decided | None) -> None:
        assert decided is not None
        assert self.wins.apply(self.address, decided) is not None

    def win(self, table: str, hand: str, dealt: int) -> None:
        book = Book(self.wins.state(LINK), self.policy)
        book.register(claim_of(table, hand, dealt))
        book.change.close_round(table, 1)
        self.apply(book.finish("claim_registered", by=[], reason="", detail={}))
        assert self.model.win(table, 1, 1, hand, dealt, Dealt(dealt, dealt)) == "new"

    def reject(self, table: str) -> None:
        self.apply(reject(self.wins.state(LINK), self.policy, f"{table}.1.1", "x", "miscalled"))
        assert self.model.reject(f"{table}.1.1") == "new"

    def void(self, table: str, boxes: int) -> None:
        book = Book(self.wins.state(LINK), self.policy)
        cancel_round(book, table, 1, [], [])
        book.finish_claims()
        change: Change = book.change
        entry = self.store.entry(LINK, self.seqs[table, 1])
        assert entry is not None
        take_back(change, reversal_of(entry.postings, ["m"], boxes, 0, boxes), entry.seq)
        change.close_round(table, 1)
        end = RoundEnd(table, 1, "v" * 64, "{}", 0, change.words(), book.state.version)
        outcome, _ = self.wins.void_round(self.address, end, highest=1, result_seq=None)
        assert outcome == "recorded"
        assert self.model.void(table, 1, 0, ()) == "new"

    def settle(self) -> dict[str, int | None]:
        """Settle what is due in both, and compare everything; the awards."""
        awarded = self.model.attend()
        decided = settle_due(self.wins.state(LINK), self.policy)
        assert (decided is not None) == bool(awarded)
        if decided is not None:
            self.apply(decided)
        state = self.wins.state(LINK)
        pot = state.pots["m"]
        model = self.model
        assert (pot.value, pot.overflow, pot.reserve, pot.owed) == (
            model.value,
            model.overflow,
            model.reserve,
            model.owed,
        )
        found = {name: claim.amount_cents for name, claim in state.claims.items()}
        assert found == {name: claim.amount for name, claim in model.claims.items()}
        return found


def claim_of(table: str, hand: str, dealt: int) -> Claim:
    return Claim(
        id=f"{table}.1.1",
        kind=Kind.MAJOR,
        table=table,
        round=1,
        box=1,
        hand=hand,
        rule="r",
        status=Status.REGISTERED,
        meter="m",
        share_ppm=HANDS[hand].share_ppm,
        dealt_at=dealt,
        earliest=dealt,
        latest=dealt,
    )


@pytest.fixture(scope="module")
def quick_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinkStore]:
    """A server that keeps nothing on disk: thousands of meters live and die here."""
    folder: Path = tmp_path_factory.mktemp("quick")
    with redis_server(server_binaries()["valkey-9"], folder, "--appendonly", "no") as url:
        client = connect(url)
        yield LinkStore(client)
        client.close()


def some_terms(dice: random.Random) -> Terms:
    opening = dice.choice((1_000, 2_000_000, 9_999_999))
    reset = dice.choice((0, 500, opening))
    cap = None if dice.random() < 0.5 else max(opening, reset) + dice.choice((0, 1_500, 20_000))
    rate = dice.choice((150_000, 172_500, 333_333))
    bet = dice.choice((500, 999))
    return Terms(HANDS, bet, rate, dice.choice((0, 30_000)), reset, opening, cap, verification=False)


def test_a_thousand_schedules_pay_the_same_whichever_claim_arrives_when(quick_store: LinkStore) -> None:
    dice = random.Random("a thousand schedules")
    for _ in range(SCHEDULES):
        terms = some_terms(dice)
        floor = floor_of(terms)
        count = dice.choice((1, 2, 2, 2, 3, 3, 4))
        hands = {table: dice.choice(("royal_flush", "straight_flush")) for table in TABLES[:count]}
        dealt = dict(zip(hands, dice.sample(range(1_000, 9_000), count), strict=True))
        between = [[dice.randint(1, 7) for _ in range(dice.randint(0, 2))] for _ in hands]
        arrivals = list(permutations(hands))
        expected = None
        for arrival in (arrivals[0], *dice.sample(arrivals, min(THROUGH_REDIS - 1, len(arrivals)))):
            both = Both(quick_store, terms, floor)
            for table in hands:
                both.bets(table, 1)
            for table, bets in zip(arrival, between, strict=True):
                both.win(table, hands[table], dealt[table])
                for boxes in bets:
                    both.bets(BETTOR, boxes)
            state = both.wins.state(LINK)
            awards = both.settle()
            expected = expected or awards
            assert awards == expected
        claims = [claim_of(table, hands[table], dealt[table]) for table in hands]
        for arrival in arrivals:  # the sums alone, with each registration made by another claim
            points = state.pots["m"].registrations
            made = [dataclasses.replace(p, claim=f"{t}.1.1") for p, t in zip(points, arrival, strict=True)]
            pot = dataclasses.replace(state.pots["m"], registrations=tuple(made))
            arrived = sorted(claims, key=lambda claim: arrival.index(claim.table))
            settled = settle(pot, order_claims(arrived).claims)
            assert {award.claim: award.amount_cents for award in settled.awards} == expected


def interleavings(*actors: list[Step]) -> Iterator[list[tuple[int, int]]]:
    """Every way in which the actors' steps can follow each other, each actor's in its own order."""

    def extend(done: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
        if all(n == len(steps) for n, steps in zip(done, actors, strict=True)):
            yield []
            return
        for i, steps in enumerate(actors):
            if done[i] < len(steps):
                after = (*done[:i], done[i] + 1, *done[i + 1 :])
                for rest in extend(after):
                    yield [(i, done[i]), *rest]

    return extend((0,) * len(actors))


def test_every_interleaving_of_a_small_floor_ends_as_the_model_says(quick_store: LinkStore) -> None:
    """A straight flush, a royal dealt after it, a voided round and a false claim, in all 2,520 orders."""
    terms = Terms(HANDS, 1_000, 500_000, 50_000, 2_000, 100_000, 103_000, verification=False)
    floor = floor_of(terms)
    both: Both

    def actors() -> list[list[Step]]:
        return [
            [lambda: both.bets("A", 2), lambda: both.win("A", "straight_flush", 2_000)],
            [lambda: both.bets("B", 1), lambda: both.win("B", "royal_flush", 3_000)],
            [lambda: both.bets("C", 3), lambda: both.void("C", 3)],
            [lambda: both.win("D", "royal_flush", 1_000), lambda: both.reject("D")],
        ]

    outcomes = set()
    count = 0
    for order in interleavings(*actors()):
        both = Both(quick_store, terms, floor)
        both.bets("D", 1)
        steps = actors()
        for actor, step in order:
            steps[actor][step]()
        awards = both.settle()
        outcomes.add((awards["A.1.1"], awards["B.1.1"]))
        count += 1
    assert count == 2_520
    assert len(outcomes) > 1, "what had accrued at a registration does decide, and only that"
