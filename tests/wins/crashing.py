"""A casino in which somebody is killed at every step: `python -m tests.wins.crashing VICTIM NEXT`.

One process plays the tables and the people. It forks an API and a worker, real ones, and passes on every
request and every message itself, so that a run is the same whenever it is repeated. Each script call and each
commit has a crash point before and after it. Only a release has none before it, and none after it where it
let go of nothing: nothing has happened since the point before.

Run N kills the victim with SIGKILL at the Nth point of every step, which is a request or a sweep. What was
killed is started again and remembers nothing; a request that got no answer is sent again with the same body.
The last run is the first in which no step has so many points: nobody was killed, and the others are compared
with it. Each run is a line of JSON.

VICTIM is `api`, `worker` or `redis`. NEXT `again`: what the victim had is sent to it again at once. `later`:
an API gets it after a worker has swept; a worker's message is lost, and its work waits for whoever asks next.
A Redis belongs to whoever started this program: a line of JSON asks for its death, an empty line says that it
is there again. It dies with the answer to a script that it has run.
"""

import gc
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Literal, NoReturn, Protocol, cast

import redis
from redis.exceptions import ConnectionError as Disconnected
from sqlalchemy import Engine, event, select
from sqlalchemy.orm import Session

import api.parts
import models.in_force
from api.app import create_app
from controller.clock import to_text
from controller.errors import JackpotError, StoreUnavailable
from controller.floor.file import parse_floor
from controller.ids import LinkId
from controller.services import deciding
from controller.settings import load_settings
from controller.store.connection import PinnedConnections, connect
from controller.store.link_store import LinkStore
from controller.store.scripts import load_scripts
from deploy.prepare import apply_floor, first_keys, prepare_database
from models.archive import balances
from models.audit import check_link
from models.claims import list_claims
from models.engine import Ledger
from models.ledger import AuditEntry, PostingRow

Role = Literal["api", "worker"]
Victim = Literal["api", "worker", "redis"]
Next = Literal["again", "later"]

# An evening.

LINKS = (LinkId("multi"), LinkId("three"))
FLOOR = """
version: 1
casino: Crashing
pay_tables:
  - id: mlp
    game: MLP
    title: Multi-Link
    lines:
      - {hand: royal_flush, meter: m, share_ppm: 1_000_000, rule: MLP 4.4}
      - {hand: straight_flush, meter: m, share_ppm: 100_000, rule: MLP 4.4}
  - id: tcp
    game: TCP
    title: Three Card
    lines:
      - {hand: akq_spades, meter: t, share_ppm: 1_000_000, envy_cents: 25_000, rule: TCP 4.4}
      - {hand: akq_other_suit, fixed_cents: 125_000, envy_cents: 5_000, rule: TCP 4.4}
      - {hand: straight, fixed_cents: 1_500, rule: TCP 4.4}
links:
  - id: multi
    title: Multi
    currency: USD
    pay_tables: [mlp]
    progressive_bet_cents: 10_000
    meters:
      - {id: m, title: Major, reset_cents: 2_000_000, opening_cents: 10_000_000, rate_ppm: 1_000_000}
  - id: three
    title: Three
    currency: USD
    pay_tables: [tcp]
    progressive_bet_cents: 500
    meters:
      - id: t
        title: Major
        reset_cents: 100_000
        opening_cents: 500_000
        rate_ppm: 172_533
        reserve_ppm: 30_000
tables:
  - {id: A, game: MLP, link: multi, boxes: 7}
  - {id: B, game: MLP, link: multi, boxes: 7}
  - {id: C, game: MLP, link: multi, boxes: 7}
  - {id: P, game: TCP, link: three, boxes: 7}
  - {id: Q, game: TCP, link: three, boxes: 7}
"""
STAKES = {"A": 10_000, "B": 10_000, "C": 10_000, "P": 500, "Q": 500}
PLACED = [
    {"box": 1, "player": "ann", "ante_cents": 1000, "progressive_cents": 500},
    {"box": 2, "player": "bob", "ante_cents": 1000},
    {"box": 3, "player": "cid", "ante_cents": 1000, "progressive_cents": 500},
    {"box": 4, "ante_cents": 1000, "progressive_cents": 500},
    {"box": 5, "player": "eve", "ante_cents": 1000, "progressive_cents": 500},
]
"""Box 2 has no progressive bet, box 4 no name."""
SHOWN: list[dict[str, Any]] = [
    {"box": 1, "cards": ["AS", "KS", "QS"], "decision": "play"},
    {"box": 2, "cards": ["AH", "KH", "QH"], "decision": "play"},
    {"box": 3, "cards": ["AD", "KD", "QD"], "decision": "play"},
    {"box": 4, "cards": ["4C", "5D", "6H"], "decision": "play"},
    {"box": 5, "cards": ["2S", "7D", "9C"], "decision": "fold"},
]
"""A major, a trigger, a minor that a person pays, a minor that the dealer pays, a fold."""
DEALER = ["3C", "7H", "9S"]
SEEN = ["B.1.1", "A.1.1", "P.1.1", "P.1.2", "P.1.4.envy1", "P.1.4.envy2", "P.1.4.envy3"]
"""What a supervisor verifies: majors, the trigger, and bonuses of the box without a name."""
PAID = {
    "A.1.1": ["ada", "max"],
    "B.1.1": ["ada", "max"],
    "P.1.1": ["ada"],
    "P.1.3": ["ada"],
    "P.1.3.envy1": ["ada"],
}
PAID_AT_THE_TABLE = "P.1.4.envy2"
CLOCK_ERROR_US = 200
JOIN_SECONDS = 10
MOMENT_SECONDS = 0.001
"""Longer than the clocks' error: what is this far apart has an order beyond doubt."""


class Controller(Protocol):
    """What tables and people speak to."""

    def request(self, path: str, body: object, key: str) -> None:
        """Ask until it is answered."""

    def sweep(self) -> None:
        """Wait until workers have done all that there is to do."""


class Evening:
    """Two majors on one meter in reverse order of arrival; a false claim, a major, minors, envy; payment."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._sent: list[tuple[str, object, str]] = []
        self._rounds: dict[str, int] = {}

    def play(self) -> None:
        """From the first heartbeat to the last payment."""
        self._beats(measured=True)
        for table in "ABCPQ":
            self._bets(table)
        dealt = {table: _moment() for table in "ABPQ"}
        _moment()
        self._win("B", "royal_flush", dealt)
        self._bets("C")
        self._win("A", "straight_flush", dealt)
        self._win("Q", "akq_spades", dealt)
        self._bets("Q")
        self._win("P", "akq_spades", dealt)
        for table in "CQ":
            self._bets(table)
        boxes = [{**row, "dealt_at": dealt["P"]} for row in SHOWN]
        self._table("P", "rounds/1/result", {"dealer": DEALER, "boxes": boxes})
        self._send("/v1/claims/Q.1.1/reject", {"by": "supervisor", "reason": "miscalled"}, "operator")
        for claim in SEEN:
            self._send(f"/v1/claims/{claim}/verify", {"by": "supervisor"}, "operator")
        self._table("A", "rounds/1/close", {})
        self._beats(measured=False)
        self._controller.sweep()
        for claim, people in PAID.items():
            self._send(f"/v1/claims/{claim}/pay", {"by": people}, "operator")
        self._table("P", f"claims/{PAID_AT_THE_TABLE}/paid", {"by": ["dealer"]})
        self._bets("P")
        self._controller.sweep()

    def say_again(self) -> None:
        """Everybody repeats every request, as if none had been answered."""
        for path, body, key in self._sent:
            self._controller.request(path, body, key)
        self._controller.sweep()

    def _send(self, path: str, body: object, key: str) -> None:
        self._sent.append((path, body, key))
        self._controller.request(path, body, key)

    def _table(self, table: str, path: str, body: object) -> None:
        self._send(f"/v1/tables/{table}/{path}", body, table)

    def _bets(self, table: str) -> None:
        number = self._rounds[table] = self._rounds.get(table, 0) + 1
        alone = [{"box": 1, "player": f"p{table}", "ante_cents": 1000, "progressive_cents": STAKES[table]}]
        body = {"bets_closed_at": _moment(), "boxes": PLACED if table == "P" else alone}
        self._table(table, f"rounds/{number}/bets", body)

    def _win(self, table: str, hand: str, dealt: dict[str, str]) -> None:
        self._table(table, "rounds/1/wins", {"box": 1, "dealt_at": dealt[table], "hand": hand})

    def _beats(self, *, measured: bool) -> None:
        """Heartbeats of tables that have nothing open, after all that was dealt."""
        body: dict[str, Any] = {"sent_at": _moment(), "rounds": []}
        if measured:
            sent = time.time_ns() // 1000
            times = {"sent_at": 0, "received_at": 1, "answered_at": 1, "got_at": 2}
            body["last_exchange"] = {name: to_text(sent + n * CLOCK_ERROR_US) for name, n in times.items()}
        for table in STAKES:
            self._table(table, "heartbeat", body)


def _moment() -> str:
    """Let a moment pass; the time in the middle of it."""
    time.sleep(MOMENT_SECONDS)
    middle = to_text(time.time_ns() // 1000)
    time.sleep(MOMENT_SECONDS)
    return middle


def outcome(ledger: Ledger, store: LinkStore) -> dict[str, Any]:
    """All that must not depend on who was killed when; what must hold by itself is checked on the way."""
    found: dict[str, Any] = {"balances": {}, "entries": {}, "meters": {}, "payable": {}}
    for link in LINKS:
        head = store.head(link)
        seq = head.seq if head else None
        if (store.backlog(link)[0], store.released(link), check_link(ledger, link)) != (0, seq, seq):
            raise Failure(f"link {link}: the ledger does not have all of the journal")
        found["balances"][link] = balances(ledger, link)
        with ledger.reading() as session:
            rows = session.execute(
                select(AuditEntry.kind, AuditEntry.round, AuditEntry.postings).where(AuditEntry.link == link)
            )
            found["entries"][link] = sorted(" ".join(row) for row in rows)
    for meter in store.meters(LINKS):
        pot = meter.pot
        found["meters"][pot.id] = [meter.status, pot.value, pot.overflow, pot.reserve, pot.owed, pot.cycle]
    claims = [item.claim for item in list_claims(ledger)]
    found["claims"] = {c.id: [c.kind, c.status, c.amount_cents, c.verified_by, c.paid_by] for c in claims}
    with ledger.reading() as session:
        lines = session.execute(
            select(PostingRow.account, PostingRow.amount)
            .where(PostingRow.account.startswith("payable/"))
            .order_by(PostingRow.seq, PostingRow.line)
        )
        for account, amount in lines:
            found["payable"].setdefault(account.partition("/")[2], []).append(amount)
    return found


# Those who are killed.


class CrashPoints:
    """Counts the steps of a process, and strikes at one of them."""

    def __init__(self, line: Connection, victim: Victim) -> None:
        self._line = line
        self._victim = victim
        self._step = self._reached = 0
        self._last: int | None = None
        self.passed: list[str] = []
        """Since it was last asked."""

    def begin(self, step: int, last: int | None) -> None:
        """Another step of the evening, or more of the same one; None: it has been struck already."""
        if step != self._step:
            self._step, self._reached = step, 0
        self._last = last
        self.passed = []

    def install(self) -> None:
        """Put points around each script call and each commit of this process."""
        points, once = self, PinnedConnections._once
        scripts = {script.sha: script for script in load_scripts().values()}

        def called(self: PinnedConnections, words: tuple[str, ...]) -> object:
            script = scripts.get(words[1])
            if script is None:
                return once(self, words)
            kind = 3 + len(script.keys) + script.args.index("kind") if "kind" in script.args else None
            name = words[kind] if kind else script.name
            if name != "release":
                points.reach(f"before {name}")
            reply = once(self, words)
            if reply != 0:
                points.reach(f"after {name}")
                points.lose_answer(self, name)
            return reply

        PinnedConnections._once = called  # type: ignore[method-assign]
        event.listen(Engine, "commit", lambda _: points.reach("before commit"))
        event.listen(Session, "after_commit", lambda _: points.reach("after commit"))

    def reach(self, name: str) -> None:
        """A step is about to be taken, or has been: maybe the last one."""
        if self._victim != "redis" and self._strikes(name):
            self._line.send(("dying", name))
            os.kill(os.getpid(), signal.SIGKILL)

    def lose_answer(self, connections: PinnedConnections, name: str) -> None:
        """The server has run a script: maybe its last one, and nobody will hear of it."""
        if self._victim == "redis" and self._strikes(f"after {name}"):
            self._line.send(("redis", f"after {name}"))
            self._line.recv()
            connections._own.connection.disconnect()
            raise Disconnected("the server was killed")

    def _strikes(self, name: str) -> bool:
        self._reached += 1
        self.passed.append(name)
        return self._reached == self._last


def _workers() -> Any:
    """The worker's module reads the settings when it is imported: only this program has them."""
    from workers import main

    return main


class Asking:
    """The API's way to ask for a drain: the driver decides whether a worker hears of it."""

    line: Connection | None = None

    def __init__(self, *_: object) -> None:
        """Takes what the real one takes, and nothing of it: a run must not depend on a thread's pace."""

    def __call__(self, link: LinkId) -> None:
        """Ask, and go on when the driver says so; in a rehearsal there is no driver."""
        if self.line is None:
            _workers().drain(link)
        else:
            self.line.send(("nudge", link))
            self.line.recv()


@dataclass
class House:
    """The parts of an API and a worker in a process that has connected to nothing yet."""

    parts: api.parts.Parts
    app: Any
    keys: dict[str, str]

    @classmethod
    def build(cls, keys: dict[str, str]) -> "House":
        """Real parts. What only costs time is done once, here; what a worker is sent, it does at once."""
        vars(models.in_force)["parse_floor"] = cache(parse_floor)
        deciding._PAUSE_SECONDS = 0.0
        _workers().app.conf.update(task_always_eager=True, task_eager_propagates=True)
        vars(api.parts)["Nudges"] = Asking
        parts = api.parts.assemble(load_settings())
        return cls(parts, create_app(parts), keys)

    def request(self, path: str, body: object, key: str) -> Any:
        """What the API answers."""
        headers = {"Authorization": f"Bearer {self.keys[key]}"}
        return self.app.test_client().post(path, json=body, headers=headers)

    def sweep(self) -> None:
        """What a worker does for every link."""
        _workers().sweep()

    def forget_connections(self) -> None:
        """Nothing that is open, and no thread that holds something, may be shared with a child."""
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join(JOIN_SECONDS)
        work = _workers()._drain()
        for ledger, store in ((self.parts.ledger, self.parts.store), (work.ledger, work.store)):
            ledger.engine.dispose()
            store._client.connection_pool.disconnect()
            store._scripts_on = PinnedConnections(store._client)
        _workers()._attending().deciding.wins._client.connection_pool.disconnect()

    def serve(self, role: Role, line: Connection, victim: Victim) -> NoReturn:
        """The life of a child."""
        Asking.line = line
        points = CrashPoints(line, victim)
        points.install()
        try:
            while True:
                step, last, message = line.recv()
                points.begin(step, last)
                answer = self._answer(message) if role == "api" else self._work(message)
                line.send((*answer, points.passed))
        except EOFError:
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the driver sees that nothing comes any more
            traceback.print_exc()
        os._exit(1)

    def _answer(self, message: tuple[str, object, str]) -> tuple[object, ...]:
        reply = self.request(*message)
        return "answer", reply.status_code, reply.json

    def _work(self, link: LinkId | None) -> tuple[object, ...]:
        try:
            _workers().drain(link) if link else _workers().sweep()
        except StoreUnavailable as error:
            return "unavailable", str(error)
        except Exception as error:  # noqa: BLE001 - told to the driver
            return "failed", repr(error)
        return ("done",)


# The one who plays tables and people.


class Failure(Exception):
    """A run went wrong."""


class Driver:
    """Passes on requests and messages; starts again what was killed."""

    def __init__(self, house: House, victim: Victim, then: Next, last: int) -> None:
        self._house = house
        self._victim = victim
        self._then = then
        self._last = last
        self._step = 0
        self._struck: set[tuple[int, Role]] = set()
        self._children: dict[Role, tuple[int, Connection]] = {}
        self.strikes: list[str] = []
        self.points: list[str] = []
        """Of those that were not struck."""

    def request(self, path: str, body: object, key: str) -> None:
        """A request by a table or a person, sent again until it is answered."""
        self._step += 1
        nudges = 0
        self._send("api", (path, body, key))
        while True:
            what, *rest = self._hear("api", path)
            if what == "nudge":
                # The first of a request is lost: a worker comes only when an answer waits for it.
                nudges += 1
                while nudges > 1 and not self._work(rest[0]) and self._then == "again":
                    pass
                self._tell("api", None)
            elif what == "dying" or (self._victim == "redis" and rest[0] == 503):
                if self._then == "later":
                    self._work(None)
                self._send("api", (path, body, key))
            elif what == "answer" and rest[0] in (200, 201, 202):
                return
            else:
                raise Failure(f"{path}: {what} {rest}")

    def sweep(self) -> None:
        """Two of them: the second lets go of what the first has brought into the ledger."""
        for _ in range(2):
            self._step += 1
            while not self._work(None):
                pass

    def _work(self, link: LinkId | None) -> bool:
        self._send("worker", link)
        what, *rest = self._hear("worker", link or "sweep")
        if what == "failed" or (what == "unavailable" and self._victim != "redis"):
            raise Failure(f"worker: {rest}")
        return bool(what == "done")

    def _send(self, role: Role, message: object) -> None:
        if role not in self._children:
            self._children[role] = self._fork(role)
        armed = self._victim in (role, "redis") and (self._step, role) not in self._struck
        self._tell(role, (self._step, self._last if armed else None, message))

    def _tell(self, role: Role, message: object) -> None:
        self._children[role][1].send(message)

    def _fork(self, role: Role) -> tuple[int, Connection]:
        ours, theirs = Pipe()
        pid = os.fork()
        if not pid:
            for line in (ours, *(line for _, line in self._children.values())):
                line.close()
            self._house.serve(role, theirs, self._victim)
        theirs.close()
        return pid, ours

    def _hear(self, role: Role, about: str) -> Any:
        """The next word of a child about itself; what concerns Redis is seen to here."""
        while True:
            try:
                message = self._children[role][1].recv()
            except EOFError:
                raise Failure(f"{role} {about}: ended without a word") from None
            if message[0] in ("dying", "redis"):
                self.strikes.append(f"{self._step} {about}: {role} {message[1]}")
                self._struck.add((self._step, role))
            if message[0] == "dying":
                self._bury(role)
            if message[0] in ("answer", "done") and role == self._victim and self._last:
                self.points += [f"{self._step} {about}: {role} {name}" for name in message[-1]]
            if message[0] != "redis":
                return message
            print(json.dumps({"kill": "redis"}), flush=True)
            sys.stdin.readline()
            self._tell(role, None)

    def _bury(self, role: Role) -> None:
        pid, line = self._children.pop(role)
        line.close()
        os.waitpid(pid, 0)

    def spare(self) -> None:
        """Nobody is killed from now on."""
        self._last = 0

    def stop(self) -> None:
        """Children that hear nobody any more end."""
        for role in list(self._children):
            self._bury(role)


class Beginning:
    """The state that every run begins with: a floor in force, and keys."""

    def __init__(self) -> None:
        settings = load_settings()
        self._client = redis.Redis.from_url(settings.redis_url)
        self._client.flushall()
        prepare_database(settings)
        apply_floor(settings, FLOOR, "crashing")
        self.keys = first_keys(settings, FLOOR)
        self.ledger = Ledger(settings.ledger_url)
        with self.ledger.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        self.ledger.engine.dispose()
        self._file = settings.data_path / "ledger.sqlite"
        self._copy = self._file.with_name("beginning.sqlite")
        shutil.copy(self._file, self._copy)
        names = cast("list[bytes]", self._client.keys())
        self._dumps = {name: cast("bytes", self._client.dump(name)) for name in names}

    def restore(self) -> None:
        """Back to it. Nobody has the files open."""
        for path in self._file.parent.glob("ledger.sqlite*"):
            path.unlink()
        shutil.copy(self._copy, self._file)
        self._client.flushall()
        for name, value in self._dumps.items():
            self._client.restore(name, 0, value)


def runs(victim: Victim, then: Next) -> Iterator[dict[str, Any]]:
    """Run after run, until nobody is killed in one."""
    beginning = Beginning()
    house = House.build(beginning.keys)
    Evening(house).play()
    house.forget_connections()
    gc.freeze()
    store = LinkStore(connect(load_settings().redis_url))
    last = 0
    while True:
        last += 1
        beginning.restore()
        driver = Driver(house, victim, then, last)
        evening = Evening(driver)
        found: dict[str, Any] = {}
        try:
            evening.play()
            found["outcome"] = outcome(beginning.ledger, store)
            driver.spare()
            evening.say_again()
            found["said_again"] = outcome(beginning.ledger, store)
        except (Failure, JackpotError) as error:
            found["failure"] = repr(error)
        finally:
            driver.stop()
            beginning.ledger.engine.dispose()
        yield {"strikes": driver.strikes, "points": driver.points, **found}
        if not driver.strikes:
            return


if __name__ == "__main__":
    for run in runs(cast("Victim", sys.argv[1]), cast("Next", sys.argv[2])):
        print(json.dumps(run), flush=True)
