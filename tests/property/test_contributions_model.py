"""The Lua path against a second telling that shares no code with it.

Hypothesis posts rounds, retries, conflicts, batches, results that take hands out, and voids to a real
Redis, lets the ledger take the journal at random moments, and compares every answer and every balance
with plain Python integers.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from controller.errors import Refused
from controller.floor.definition import Floor
from controller.games.cards import DECK
from controller.results.messages import RoundResult, RoundVoid
from controller.services.floor_in_force import FloorInForce
from controller.services.round_ends import RoundEnds
from controller.services.round_lookup import RoundLookup
from controller.store.link_store import LinkStore
from controller.store.win_store import WinStore
from models.archive import RoundArchive, balances, recorded_round
from models.audit import check_link
from models.base import Base
from models.engine import Ledger
from tests.support.floors import LINK, commission, locked, small_floor
from workers.drain import Drain

TABLES = ("T-1", "T-2", "T-3")
EARLY, LATE = "2026-01-02T03:04:00Z", "2026-01-02T03:05:00Z"
"""Before and after every round's 'no more bets'."""


@dataclass
class Model:
    """What must be true, told without Redis, Lua or SQL."""

    bet_cents: int
    rate_ppm: int
    reserve_ppm: int
    cap: int | None
    value: int
    overflow: int = 0
    reserve: int = 0
    house: int = 0
    staked: int = 0
    owed: int = 0
    seq: int = 1
    highest: dict[str, int] = field(default_factory=dict)
    bodies: dict[tuple[str, int], tuple[int, str]] = field(default_factory=dict)
    overflowed: dict[tuple[str, int], int] = field(default_factory=dict)
    reversed: dict[tuple[str, int], int] = field(default_factory=dict)
    results: dict[tuple[str, int], int] = field(default_factory=dict)
    voids: dict[tuple[str, int], str] = field(default_factory=dict)

    def post(self, table: str, number: int, boxes: int, note: str) -> str:
        """The outcome of one round."""
        known = self.bodies.get((table, number))
        if known is not None:
            return "same" if known == (boxes, note) else "different"
        if number <= self.highest.get(table, 0):
            return "passed"
        self.bodies[table, number] = (boxes, note)
        self.highest[table] = number
        stake = boxes * self.bet_cents
        contribution, reserve = stake * self.rate_ppm, stake * self.reserve_ppm
        repaid = min(self.owed, contribution)
        self.owed -= repaid
        rising = contribution - repaid
        room = rising if self.cap is None else min(rising, self.cap - self.value)
        self.value += room
        self.overflow += rising - room
        self.overflowed[table, number] = rising - room
        self.reserve += reserve
        self.house += stake * 1_000_000 - contribution - reserve
        self.staked += stake * 1_000_000
        self.seq += 1
        return "new"

    def result(self, table: str, number: int, out: int) -> str:
        """The outcome of a result that takes so many hands out of play."""
        key = (table, number)
        if key not in self.bodies:
            return "unknown"
        if key in self.voids:
            return "voided"
        if key in self.results:
            return "same" if self.results[key] == out else "different"
        self.results[key] = out
        self._take_back(key, out)
        return "new"

    def void(self, table: str, number: int, when: str) -> str:
        """The outcome of a void declared before or after every 'no more bets'."""
        key = (table, number)
        if key not in self.bodies:
            return "unknown"
        if key in self.voids:
            return "same" if self.voids[key] == when else "different"
        if when == LATE and self.highest[table] > number:
            return "stands"
        self.voids[key] = when
        self._take_back(key, self.bodies[key][0] - self.reversed.get(key, 0))
        return "new"

    def _take_back(self, key: tuple[str, int], bets: int) -> None:
        before = self.reversed.get(key, 0)
        self.reversed[key] = before + bets
        per_bet = self.bet_cents * self.rate_ppm
        over = self.overflowed[key]
        overflow = min(over, per_bet * (before + bets)) - min(over, per_bet * before)
        stake = bets * self.bet_cents
        self.overflow -= overflow
        self.owed += per_bet * bets - overflow
        self.reserve -= stake * self.reserve_ppm
        self.house -= stake * (1_000_000 - self.rate_ppm - self.reserve_ppm)
        self.staked -= stake * 1_000_000
        self.seq += 1


class _Source:
    """The one floor of a run."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor

    def version(self) -> int:
        return 1

    def load(self) -> tuple[int, Floor]:
        return 1, self._floor


class Contributions(RuleBasedStateMachine):
    """Random rounds from three tables."""

    store: LinkStore
    ledger: Ledger

    @initialize(
        rate=st.integers(0, 1_000_000),
        reserve=st.integers(0, 1_000_000),
        opening=st.sampled_from([1000, 2_000_000, 9_007_199_254, 9_999_990_000]),
        room=st.one_of(st.none(), st.integers(0, 9000)),
        bet=st.sampled_from([1, 99, 500, 12_345]),
    )
    def open_floor(self, rate: int, reserve: int, opening: int, room: int | None, bet: int) -> None:
        reserve = min(reserve, 1_000_000 - rate)
        cap = None if room is None else opening + room
        self.floor: Floor = small_floor(
            rate_ppm=rate, reserve_ppm=reserve, opening_cents=opening, cap_cents=cap, bet_cents=bet
        )
        _wipe(self.store, self.ledger)
        commission(self.store, self.floor)
        capped = None if cap is None else cap * 10**6
        self.opening = opening * 10**6
        self.model = Model(bet, rate, reserve, capped, self.opening)
        in_force = FloorInForce(_Source(self.floor), self.store, time.monotonic)
        lookup = RoundLookup(self.store, RoundArchive(self.ledger))
        wins = WinStore(self.store._client, self.store)
        self.ends = RoundEnds(in_force, lookup, wins, lambda _: None)

    @rule(
        rounds=st.lists(
            st.tuples(st.sampled_from(TABLES), st.integers(1, 12), st.integers(0, 7), st.sampled_from("ab")),
            min_size=1,
            max_size=6,
        )
    )
    def post(self, rounds: list[tuple[str, int, int, str]]) -> None:
        items = [locked(self.floor, t, n, b, note=note) for t, n, b, note in rounds]
        outcomes = self.store.contribute(LINK, 1, self.floor.digest(LINK), [[item] for item in items])
        for (table, number, boxes, note), item, (outcome,) in zip(rounds, items, outcomes, strict=True):
            expected = self.model.post(table, number, boxes, note)
            record = outcome.record
            if outcome.outcome == "round_number_passed":
                record = recorded_round(self.ledger, table, number)
            if record is None:
                actual = "passed"
            elif record.body_hash != item.body_hash:
                actual = "different"
            else:
                actual = "new" if outcome.outcome == "recorded" else "same"
            assert actual == expected

    def _some_round(self, data: st.DataObject) -> tuple[str, int]:
        """Mostly a round that is there, sometimes one that may not be."""
        anything = st.tuples(st.sampled_from(TABLES), st.integers(1, 12))
        there = sorted(self.model.bodies)
        return data.draw(
            st.one_of(st.sampled_from(there), st.sampled_from(there), anything) if there else anything
        )

    @rule(data=st.data(), out=st.integers(0, 2))
    def end_by_result(self, data: st.DataObject, out: int) -> None:
        table, number = self._some_round(data)
        boxes = self.model.bodies.get((table, number), (0, ""))[0]
        out = min(out, boxes)
        cards = iter([str(card) for card in DECK])

        def deal() -> list[str]:
            return [next(cards) for _ in range(3)]

        body: dict[str, object] = {"dealer": deal(), "boxes": [], "incidents": []}
        if out:
            taken = list(range(1, out + 1))
            body["incidents"] = [{"what": "player_cards_wrong", "boxes": taken, "reconstructed": False}]
        body["boxes"] = [
            {"box": b, "cards": deal(), "decision": "play", "dealt_at": EARLY}
            for b in range(out + 1, max(boxes, 1) + 1)
        ]
        actual = _outcome(lambda: self.ends.record_result(table, number, msgspec.convert(body, RoundResult)))
        _same_outcome(actual, self.model.result(table, number, out))

    @rule(data=st.data(), when=st.sampled_from([EARLY, LATE]))
    def end_by_void(self, data: st.DataObject, when: str) -> None:
        table, number = self._some_round(data)
        body = msgspec.convert({"reason": "not_shuffled", "voided_at": when}, RoundVoid)
        actual = _outcome(lambda: self.ends.void(table, number, body))
        _same_outcome(actual, self.model.void(table, number, when))

    @rule(batch=st.integers(1, 5))
    def drain(self, batch: int) -> None:
        Drain(self.store, self.ledger, batch, 60).run(LINK)
        held = {"bets": -self.model.staked, "meter/major": self.model.value}
        held |= {"overflow/major": self.model.overflow, "reserve/major": self.model.reserve}
        held |= {"house": self.model.house - self.opening, "owed/major": -self.model.owed}
        actual = balances(self.ledger, LINK)
        assert {a: b for a, b in actual.items() if b} == {a: b for a, b in held.items() if b}
        assert sum(actual.values()) == 0
        assert check_link(self.ledger, LINK) == self.model.seq

    @invariant()
    def store_equals_model(self) -> None:
        if not hasattr(self, "model"):
            return
        state = self.store.meters([LINK])[0]
        assert (state.value, state.pot.overflow, state.pot.reserve, state.seq) == (
            self.model.value,
            self.model.overflow,
            self.model.reserve,
            self.model.seq,
        )


def _outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except Refused as refused:
        return refused.code
    return "taken"


def _same_outcome(actual: str, expected: str) -> None:
    codes = {"unknown": "round_unknown", "voided": "round_voided", "stands": "round_stands"}
    codes |= {"different": "exists_with_different_body", "new": "taken", "same": "taken"}
    assert actual == codes[expected]


def _wipe(store: LinkStore, ledger: Ledger) -> None:
    store._client.flushall()
    with ledger.writing() as session:
        for table in reversed(Base.metadata.sorted_tables):
            session.execute(table.delete())


def test_lua_and_ledger_agree_with_the_model(any_store: LinkStore, sqlite_ledger: Ledger) -> None:
    Contributions.store, Contributions.ledger = any_store, sqlite_ledger
    run_state_machine_as_test(
        Contributions,
        settings=settings(
            max_examples=100,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
