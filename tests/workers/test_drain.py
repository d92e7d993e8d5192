"""Draining the journal: crashes between steps, lost and repeated messages, and a journal that lies."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from controller.errors import Code, LedgerMismatch, Refused
from controller.ids import LinkId
from controller.queue import DRAIN, make_celery
from controller.settings import Settings
from controller.store.keys import LinkKeys
from controller.store.link_store import LinkStore
from deploy.prepare import apply_floor, prepare_database
from models.audit import check_link
from models.engine import Ledger
from models.posting import START, _Batch, position_of, post_entries
from tests.support.floors import LINK, commission, locked, small_floor
from tests.unit.test_floor_file import SAMPLE
from workers.drain import Drain

FLOOR = small_floor()
TCP = LinkId("three-card")


@pytest.fixture
def drain(store: LinkStore, sqlite_ledger: Ledger) -> Drain:
    commission(store, FLOOR)
    return Drain(store, sqlite_ledger, batch=4, seconds=60)


def play(store: LinkStore, first: int, last: int) -> None:
    for number in range(first, last + 1):
        store.contribute(LINK, 1, FLOOR.digest(LINK), [[locked(FLOOR, "T-1", number, 1)]])


def test_the_journal_is_drained_in_order_and_let_go(drain: Drain) -> None:
    play(drain.store, 1, 10)
    assert drain.run(LINK) == 11
    assert drain.run(LINK) == 0
    assert drain.store.backlog(LINK) == (0, None)
    assert check_link(drain.ledger, LINK) == 11


def test_a_worker_that_died_between_commit_and_release_leaves_nothing_behind(drain: Drain) -> None:
    play(drain.store, 1, 6)
    post_entries(drain.ledger, LINK, drain.store.journal_after(LINK, 0, 5))
    assert drain.store.backlog(LINK)[0] == 7
    assert drain.run(LINK) == 2
    assert drain.store.backlog(LINK)[0] == 0
    assert drain.store.record(LINK, "T-1", 5) is None
    assert check_link(drain.ledger, LINK) == 7


def test_a_worker_that_died_before_commit_has_changed_nothing(drain: Drain) -> None:
    play(drain.store, 1, 3)

    class Died(BaseException):
        pass

    def die_before_commit() -> None:
        with drain.ledger.writing() as session:
            entries = drain.store.journal_after(LINK, 0, 10)
            batch = _Batch(session, LINK, START, entries)
            for entry in entries:
                batch.take(entry)
            batch.write()
            raise Died

    with pytest.raises(Died):
        die_before_commit()
    assert position_of(drain.ledger, LINK).seq == 0
    assert drain.run(LINK) == 4


def test_a_journal_that_contradicts_the_ledger_closes_the_link(drain: Drain) -> None:
    play(drain.store, 1, 3)
    drain.run(LINK)
    fields = {"epoch": "1", "at": "9" * 15, "kind": "bets_recorded", "round": "T-1/4", "facts": "{}"}
    fields |= {"postings": "bets=-1;house=1", "after": "", "head": "0" * 40}
    drain.store._client.xadd(LinkKeys.of(LINK).stream, fields, id="5-0")  # type: ignore[arg-type]
    with pytest.raises(LedgerMismatch):
        drain.run(LINK)
    with pytest.raises(Refused) as refused:
        play(drain.store, 4, 4)
    assert refused.value.code is Code.LINK_CLOSED
    assert check_link(drain.ledger, LINK) == 4


def test_a_stream_entry_that_is_not_ours_is_refused(drain: Drain) -> None:
    play(drain.store, 1, 1)
    drain.store._client.xadd(LinkKeys.of(LINK).stream, {"kind": "x"}, id="3-0")
    with pytest.raises(LedgerMismatch, match="not a journal entry"):
        drain.run(LINK)
    head = drain.store.head(LINK)
    assert head is not None
    assert head.status == "closed"


@pytest.fixture
def settings(redis_url: str, tmp_path: Path) -> Settings:
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    made = Settings(redis_url=redis_url, data_dir=str(tmp_path), sweep_seconds=1)
    prepare_database(made)
    apply_floor(made, SAMPLE, "sample")
    return made


@pytest.fixture
def celery_processes(settings: Settings, tmp_path: Path) -> Iterator[list[str]]:
    """Which real processes to start: the test fills the list by name."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "JACKPOT_REDIS_URL": settings.redis_url,
        "JACKPOT_DATA_DIR": settings.data_dir,
        "JACKPOT_SWEEP_SECONDS": "1",
    }
    processes = []
    with (tmp_path / "celery.log").open("ab") as log:
        for name in ("worker", "beat"):
            command = [sys.executable, "-m", "deploy.cli", name]
            processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        yield [str(process.pid) for process in processes]
        for process in processes:
            process.terminate()
            process.wait(30)


@pytest.mark.usefixtures("celery_processes")
def test_work_whose_message_was_lost_is_found_by_the_sweep(settings: Settings) -> None:
    """Commissioning wrote to every journal and sent no message at all."""
    ledger = Ledger(settings.ledger_url)
    _wait_for(lambda: position_of(ledger, TCP).seq == 1)
    ledger.engine.dispose()


@pytest.mark.usefixtures("celery_processes")
def test_repeated_and_useless_messages_change_nothing(settings: Settings) -> None:
    app = make_celery(settings)
    for _ in range(50):
        app.send_task(DRAIN, args=["three-card"])
        app.send_task(DRAIN, args=["no-such-link"])
    ledger = Ledger(settings.ledger_url)
    _wait_for(lambda: position_of(ledger, TCP).seq == 1)
    assert check_link(ledger, TCP) == 1
    ledger.engine.dispose()
    app.close()


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
