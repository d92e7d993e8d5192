"""The Lua path against a second telling that shares no code with it.

Hypothesis posts rounds, retries, conflicts and batches to a real Redis, lets the ledger take the
journal at random moments, and compares every answer and every balance with plain Python integers.
"""

from dataclasses import dataclass, field

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from controller.floor.definition import Floor
from controller.store.link_store import LinkStore
from models.archive import balances, recorded_round
from models.audit import check_link
from models.base import Base
from models.engine import Ledger
from tests.support.floors import LINK, commission, locked, small_floor
from workers.drain import Drain

TABLES = ("T-1", "T-2", "T-3")


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
    seq: int = 1
    highest: dict[str, int] = field(default_factory=dict)
    bodies: dict[tuple[str, int], tuple[int, str]] = field(default_factory=dict)

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
        room = contribution if self.cap is None else min(contribution, self.cap - self.value)
        self.value += room
        self.overflow += contribution - room
        self.reserve += reserve
        self.house += stake * 1_000_000 - contribution - reserve
        self.staked += stake * 1_000_000
        self.seq += 1
        return "new"


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

    @rule(batch=st.integers(1, 5))
    def drain(self, batch: int) -> None:
        Drain(self.store, self.ledger, batch, 60).run(LINK)
        held = {"bets": -self.model.staked, "meter/major": self.model.value}
        held |= {"overflow/major": self.model.overflow, "reserve/major": self.model.reserve}
        held["house"] = self.model.house - self.opening
        actual = balances(self.ledger, LINK)
        assert {a: b for a, b in actual.items() if b} == {a: b for a, b in held.items() if b}
        assert sum(actual.values()) == 0
        assert check_link(self.ledger, LINK) == self.model.seq

    @invariant()
    def store_equals_model(self) -> None:
        if not hasattr(self, "model"):
            return
        state = self.store.meters([LINK])[0]
        assert (state.value, state.overflow, state.reserve, state.seq) == (
            self.model.value,
            self.model.overflow,
            self.model.reserve,
            self.model.seq,
        )


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
            max_examples=60,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
