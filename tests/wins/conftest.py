"""The real application with a worker beside it, and a casino whose tables have clocks of their own."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from api.parts import Parts
from controller.ids import LinkId
from controller.services.attending import Attending
from tests.api.conftest import assembled
from tests.wins.casino import Casino
from tests.wins.floors import floor_text
from workers.drain import Drain


class Worker:
    """What a Celery worker does for every link, in a thread of the test."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._drain = Drain(parts.store, parts.ledger, 100, 5)
        self._attending = Attending(parts.deciding)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.errors: list[BaseException] = []

    def once(self) -> None:
        """Attend to every link until nothing is due."""
        for link in self.parts.floor.known().floor.link_ids:
            self._drain.run(link)
            while self._attending.step(link, self.parts.store.released(LinkId(link))):
                self._drain.run(link)

    def _run(self) -> None:
        while not self._stop.wait(0.002):
            try:
                self.once()
            except BaseException as error:  # noqa: BLE001 - shown by the test
                self.errors.append(error)

    def __enter__(self) -> "Worker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        assert self.errors == []


Open = Callable[..., Casino]


@pytest.fixture
def casino(redis_url: str, tmp_path: Path) -> Iterator[Open]:
    """Opens a casino with a policy; a worker attends to it until the test ends."""
    made: list[Any] = []

    def start(**policy: object) -> Casino:
        with redis.Redis.from_url(redis_url) as client:
            client.flushall()
        context = assembled(redis_url, tmp_path, floor_text(policy), ledger_wait_ms=2000)
        parts = context.__enter__()
        worker = Worker(parts)
        worker.__enter__()
        made.extend([worker, context])
        return Casino(parts, floor_text(policy), worker)

    yield start
    for context in made:
        context.__exit__(None, None, None)
