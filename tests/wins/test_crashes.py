"""kill -9 between any two steps of freeze, settle, reset, envy and payment: the same money, paid once."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, ClassVar

import pytest
import redis

from api.app import create_app
from api.parts import Parts
from controller.jackpots.claims import Kind
from controller.money import to_micro
from deploy.embedded_redis import free_port
from deploy.prepare import first_keys
from models.claims import list_claims
from tests.api.conftest import assembled
from tests.support.servers import server_binaries
from tests.wins.crashing import FLOOR, LINKS, Evening, outcome

WAIT_SECONDS = 60

AWARDS = {
    # 10% of 100,300.00, then all of the 90,270.00 that were left and the 100.00 of the next bet.
    "A.1.1": ("major", "paid", 1_003_000, "supervisor", ["ada", "max"]),
    "B.1.1": ("major", "paid", 9_037_000, "supervisor", ["ada", "max"]),
    # Six bets of 86.2665 cents; the false claim before it counts for nothing.
    "P.1.1": ("major", "paid", 500_517, "supervisor", ["ada"]),
    "Q.1.1": ("major", "rejected", None, None, []),
    "P.1.2": ("trigger", "verified", None, "supervisor", []),
    "P.1.3": ("minor", "paid", 125_000, None, ["ada"]),
    "P.1.4": ("minor", "paid", 1_500, None, ["table P"]),
    "P.1.3.envy1": ("envy", "paid", 25_000, None, ["ada"]),
    "P.1.4.envy1": ("envy", "awarded", 25_000, "supervisor", []),
    "P.1.1.envy2": ("envy", "awarded", 5_000, None, []),
    "P.1.3.envy2": ("envy", "awarded", 5_000, None, []),
    "P.1.4.envy2": ("envy", "paid", 5_000, "supervisor", ["dealer"]),
    "P.1.1.envy3": ("envy", "awarded", 5_000, None, []),
    "P.1.4.envy3": ("envy", "awarded", 5_000, "supervisor", []),
}
"""By hand. Box 5 folded: it receives nothing."""
METERS = {
    # Status, value, overflow, reserve, owed, cycle. What comes after the last registration is the next.
    "m": ["running", to_micro(2_000_000 + 10_000), 0, 0, 0, 2],
    # The fraction of a cent and five more bets; the reserve went into the reset, but for the last four bets'.
    "t": ["running", to_micro(100_000) + 599_000 + 5 * 86_266_500, 0, to_micro(4 * 15), 0, 2],
}
ENTRIES = {
    "multi": {
        "link_configured": 1,
        "bets_recorded": 5,
        "claim_registered": 2,
        "claim_verified": 2,
        "round_closed": 1,
        "meter_settled": 1,
        "claim_paid": 2,
    },
    "three": {
        "link_configured": 1,
        "bets_recorded": 5,
        "claim_registered": 2,
        "claim_rejected": 1,
        "claim_verified": 5,
        "result_recorded": 1,
        "meter_settled": 1,
        "envy_awarded": 7,
        "claim_paid": 4,
    },
}
BY_API = {
    "claim_registered",
    "record_result",
    "claim_rejected",
    "claim_verified",
    "round_closed",
    "claim_paid",
}
BY_WORKER = {"meter_settled", "envy_awarded", "release", "forget"}
CRITICAL = {"api": BY_API, "worker": BY_WORKER | {"commit"}, "redis": BY_API | BY_WORKER}
"""Steps that must be among those after which somebody was killed."""


def check(found: dict[str, Any]) -> None:
    """Every award and envy award exactly once, every meter exact, every ledger zero."""
    assert {name: tuple(claim) for name, claim in found["claims"].items()} == AWARDS
    assert found["meters"] == METERS
    for link, held in found["balances"].items():
        assert Counter(entry.split()[0] for entry in found["entries"][link]) == ENTRIES[link]
        assert sum(held.values()) == 0
    held = {**found["balances"]["multi"], **found["balances"]["three"]}
    for meter, (_, value, _, reserve, _, _) in METERS.items():
        assert (held[f"meter/{meter}"], held.get(f"reserve/{meter}", 0)) == (value, reserve)
    paid = sum(to_micro(amount or 0) for _, status, amount, _, _ in AWARDS.values() if status == "paid")
    assert sum(found["balances"][link]["paid"] for link in LINKS) == paid
    # One posting makes it payable and one pays it; the straight was paid by the dealer and never payable.
    postings = {
        name: [to_micro(amount), *([-to_micro(amount)] if status == "paid" else [])]
        for name, (_, status, amount, _, _) in AWARDS.items()
        if amount is not None and name != "P.1.4"
    }
    assert found["payable"] == postings


class Redis:
    """A durable server that can be killed and started again, with what it had on disk."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        self.url = f"redis://127.0.0.1:{self._port}"
        self._command = [server_binaries()["valkey-9"], "--port", str(self._port), "--bind", "127.0.0.1"]
        self._command += [
            "--dir",
            str(folder),
            "--save",
            "",
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
        ]
        self._log = folder / "redis.log"
        self._start()

    def _start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        with redis.Redis(port=self._port) as client:
            _wait_until(partial(_answers, client), "Redis answers")

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()

    def restart(self) -> None:
        """kill -9, and back again."""
        self.kill()
        self._start()


def _answers(client: "redis.Redis") -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


def _wait_until(condition: Any, what: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Redis]:
    made = Redis(tmp_path)
    yield made
    made.kill()


def _environment(server: Redis, data_dir: Path) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JACKPOT_", "PROMETHEUS_"))}
    own = {"JACKPOT_REDIS_URL": server.url, "JACKPOT_DATA_DIR": str(data_dir), "JACKPOT_SWEEP_SECONDS": "1"}
    return {**inherited, **own}


def _runs(server: Redis, data_dir: Path, victim: str, then: str) -> list[dict[str, Any]]:
    """What `tests.wins.crashing` tells; its Redis is killed when it asks for that."""
    found = []
    command = [sys.executable, "-m", "tests.wins.crashing", victim, then]
    with (
        (data_dir / "crashing.log").open("w+") as log,
        subprocess.Popen(
            command,
            env=_environment(server, data_dir),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as program,
    ):
        try:
            for line in _lines(program.stdout):
                if "kill" in line:
                    server.restart()
                    print(file=program.stdin, flush=True)
                else:
                    found.append(line)
        finally:
            program.kill()
        log.seek(0)
        assert found, log.read()
        assert not found[-1]["strikes"], log.read()
    return found


def _lines(output: IO[str] | None) -> Iterator[dict[str, Any]]:
    for line in output or ():
        yield json.loads(line)


@pytest.mark.parametrize(
    ("victim", "then"),
    [("api", "again"), ("api", "later"), ("worker", "again"), ("worker", "later"), ("redis", "again")],
)
def test_whoever_is_killed_at_whichever_step_every_award_is_made_once(
    server: Redis, tmp_path: Path, victim: str, then: str
) -> None:
    *killed, undisturbed = _runs(server, tmp_path, victim, then)
    assert "failure" not in undisturbed, undisturbed
    check(undisturbed["outcome"])
    for run in (*killed, undisturbed):
        assert "failure" not in run, (run["failure"], run["strikes"][-1:])
        assert run["outcome"] == undisturbed["outcome"], run["strikes"]
        assert run["said_again"] == undisturbed["outcome"], run["strikes"]
    strikes = [strike for run in killed for strike in run["strikes"]]
    after = {strike.partition(" after ")[2] for strike in strikes}
    assert after >= CRITICAL[victim]
    if then == "again" and victim != "redis":
        # Not one point that an undisturbed evening has was left out, and none was hit twice.
        assert sorted(strikes) == sorted(undisturbed["points"])


class Workers:
    """A real Celery worker and beat."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self._environment = environment
        self._log = log
        self._processes = {name: self._start(name) for name in ("worker", "beat")}
        self.kills = 0

    def _start(self, name: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "deploy.cli", name]
        with self._log.open("ab") as log:
            return subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def kill_worker(self) -> None:
        """kill -9, whatever it is doing; another one starts at once."""
        worker = self._processes["worker"]
        assert worker.poll() is None, self._log.read_text()
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        self._processes["worker"] = self._start("worker")
        self.kills += 1

    def stop(self) -> None:
        for process in self._processes.values():
            process.terminate()
            process.wait(WAIT_SECONDS)


class Floor:
    """The application with real workers behind it, one of which dies now and then."""

    DEATHS: ClassVar = {11: 0.0, 16: 0.07, 23: 0.06, 24: 0.08, 33: 0.06}
    """During which requests, and how many seconds after they were sent. The moment decides nothing."""

    def __init__(self, parts: Parts, workers: Workers) -> None:
        self._parts = parts
        self._workers = workers
        self._client = create_app(parts).test_client()
        self._keys = first_keys(parts.settings, FLOOR)
        self._requests = 0

    def request(self, path: str, body: object, key: str) -> None:
        """202 says that it is recorded: nobody has to send it again."""
        self._requests += 1
        death = None
        if self._requests in self.DEATHS:
            _wait_until(self._drained, "a worker that works")
            death = threading.Timer(self.DEATHS[self._requests], self._workers.kill_worker)
            death.start()
        headers = {"Authorization": f"Bearer {self._keys[key]}"}
        try:
            reply = self._client.post(path, json=body, headers=headers)
        finally:
            if death is not None:
                death.join()
        assert reply.status_code in (200, 201, 202), reply.json

    def sweep(self) -> None:
        """Wait until the ledger has everything and nothing waits for an award."""
        _wait_until(self._settled, "every award is made")
        _wait_until(self._drained, "the ledger has everything")

    def _settled(self) -> bool:
        pending = list_claims(self._parts.ledger, status="registered,verified")
        return all(item.claim.kind is Kind.TRIGGER for item in pending)

    def _drained(self) -> bool:
        heads = {link: self._parts.store.head(link) for link in LINKS}
        return all(head and self._parts.store.released(link) == head.seq for link, head in heads.items())


def test_real_workers_that_are_killed_meanwhile_make_every_award_once(server: Redis, tmp_path: Path) -> None:
    with assembled(server.url, tmp_path, FLOOR) as parts:
        workers = Workers(_environment(server, tmp_path), tmp_path / "celery.log")
        try:
            evening = Evening(Floor(parts, workers))
            evening.play()
            check(outcome(parts.ledger, parts.store))
            evening.say_again()
            check(outcome(parts.ledger, parts.store))
        finally:
            workers.stop()
    assert workers.kills == len(Floor.DEATHS)
