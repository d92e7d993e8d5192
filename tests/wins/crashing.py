"""A casino whose API or worker is killed at a chosen step: `python -m tests.wins.crashing VICTIM NEXT`.

One process plays the tables and the people. It forks an API and a worker, real ones, and passes on every
request and every message itself, so that a run is the same each time it is repeated. In the victim each
script call and each commit has a crash point before and after it. Run N kills the victim at its Nth point
with SIGKILL, starts it again and plays on as if nothing were known of it: the request that got no answer
is sent again with the same body, the message that the worker had is lost. The last run reaches no such
point and is the one that the others are compared with. Each run is a line of JSON.

VICTIM is `api` or `worker`; NEXT says what an API that was killed sees first when it is back: `retry`, the
request again while the worker has done nothing, or `drain`, the request after the worker has.
"""

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NoReturn

import redis
from sqlalchemy import Engine, event, select
from sqlalchemy.orm import Session

import api.parts
import workers.main
from api.app import create_app
from controller.clock import to_text
from controller.errors import JackpotError
from controller.ids import LinkId
from controller.settings import load_settings
from controller.store.scripts import Script
from deploy.prepare import apply_floor, first_keys, prepare_database
from models.archive import balances
from models.audit import check_link
from models.claims import list_claims
from models.engine import Ledger
from models.ledger import AuditEntry, PostingRow
from tests.wins.floors import floor_text

LINKS = ("multi", "three")
CLOCK_ERROR_US = 500
MOMENT_SECONDS = 0.002
"""Longer than the clocks' error: whatever is this far apart is in order beyond doubt."""

Role = Literal["api", "worker"]
Next = Literal["retry", "drain"]


# The processes that are killed.


class CrashPoints:
    """Counts the steps of a process, and ends it at one of them."""

    def __init__(self, line: Connection, last: int | None) -> None:
        self._line = line
        self._last = last
        self._reached = 0
        self._call = Script.call

    def install(self) -> None:
        """Put a point before and after each script call and each commit of this process."""
        points, call = self, Script.call

        def called(self: Script, client: Any, keys: Any, rest: list[str] | None = None, **named: str) -> object:
            name = f"{self.name} {named['kind']}" if "kind" in named else self.name
            points.reach(f"before {name}")
            reply = call(self, client, keys, rest, **named)
            points.reach(f"after {name}")
            return reply

        Script.call = called  # type: ignore[method-assign]
        event.listen(Engine, "commit", lambda _: points.reach("before commit"))
        event.listen(Session, "after_commit", lambda _: points.reach("after commit"))

    def reach(self, name: str) -> None:
        """A step is about to be taken, or has been."""
        self._reached += 1
        if self._reached == self._last:
            self._line.send(("dying", name))
            os.kill(os.getpid(), signal.SIGKILL)


class Asking:
    """The API's way to ask for a drain: the driver passes it on, or does not."""

    line: Connection | None = None

    def __init__(self, *_: object) -> None:
        """Takes what the real one takes; its thread and its 50 ms are what a run must not depend on."""

    def __call__(self, link: LinkId) -> None:
        """Ask, and go on when the driver says so."""
        if self.line is not None:
            self.line.send(("nudge", link))
            self.line.recv()


def _make_app() -> Any:
    """The application over parts that have not connected to anything yet: that happens after the fork."""
    api.parts.Nudges = Asking  # type: ignore[misc,assignment]
    workers.main.app.conf.update(task_always_eager=True, task_eager_propagates=True)
    return create_app(api.parts.assemble(load_settings()))


def _serve_api(app: Any, line: Connection) -> None:
    client = app.test_client()
    Asking.line = line
    while True:
        path, body, key = line.recv()
        reply = client.post(path, json=body, headers={"Authorization": f"Bearer {key}"})
        line.send(("answer", reply.status_code, reply.json))


def _serve_worker(_: Any, line: Connection) -> None:
    while True:
        workers.main.drain(line.recv())
        line.send(("done",))


@dataclass
class Process:
    """One process and the line to it."""

    pid: int
    line: Connection


def _fork(app: Any, role: Role, last: int | None, others: list[Connection]) -> Process:
    ours, theirs = Pipe()
    pid = os.fork()
    if pid:
        theirs.close()
        return Process(pid, ours)
    for line in (ours, *others):
        line.close()
    _live(app, role, theirs, last)


def _live(app: Any, role: Role, line: Connection, last: int | None) -> NoReturn:
    try:
        CrashPoints(line, last).install()
        (_serve_api if role == "api" else _serve_worker)(app, line)
    except EOFError:
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - told to the driver
        line.send(("failed", repr(error)))
        os._exit(1)


# The one who plays tables and people.


class Failure(Exception):
    """A run went wrong."""


@dataclass
class Driver:
    """Passes on requests and messages; starts again what was killed."""

    app: Any
    keys: dict[str, str]
    victim: Role
    then: Next
    last: int
    killed_at: str | None = None
    _processes: dict[Role, Process] = field(default_factory=dict)

    def request(self, path: str, body: object = None, key: str = "operator") -> Any:
        """A request by a table or a person, sent again until it is answered."""
        asked = 0
        self._send("api", (path, body, self.keys[key]))
        while True:
            what, *rest = self._hear("api")
            if what == "nudge":
                # The first is lost on the way: the worker comes when the answer waits for it.
                asked += 1
                if asked > 1:
                    self._drain_once(rest[0])
                self._send("api", None)
            elif what == "dying":
                if self.then == "drain":
                    self.drain()
                self._send("api", (path, body, self.keys[key]))
            elif what == "answer" and rest[0] in (200, 201):
                return rest[1]
            else:
                raise Failure(f"{path}: {what} {rest}")

    def drain(self) -> None:
        """What the sweep does: every link is drained, however often a worker dies of it."""
        for link in LINKS:
            while not self._drain_once(link):
                pass

    def _drain_once(self, link: str) -> bool:
        self._send("worker", link)
        what, *rest = self._hear("worker")
        if what == "failed":
            raise Failure(f"worker: {rest}")
        return bool(what == "done")

    def _send(self, role: Role, message: object) -> None:
        if role not in self._processes:
            last = self.last if role == self.victim and self.killed_at is None else None
            others = [process.line for process in self._processes.values()]
            self._processes[role] = _fork(self.app, role, last, others)
        self._processes[role].line.send(message)

    def _hear(self, role: Role) -> Any:
        message = self._processes[role].line.recv()
        if message[0] == "dying":
            self.killed_at = f"{role} {message[1]}"
            self._bury(role)
        return message

    def _bury(self, role: Role) -> None:
        process = self._processes.pop(role)
        process.line.close()
        os.waitpid(process.pid, 0)

    def stop(self) -> None:
        """End what is still running: it hears that nobody is there any more."""
        for role in list(self._processes):
            self._bury(role)


def play(driver: Driver) -> None:
    """Two majors on one meter in reverse order of arrival; one with envy, a trigger and minors; payment."""
    for table in "ABCPQ":
        driver.request(f"/v1/tables/{table}/heartbeat", _beat(measured=True), table)
    for table, boxes in (("A", _boxes("A")), ("B", _boxes("B")), ("C", _boxes("C")), ("P", PLACED)):
        _bets(driver, table, 1, boxes)
    _bets(driver, "Q", 1, _boxes("Q"))
    dealt = {name: _moment() for name in ("A", "B", "P")}
    _moment()
    _win(driver, "B", "royal_flush", dealt)
    _bets(driver, "C", 2, _boxes("C"))
    _win(driver, "A", "straight_flush", dealt)
    _win(driver, "P", "akq_spades", dealt)
    _bets(driver, "Q", 2, _boxes("Q"))
    boxes = [{**row, "dealt_at": dealt["P"]} for row in SHOWN]
    driver.request("/v1/tables/P/rounds/1/result", {"dealer": DEALER, "boxes": boxes}, "P")
    for claim in VERIFIED:
        driver.request(f"/v1/claims/{claim}/verify", {"by": "supervisor"})
    driver.request("/v1/tables/A/rounds/1/close", {}, "A")
    for table in "ABCPQ":
        driver.request(f"/v1/tables/{table}/heartbeat", _beat(), table)
    driver.drain()
    for claim, people in PAID.items():
        driver.request(f"/v1/claims/{claim}/pay", {"by": people})
    driver.request(f"/v1/tables/P/claims/{PAID_AT_TABLE}/paid", {"by": ["dealer"]}, "P")
    driver.drain()


DEALER = ["3C", "7H", "9S"]
PLACED = [
    {"box": 1, "player": "ann", "ante_cents": 1000, "progressive_cents": 500},
    {"box": 2, "player": "bob", "ante_cents": 1000},
    {"box": 3, "player": "cid", "ante_cents": 1000, "progressive_cents": 500},
    {"box": 4, "player": "dot", "ante_cents": 1000, "progressive_cents": 500},
    {"box": 5, "player": "eve", "ante_cents": 1000, "progressive_cents": 500},
    {"box": 6, "ante_cents": 1000, "progressive_cents": 500},
]
"""Box 2 has no progressive bet, box 6 no name."""
SHOWN: list[dict[str, Any]] = [
    {"box": 1, "cards": ["AS", "KS", "QS"], "decision": "play"},
    {"box": 2, "cards": ["AH", "KH", "QH"], "decision": "play"},
    {"box": 3, "cards": ["AD", "KD", "QD"], "decision": "play"},
    {"box": 4, "cards": ["4C", "5D", "6H"], "decision": "play"},
    {"box": 5, "cards": ["2S", "7D", "9C"], "decision": "fold"},
    {"box": 6, "cards": ["2C", "8H", "JD"], "decision": "play"},
]
"""A major, a trigger, a minor that a person pays, one that the dealer pays, a fold, nothing."""
VERIFIED = ["B.1.1", "A.1.1", "P.1.1", "P.1.2", "P.1.6.envy1", "P.1.6.envy2", "P.1.6.envy3"]
PAID = {
    "A.1.1": ["manager", "cashier"],
    "B.1.1": ["manager", "cashier"],
    "P.1.1": ["manager"],
    "P.1.3": ["manager"],
    "P.1.3.envy1": ["manager"],
}
PAID_AT_TABLE = "P.1.4.envy2"


def _now() -> str:
    return to_text(time.time_ns() // 1000)


def _moment() -> str:
    """Let a moment pass; the time in the middle of it."""
    time.sleep(MOMENT_SECONDS)
    middle = _now()
    time.sleep(MOMENT_SECONDS)
    return middle


def _beat(*, measured: bool = False) -> dict[str, Any]:
    body: dict[str, Any] = {"sent_at": _moment(), "rounds": []}
    if measured:
        sent = time.time_ns() // 1000
        times = {"sent_at": 0, "received_at": 1, "answered_at": 1, "got_at": 2}
        body["last_exchange"] = {name: to_text(sent + n * CLOCK_ERROR_US) for name, n in times.items()}
    return body


def _boxes(table: str) -> list[dict[str, Any]]:
    amount = 500 if table == "Q" else 10_000
    return [{"box": 1, "player": f"p{table}", "ante_cents": 1000, "progressive_cents": amount}]


def _bets(driver: Driver, table: str, number: int, boxes: list[dict[str, Any]]) -> None:
    body = {"bets_closed_at": _moment(), "boxes": boxes}
    driver.request(f"/v1/tables/{table}/rounds/{number}/bets", body, table)


def _win(driver: Driver, table: str, hand: str, dealt: dict[str, str]) -> None:
    body = {"box": 1, "dealt_at": dealt[table], "hand": hand}
    driver.request(f"/v1/tables/{table}/rounds/1/wins", body, table)


# What is left when it is over.


def outcome(ledger: Ledger, store: Any) -> dict[str, Any]:
    """All that must not depend on who was killed when; what holds by itself is checked on the way."""
    found: dict[str, Any] = {"balances": {}, "entries": {}, "meters": {}}
    for name in LINKS:
        link = LinkId(name)
        head = store.head(link)
        if (store.backlog(link)[0], store.released(link), check_link(ledger, link)) != (0, head.seq, head.seq):
            raise Failure(f"link {link}: the ledger does not have all of the journal, each once")
        found["balances"][name] = dict(sorted(balances(ledger, link).items()))
        with ledger.reading() as session:
            rows = session.execute(
                select(AuditEntry.kind, AuditEntry.round, AuditEntry.postings).where(AuditEntry.link == name)
            )
            found["entries"][name] = sorted(" ".join(row) for row in rows)
    for meter in store.meters([LinkId(name) for name in LINKS]):
        pot = meter.pot
        found["meters"][pot.id] = [meter.status, pot.value, pot.reserve, pot.owed, pot.cycle, pot.frozen]
    found["claims"] = {
        item.claim.id: [
            item.claim.kind,
            item.claim.status,
            item.claim.amount_cents,
            item.claim.verified_by,
            item.claim.paid_by,
        ]
        for item in list_claims(ledger)
    }
    with ledger.reading() as session:
        lines = session.execute(
            select(PostingRow.account, PostingRow.amount)
            .where(PostingRow.account.startswith("payable/"))
            .order_by(PostingRow.seq, PostingRow.line)
        )
        found["payable"] = {}
        for account, amount in lines:
            found["payable"].setdefault(account.partition("/")[2], []).append(amount)
    return found


class Beginning:
    """The state that every run begins with: a floor in force, and keys."""

    def __init__(self) -> None:
        self._settings = load_settings()
        self._client = redis.Redis.from_url(self._settings.redis_url)
        self._client.flushall()
        prepare_database(self._settings)
        apply_floor(self._settings, floor_text(), "crashing")
        self.keys = first_keys(self._settings, floor_text())
        self._file = self._settings.data_path / "ledger.sqlite"
        self._copy = self._file.with_suffix(".beginning")
        self.ledger = Ledger(self._settings.ledger_url)
        with self.ledger.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        self.ledger.engine.dispose()
        shutil.copy(self._file, self._copy)
        names: list[bytes] = self._client.keys()  # type: ignore[assignment]
        self._dumps = {name: self._client.dump(name) for name in names}

    def restore(self) -> None:
        """Back to it. No process has the files open."""
        for path in self._file.parent.glob("ledger.sqlite*"):
            path.unlink()
        shutil.copy(self._copy, self._file)
        self._client.flushall()
        for name, value in self._dumps.items():
            self._client.restore(name, 0, value)  # type: ignore[arg-type]


def runs(victim: Role, then: Next) -> Iterator[dict[str, Any]]:
    """Run after run, each killed one step later, until one is not killed."""
    beginning = Beginning()
    app = _make_app()
    store = workers.main.LinkStore(workers.main.connect(load_settings().redis_url))
    last = 0
    while True:
        last += 1
        beginning.restore()
        driver = Driver(app, beginning.keys, victim, then, last)
        found: dict[str, Any] = {}
        try:
            play(driver)
            driver.stop()
            found["outcome"] = outcome(beginning.ledger, store)
        except (Failure, JackpotError) as error:
            found["failure"] = repr(error)
        finally:
            driver.stop()
            beginning.ledger.engine.dispose()
        yield {"killed": driver.killed_at, **found}
        if driver.killed_at is None:
            return


if __name__ == "__main__":
    for run in runs(sys.argv[1], sys.argv[2]):  # type: ignore[arg-type]
        print(json.dumps(run), flush=True)
