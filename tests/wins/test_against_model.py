"""The real thing against the second telling in `model.py`.

Tables, supervisors and the House do whatever they like, in any order and twice. Every answer, every balance
and every claim is compared after every step, the ledger whenever it has been brought up to date.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from controller.betting.messages import RoundBets
from controller.clock import from_text, to_text
from controller.errors import Refused
from controller.floor.definition import Floor
from controller.floor.file import parse_floor
from controller.ids import LinkId
from controller.jackpots.claims import Claim
from controller.results.messages import RoundVoid
from controller.services.attending import Attending
from controller.services.deciding import Deciding
from controller.services.floor_in_force import FloorInForce
from controller.services.house_desk import HouseDesk
from controller.services.presence import Presence
from controller.services.round_ends import RoundEnds
from controller.services.round_lookup import RoundLookup
from controller.services.rounds import Rounds
from controller.services.wins import Wins
from controller.store.connection import connect
from controller.store.link_store import LinkStore
from controller.store.win_store import WinStore
from controller.wins.messages import Heartbeat, Ordered, Paid, Proceed, Rejected, RoundWin, Undone, Verified
from models.archive import ClaimHistory, RoundArchive, balances
from models.audit import check_link
from models.base import Base
from models.engine import Ledger
from tests.support.floors import commission
from tests.support.servers import redis_server, server_binaries
from tests.wins.model import Claim as ModelClaim
from tests.wins.model import Dealt, Model, Pays, Terms
from workers.drain import Drain

LINK = LinkId("link")
ROYAL, STRAIGHT, QUADS = "royal_flush", "straight_flush", "four_of_a_kind"
ALIKE = {"claim_unknown": ("claim_state_wrong", "order_wrong"), "award_paid": ("nothing_to_undo",)}
"""A claim that cannot change any more may be known to the ledger alone: either refusal is true."""

FLOOR = """
version: 1
casino: Test
pay_tables:
  - id: pays
    game: MLP
    title: Pays
    lines: [{LINES}]
links:
  - id: link
    title: Link
    currency: USD
    pay_tables: [pays]
    progressive_bet_cents: {bet_cents}
    meters: [{{id: m, title: Meter, reset_cents: {reset_cents}, opening_cents: {opening_cents},
              rate_ppm: {rate_ppm}, reserve_ppm: {reserve_ppm}{CAP}}}]
    policy: {{{POLICY}, hold_limit_seconds: 0}}
tables: [{TABLES}]
"""


def floor_of(terms: Terms, tables: list[str]) -> Floor:
    """The floor file of these terms."""
    lines = []
    for hand, pays in terms.hands.items():
        what = f"share_ppm: {pays.share_ppm}" if pays.share_ppm else f"fixed_cents: {pays.fixed_cents}"
        funded = "" if pays.share_ppm else ", funded_by: meter"
        wager = str(pays.wager_back).lower()
        lines.append(f"{{hand: {hand}, meter: m, {what}{funded}, wager_returned: {wager}, rule: MLP 4.4}}")
    policy = {
        "verification": "required" if terms.verification else "not_required",
        "cross_table_order": "confirmed" if terms.confirmed else "automatic",
        "same_round": "share" if terms.share else "sequential",
        "floor": "reset" if terms.floor_is_reset else "none",
    }
    text = FLOOR.format(
        **vars(terms),
        LINES=", ".join(lines),
        CAP="" if terms.cap_cents is None else f", cap_cents: {terms.cap_cents}",
        POLICY=", ".join(f"{name}: {value}" for name, value in policy.items()),
        TABLES=", ".join(f"{{id: {name}, game: MLP, link: link, boxes: 7}}" for name in tables),
    )
    return parse_floor(text)


class _Source:
    """The one floor of a run."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor

    def version(self) -> int:
        return 1

    def load(self) -> tuple[int, Floor]:
        return 1, self._floor


def now() -> int:
    """Microseconds, never the same twice: what comes later was dealt later."""
    last = time.time_ns() // 1000
    while (instant := time.time_ns() // 1000) == last:
        pass
    return instant


def nobody(link: LinkId) -> None:
    """Drains are steps of the test."""


class Product:
    """Every real part that decides about wins, over one Redis and one ledger."""

    def __init__(self, store: LinkStore, ledger: Ledger, floor: Floor) -> None:
        store._client.flushall()
        commission(store, floor)
        self.store, self.ledger = store, ledger
        in_force = FloorInForce(_Source(floor), store, time.monotonic)
        archive = RoundArchive(ledger)
        lookup = RoundLookup(store, archive)
        self.wins = WinStore(store._client, store)
        deciding = Deciding(in_force, store, self.wins, nobody)
        self.rounds = Rounds(in_force, store, archive.bets, nobody)
        self.ends = RoundEnds(in_force, lookup, self.wins, nobody)
        self.claims = Wins(deciding, lookup)
        self.house = HouseDesk(deciding, ClaimHistory(ledger))
        self.presence = Presence(deciding, lookup)
        self.attending = Attending(deciding)


def empty(ledger: Ledger) -> None:
    """A ledger that has seen nothing."""
    with ledger.writing() as session:
        for table in reversed(Base.metadata.sorted_tables):
            session.execute(table.delete())


UNMEASURED = 10_000_000
"""How wrong a clock may be that was never compared with ours, in microseconds."""


@dataclass
class Table:
    """What is known of a table's time: when its hands were dealt, and which claims must wait for it."""

    clock: tuple[int, int, int] | None = None
    """What must be added to its time to get ours, how wrong that may be, and when it was measured."""
    live: bool = False
    beat: int = 0
    base: int = 0
    released: int = 0
    highest: int = 0
    open: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Rounds that may still bring a claim: not dealt before (by our clock), bets closed (by its own)."""
    recorded: dict[int, int] = field(default_factory=dict)

    def between(self, time: int, now: int) -> tuple[int, int]:
        """A moment of its clock by ours; a clock drifts a little since it was measured."""
        offset, error, measured = self.clock or (0, UNMEASURED, now)
        error += -((measured - now) // 10_000)
        return time + offset - error, time + offset + error

    def _since(self, closed: int, now: int) -> tuple[int, int]:
        return min(self.between(closed, now)[0], now), closed

    def dealt(self, number: int, closed: int, time: int, arrived: int) -> Dealt:
        """When a hand was dealt by our clock: after 'no more bets', before its claim came."""
        not_before = self.between(closed, arrived)[0]
        earliest = max(self.between(time, arrived)[0], not_before)
        latest = min(self.between(time, arrived)[1], arrived)
        if time < closed or earliest > latest:
            return Dealt(min(not_before, self.recorded[number], arrived), arrived, doubtful=True)
        return Dealt(earliest, latest, self.recorded[number] > (earliest if self.clock else latest))

    def holds(self, claim: ModelClaim, *, own: bool) -> bool:
        """Whether an earlier hand could still come from it; from the claim's own until its round is over."""
        if own:
            waits = min(self.open, default=claim.number + 1) <= claim.number
        else:
            frontier = min((lower for lower, _ in self.open.values()), default=self.base)
            waits = self.live and frontier <= claim.latest
        return waits and self.released <= claim.latest

    def bets(self, number: int, closed: int, now: int) -> None:
        """A round begins, and all before it are over."""
        later = {n: times for n, times in self.open.items() if n > number}
        self.open = {number: self._since(closed, now)} | later
        self.base = self.base if self.live else self.open[number][0]
        self.live, self.highest, self.recorded[number] = True, number, now

    def end(self, number: int) -> None:
        """A round is over: what comes after it was dealt after it."""
        self.base = max(self.base, self.open.pop(number, (0, 0))[0])

    def heartbeat(self, sent: int, clock: tuple[int, int] | None, named: dict[int, int], now: int) -> bool:
        """It names its unfinished rounds; whether that is the newest word."""
        if sent <= self.beat:
            return False
        self.beat, self.live, self.clock = sent, True, (*clock, now) if clock else self.clock
        known = {n: closed for n, (_, closed) in self.open.items() if n in named or closed > sent}
        lost = {n: closed for n, closed in named.items() if n > self.highest and closed <= sent}
        self.open = {n: self._since(closed, now) for n, closed in (lost | known).items()}
        self.base = self.between(sent, now)[0]
        return True


class Twins:
    """The product and the model, told the same things; times are the tables' own."""

    def __init__(self, product: Product, terms: Terms, tables: list[str]) -> None:
        self.product, self.model = product, Model(terms, self._held)
        self.tables = {name: Table() for name in tables}
        self.sent: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        """Every request so far: any of them may come again."""

    def _tell(self, call: Callable[[], Any], expect: Callable[[Any], str], *request: Any) -> Any:
        """The product's answer, which must be the model's; a repetition writes nothing."""
        self.sent.append((request[0], request[1:]))
        note(f"{request[0].__name__}{request[1:]}")
        before = self._seq()
        try:
            answer = call()
            outcome = ""
        except Refused as refused:
            answer, outcome = None, str(refused.code)
        expected = expect(answer)
        if outcome:
            assert expected == outcome or expected in ALIKE.get(outcome, ()), (expected, outcome)
        else:
            assert expected in ("new", "same"), expected
        assert (self._seq() > before) == (expected == "new"), (expected, outcome)
        return answer

    def _seq(self) -> int:
        head = self.product.store.head(LINK)
        assert head is not None
        return head.seq

    def bets(self, table: str, number: int, boxes: int, closed: int) -> None:
        rows: list[dict[str, object]] = [
            {"box": box, "progressive_cents": self.model.terms.bet_cents} for box in range(1, boxes + 1)
        ]
        body = _body({"bets_closed_at": to_text(closed), "boxes": rows or [{"box": 1}]}, RoundBets)

        def expect(answer: Any) -> str:
            told = self.model.bets(table, number, boxes, closed)
            if told == "new":
                self.tables[table].bets(number, closed, from_text(answer[1].recorded_at))
            return told

        call = self.product.rounds.record_bets
        self._tell(lambda: call(table, number, body), expect, self.bets, table, number, boxes, closed)

    def win(self, table: str, number: int, box: int, hand: str, dealt: int) -> None:
        body = _body({"box": box, "dealt_at": to_text(dealt), "hand": hand}, RoundWin)
        began = now()

        def expect(answer: Any) -> str:
            is_new = answer is not None and answer.claim.id not in self.model.claims
            when = self._dealt(answer.claim, began) if is_new else Dealt(0, 0)
            told = self.model.win(table, number, box, hand, dealt, when)
            if is_new and len(self.model.settled) < 2:
                assert answer.claim.late == self.model.claims[answer.claim.id].late
            return told

        call = self.product.claims.claim
        self._tell(lambda: call(table, number, body), expect, self.win, table, number, box, hand, dealt)

    def _dealt(self, claim: Claim, began: int) -> Dealt:
        """When a hand was dealt; its claim came between two instants, and its interval says when."""
        closed = self.model.rounds[claim.table, claim.round].closed
        ended = now()
        arrivals: list[int] = [claim.latest, *range(began, ended, 1_000), ended]
        for arrived in arrivals:
            when = self.tables[claim.table].dealt(claim.round, closed, claim.dealt_at, arrived)
            if began <= arrived <= ended and when[:2] == (claim.earliest, claim.latest):
                return when
        raise AssertionError(f"no arrival explains {claim}")

    def _held(self, claim: ModelClaim) -> bool:
        return any(table.holds(claim, own=name == claim.table) for name, table in self.tables.items())

    def void(self, table: str, number: int, when: int, by: tuple[str, ...]) -> None:
        plain = {"reason": "not_shuffled", "voided_at": to_text(when), "authorised_by": list(by)}
        body, call = _body(plain, RoundVoid), self.product.ends.void

        def expect(_: Any) -> str:
            told = self.model.void(table, number, when, by)
            if told == "new":
                self.tables[table].end(number)
            return told

        self._tell(lambda: call(table, number, body), expect, self.void, table, number, when, by)

    def verify(self, claim: str, by: str) -> None:
        call = self.product.house.verify
        body = Verified(by=by)
        self._tell(lambda: call(claim, body), lambda _: self.model.verify(claim, by), self.verify, claim, by)

    def reject(self, claim: str) -> None:
        call, body = self.product.house.reject, Rejected(by="supervisor", reason="miscalled")
        self._tell(lambda: call(claim, body), lambda _: self.model.reject(claim), self.reject, claim)

    def pay(self, claim: str, by: tuple[str, ...]) -> None:
        call, body = self.product.house.pay, Paid(by=list(by))
        self._tell(lambda: call(claim, body), lambda _: self.model.pay(claim, by), self.pay, claim, by)

    def order(self, claims: list[str]) -> None:
        call, body = self.product.house.order, Ordered(claims=claims, by="house", reason="seen")
        held = self.product.wins.state(LINK).claims

        def expect(_: Any) -> str:
            return self.model.order(claims) if all(name in held for name in claims) else "order_wrong"

        self._tell(lambda: call(LINK, body), expect, self.order, claims)

    def undo(self, claims: list[str], by: tuple[str, ...]) -> None:
        call, body = self.product.house.undo, Undone(by=list(by), reason="order", claims=claims)
        told = self.model.undo
        self._tell(lambda: call(LINK, "m", body), lambda _: told(claims, by), self.undo, claims, by)

    def proceed(self, table: str) -> None:
        call, body = self.product.house.proceed, Proceed(table=table, by="house", reason="silent")

        def expect(_: Any) -> str:
            known = self.tables[table]
            held = [c.latest for c in self.model.pending() if known.holds(c, own=table == c.table)]
            known.released = max(held, default=known.released - 1) + 1
            return "new" if held else "table_holds_nothing"

        self._tell(lambda: call(LINK, body), expect, self.proceed, table)

    def close(self, table: str, number: int) -> None:
        def expect(_: Any) -> str:
            known = self.tables[table]
            is_open = number in known.open
            if (table, number) not in self.model.rounds:
                return "round_unknown"
            known.end(number)
            return "new" if is_open else "same"

        call = self.product.presence.close_round
        self._tell(lambda: call(table, number), expect, self.close, table, number)

    def close_table(self, table: str) -> None:
        def expect(_: Any) -> str:
            known = self.tables[table]
            if known.open:
                return "round_open"
            if not known.live:
                return "same"
            # What it sent before is overtaken by that.
            known.live, known.beat = False, max(known.beat, began - (known.clock or (0,))[0])
            return "new"

        began = now()
        self._tell(lambda: self.product.presence.close_table(table), expect, self.close_table, table)

    def heartbeat(
        self, table: str, sent: int, clock: tuple[int, int] | None, rounds: tuple[tuple[int, int], ...]
    ) -> None:
        """A table's word; `clock`, if its last exchange tells it: its offset and how wrong that may be."""
        named = [{"round": n, "bets_closed_at": to_text(closed)} for n, closed in rounds]
        plain: dict[str, object] = {"sent_at": to_text(sent), "rounds": named}
        if clock is not None:
            offset, error = clock
            there = to_text(sent + offset + error)
            plain["last_exchange"] = {"sent_at": to_text(sent), "received_at": there, "answered_at": there}
            plain["last_exchange"] |= {"got_at": to_text(sent + 2 * error)}  # type: ignore[operator]
        self.sent.append((self.heartbeat, (table, sent, clock, rounds)))
        note(f"heartbeat{(table, sent, clock, rounds)}")
        answer = self.product.presence.heartbeat(table, _body(plain, Heartbeat))
        taken_at = from_text(answer.answered_at)
        assert answer.taken == self.tables[table].heartbeat(sent, clock, dict(rounds), taken_at)

    def drain(self) -> None:
        """Bring the ledger up to date, and compare it."""
        Drain(self.product.store, self.product.ledger, 100, 60).run(LINK)
        actual = balances(self.product.ledger, LINK)
        assert sum(actual.values()) == 0
        plain = {name.removesuffix("/m"): amount for name, amount in actual.items() if amount}
        assert plain == self.model.accounts()
        assert check_link(self.product.ledger, LINK) == self._seq()

    def attend(self, ledgered_seq: int) -> bool:
        """Settle one meter, if the ledger is far enough; whether anything was due."""
        done = self.product.attending.step(LINK, ledgered_seq)
        if done is not None:
            assert self.model.attend() != []
        return done is not None

    def work(self) -> None:
        """What a worker does: settle until nothing is due."""
        self.drain()
        while self.attend(self.product.store.released(LINK)):
            self.agree()
            self.drain()
        assert self.model.due() == []

    def agree(self) -> None:
        """The store holds what the model holds."""
        model = self.model
        state = self.product.store.meters([LINK])[0]
        pot = state.pot
        held = (pot.value, pot.overflow, pot.reserve, pot.owed)
        told = (model.value, model.overflow, model.reserve, model.owed)
        assert held == told, (held, told)
        assert [r.claim for r in pot.registrations] == model.points
        assert state.status == ("won" if model.stream else "running")
        if pot.effect_seq <= state.released:
            assert state.shown_value == model.shown
        waiting = model.needs_house()
        for claim in self.product.wins.state(LINK).claims.values():
            mine = model.claims[claim.id]
            amount = claim.amount_cents if claim.status in ("awarded", "paid") else None
            assert (claim.status, amount) == (mine.status, mine.amount), claim
            assert (claim.earliest, claim.latest) == (mine.earliest, mine.latest)
            assert bool(claim.doubts) == (claim.id in waiting), (claim, waiting)


def _body(plain: dict[str, Any], kind: Any) -> Any:
    return msgspec.convert(plain, kind)


@dataclass
class Played:
    """A round as its table knows it."""

    boxes: int
    closed: int
    sent: bool = False
    over: bool = False
    hands: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Winning boxes, with the hand and the moment of the third card."""


UNSURE = 9_000_000
"""An error of clocks that no run outlasts: whether deals overlap must not depend on how fast we are."""
MEASURED = st.sampled_from(["exactly", "exactly", "exactly", "roughly", "not at all"])


@dataclass
class Device:
    """A table's own device, whose clock is `skew` behind ours."""

    name: str
    skew: int
    rounds: dict[int, Played] = field(default_factory=dict, repr=False)

    def time(self) -> int:
        return now() - self.skew

    def beat(self, measured: str) -> tuple[Any, ...]:
        """A heartbeat with a last exchange that took no time, or so long that it tells next to nothing."""
        named = tuple((n, p.closed) for n, p in self.rounds.items() if not (p.sent and p.over))
        clocks = {"exactly": (self.skew, 0), "roughly": (self.skew + UNSURE // 2, UNSURE)}
        return self.name, self.time(), clocks.get(measured), named


Draw = Callable[[st.SearchStrategy[Any]], Any]
PEOPLE = st.sampled_from([("ann",), ("ann", "bob"), ("bob", "cy")])


class Floors(RuleBasedStateMachine):
    """Random commands by two to four tables and everybody else."""

    store: LinkStore
    ledger: Ledger

    @initialize(
        numbers=st.fixed_dictionaries(
            {
                "bet_cents": st.sampled_from([1, 99, 500]),
                "rate_ppm": st.sampled_from([0, 333_333, 700_000, 1_000_000]),
                "reset_cents": st.sampled_from([0, 1000, 2500]),
                "opening_cents": st.sampled_from([0, 1003, 3000, 9_007_199_254]),
            }
        ),
        room=st.one_of(st.none(), st.sampled_from([0, 1, 700, 3000])),
        share=st.sampled_from([1, 100_000, 333_333, 999_999]),
        fixed=st.sampled_from([1, 700, 50_000]),
        policy=st.fixed_dictionaries(
            {
                "verification": st.sampled_from([True, True, False]),
                "confirmed": st.sampled_from([False, False, True]),
                "share": st.booleans(),
                "floor_is_reset": st.booleans(),
            }
        ),
        clocks=st.lists(
            st.tuples(st.sampled_from([0, 2_000_000, -3_000_000]), MEASURED), min_size=2, max_size=4
        ),
    )
    def open_floor(
        self,
        numbers: dict[str, int],
        room: int | None,
        share: int,
        fixed: int,
        policy: dict[str, bool],
        clocks: list[tuple[int, str]],
    ) -> None:
        hands = {ROYAL: Pays(1_000_000), STRAIGHT: Pays(share, wager_back=True), QUADS: Pays(None, fixed)}
        least = max(numbers["reset_cents"], numbers["opening_cents"], 1)
        cap = None if room is None else least + room
        reserve = min(200_000, 1_000_000 - numbers["rate_ppm"])
        terms = Terms(hands, **numbers, **policy, reserve_ppm=reserve, cap_cents=cap)  # type: ignore[arg-type]
        self.devices = [
            Device(name, 0 if measured == "not at all" else skew)
            for name, (skew, measured) in zip("ABCD", clocks, strict=False)
        ]
        names = [device.name for device in self.devices]
        empty(self.ledger)
        self.twins = Twins(Product(self.store, self.ledger, floor_of(terms, names)), terms, names)
        self.model = self.twins.model
        self.held_back: list[tuple[Any, ...]] = []
        for device, (_, measured) in zip(self.devices, clocks, strict=True):
            self.twins.heartbeat(*device.beat(measured))

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """One command. They are drawn here, not as rules of their own, so that no run goes without any."""
        possible = [name for name, (often, needed) in COMMANDS.items() for _ in range(often) if needed(self)]
        getattr(self, data.draw(st.sampled_from(possible)))(data.draw)

    def _rounds(self, wanted: Callable[[Played], bool]) -> list[tuple[Device, int]]:
        return [(d, n) for d in self.devices for n, played in d.rounds.items() if wanted(played)]

    def sent(self) -> list[tuple[Device, int]]:
        return self._rounds(lambda played: played.sent)

    def unfinished(self) -> list[tuple[Device, int]]:
        return self._rounds(lambda played: played.sent and not played.over)

    def undealt(self) -> list[tuple[Device, int]]:
        """Rounds at whose tables cards may be dealt: no later one has begun."""
        found = self._rounds(lambda played: not played.hands and played.boxes > 0)
        return [(d, n) for d, n in found if n == len(d.rounds)]

    def winners(self) -> list[tuple[Device, int, int]]:
        standing = [(d, n) for d, n in self.sent() if self.model.rounds[d.name, n].void is None]
        hands = [(d, n, box) for d, n in standing for box in d.rounds[n].hands]
        return [(d, n, box) for d, n, box in hands if f"{d.name}.{n}.{box}" not in self.model.claims]

    def named(self, *statuses: str) -> list[str]:
        return [c.name for c in self.model.claims.values() if c.status in statuses]

    def _send(self, device: Device, number: int) -> None:
        played = device.rounds[number]
        self.twins.bets(device.name, number, played.boxes, played.closed)
        played.sent = True

    def bet(self, draw: Draw) -> None:
        """No more bets; the message may be under way for a while."""
        device = draw(st.sampled_from(self.devices))
        unsent = [number for number, played in device.rounds.items() if not played.sent]
        if unsent:
            self._send(device, unsent[0])
            return
        number = len(device.rounds) + 1
        for played in device.rounds.values():
            played.over = True
        device.rounds[number] = Played(draw(st.integers(0, 4)), device.time())
        if draw(st.integers(0, 4)) < 4:
            self._send(device, number)

    def deal(self, draw: Draw) -> None:
        """Winning hands are dealt, clockwise; equal ones side by side, so that sharing needs no choice."""
        device, number = draw(st.sampled_from(self.undealt()))
        hands = draw(st.lists(st.sampled_from([ROYAL, STRAIGHT, QUADS]), min_size=1, max_size=3))
        played = device.rounds[number]
        for box, hand in zip(range(1, played.boxes + 1), sorted(hands), strict=False):
            played.hands[box] = (hand, device.time())

    def claim(self, draw: Draw) -> None:
        """A win arrives, in any order; sometimes with a time that cannot be."""
        device, number, box = draw(st.sampled_from(self.winners()))
        hand, dealt = device.rounds[number].hands[box]
        wrong = draw(st.sampled_from([0] * 10 + [-60_000_000, 60_000_000]))
        self.twins.win(device.name, number, box, hand, dealt + wrong)

    def verify(self, draw: Draw) -> None:
        self.twins.verify(draw(st.sampled_from(self.named("registered"))), draw(st.sampled_from("ab")))

    def reject(self, draw: Draw) -> None:
        self.twins.reject(draw(st.sampled_from(self.named("registered", "verified"))))

    def may_order(self) -> bool:
        """Under `share`, only once all equal hands of a round are here: see the module's remark."""
        missing = {(d.name, n, d.rounds[n].hands[box][0]) for d, n, box in self.winners()}
        waiting = {c.prize for c in self.model.pending()}
        return bool(waiting) and not (self.model.terms.share and missing & waiting)

    def may_undo(self) -> bool:
        """Not where anything has overflowed since: see the module's remark."""
        spilt = [self.model.overflow, *(n for s in self.model.settled for n in (s.before[1], s.after[1]))]
        return bool(self.model.settled) and not any(spilt)

    def order(self, draw: Draw) -> None:
        """The House may order as it likes; hands that share an award stay together."""
        groups: dict[object, list[str]] = {}
        for claim in self.model.pending():
            groups.setdefault(claim.prize if self.model.terms.share else claim.name, []).append(claim.name)
        ordered = draw(st.permutations(list(groups.values())))
        self.twins.order([name for group in ordered for name in group])

    def pay(self, draw: Draw) -> None:
        self.twins.pay(draw(st.sampled_from(self.named("awarded"))), draw(PEOPLE))

    def undo(self, draw: Draw) -> None:
        self.twins.undo([c.name for c in self.model.settled[-1].claims], draw(PEOPLE))

    def void(self, draw: Draw) -> None:
        """A round is void, declared now or as soon as its bets were closed."""
        self._void(draw, self.voidable(won=False))

    def void_win(self, draw: Draw) -> None:
        """A round is void that something was, or may be, won in."""
        self._void(draw, self.voidable(won=True))

    def voidable(self, *, won: bool) -> list[tuple[Device, int]]:
        claimed = {(c.table, c.number) for c in self.model.claims.values()}
        found = [(d, n) for d, n in self.sent() if ((d.name, n) in claimed) == won]
        return found if not won or not self.model.settled or self.may_undo() else []

    def _void(self, draw: Draw, rounds: list[tuple[Device, int]]) -> None:
        device, number = draw(st.sampled_from(rounds))
        when = device.time() if draw(st.integers(0, 2)) == 0 else device.rounds[number].closed + 1
        own = [c for c in self.model.pending() if (c.table, c.number) == (device.name, number)]
        alone = st.just(()) if all(c.name in self.model.points for c in own) else PEOPLE
        self.twins.void(device.name, number, when, draw(st.one_of(PEOPLE, alone)))
        device.rounds[number].over = True

    def close(self, draw: Draw) -> None:
        device, number = draw(st.sampled_from(self.unfinished()))
        self.twins.close(device.name, number)
        device.rounds[number].over = True

    def heartbeat(self, draw: Draw) -> None:
        """A heartbeat, which others may overtake; a round that it no longer names is over."""
        device = draw(st.sampled_from(self.devices))
        over = draw(st.booleans())
        for played in device.rounds.values():
            played.over |= over
        beat = device.beat(draw(MEASURED))
        if draw(st.integers(0, 2)) < 2:
            self.twins.heartbeat(*beat)
        else:
            self.held_back.append(beat)

    def late_heartbeat(self, draw: Draw) -> None:
        self.twins.heartbeat(*self.held_back.pop(draw(st.integers(0, len(self.held_back) - 1))))

    def proceed(self, draw: Draw) -> None:
        self.twins.proceed(draw(st.sampled_from(self.devices)).name)

    def close_table(self, draw: Draw) -> None:
        self.twins.close_table(draw(st.sampled_from(self.devices)).name)

    def drain(self, _: Draw) -> None:
        self.twins.drain()

    def attend(self, _: Draw) -> None:
        """A worker whose ledger may be behind."""
        self.twins.attend(self.store.released(LINK))

    def work(self, _: Draw) -> None:
        self.twins.work()

    def forget(self, _: Draw) -> None:
        """A sweep lets go of what the ledger answers for."""
        self.twins.product.attending.forget(LINK, self.store.released(LINK))

    def repeat(self, draw: Draw) -> None:
        """Any request comes again."""
        call, words = draw(st.sampled_from([s for s in self.twins.sent if self.may_repeat(*s)]))
        call(*words)

    def may_repeat(self, call: Callable[..., None], words: tuple[Any, ...]) -> bool:
        """Not what undoes where we do not undo, nor a supervisor's word on what the House must order."""
        if call == self.twins.verify:
            return words[0] not in self.model.needs_house()
        return call not in (self.twins.undo, self.twins.void) or self.may_undo()

    def round_off(self, draw: Draw) -> None:
        """All is verified, all tables are heard of, some are done, the House orders what it must: awards."""
        for name in self.named("registered"):
            self.twins.verify(name, "a")
        for device in self.devices:
            for number in [n for n, played in device.rounds.items() if not played.sent]:
                self._send(device, number)
            done = draw(st.integers(0, 3)) > 0
            for played in device.rounds.values():
                played.over |= done
        for device in self.devices:
            self.twins.heartbeat(*device.beat("exactly"))
        if self.model.needs_house() and self.may_order():
            self.order(draw)
        self.twins.work()

    @invariant()
    def agree(self) -> None:
        if hasattr(self, "twins"):
            self.twins.agree()


def always(_: Floors) -> bool:
    return True


COMMANDS: dict[str, tuple[int, Callable[[Floors], object]]] = {
    "bet": (6, always),
    "deal": (5, Floors.undealt),
    "claim": (10, Floors.winners),
    "verify": (3, lambda self: self.named("registered")),
    "reject": (1, lambda self: self.named("registered", "verified")),
    "order": (2, Floors.may_order),
    "pay": (1, lambda self: self.named("awarded")),
    "undo": (2, Floors.may_undo),
    "void": (1, lambda self: self.voidable(won=False)),
    "void_win": (2, lambda self: self.voidable(won=True)),
    "close": (1, Floors.unfinished),
    "heartbeat": (3, always),
    "late_heartbeat": (2, lambda self: self.held_back),
    "proceed": (1, lambda self: self.model.pending()),
    "close_table": (1, always),
    "drain": (1, always),
    "attend": (1, lambda self: self.model.pending()),
    "work": (1, always),
    "forget": (1, lambda self: self.model.claims),
    "repeat": (3, lambda self: any(self.may_repeat(*sent) for sent in self.twins.sent)),
    "round_off": (4, lambda self: self.model.pending()),
}
"""What may happen, how often, and what it takes."""


@pytest.fixture(scope="module")
def quick_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinkStore]:
    """A server that need not survive: nothing here is about durability, and much of it is many commands."""
    folder = tmp_path_factory.mktemp("quick")
    with redis_server(server_binaries()["valkey-9"], folder, "--appendonly", "no") as url:
        client = connect(url)
        yield LinkStore(client)
        client.close()


@pytest.mark.timeout(900)  # a failure is made as small as it can be, which takes its time
def test_wins_agree_with_the_model(quick_store: LinkStore, sqlite_ledger: Ledger) -> None:
    Floors.store, Floors.ledger = quick_store, sqlite_ledger
    run_state_machine_as_test(
        Floors,
        settings=settings(
            max_examples=100,
            stateful_step_count=50,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
