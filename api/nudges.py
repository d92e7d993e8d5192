"""Asking workers to drain a journal, without ever making a table wait for the broker.

A nudge is a hint. It is sent by a thread of its own, at most once per link while one is under way;
if the broker is down it is dropped, and the sweep finds the work.
"""

import logging
import threading

from celery import Celery

from controller.ids import LinkId
from controller.queue import DRAIN, MESSAGE_SECONDS, UNDER_WAY_SECONDS
from controller.store.link_store import LinkStore

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.05
"""What is written within this time is asked for together."""


class Nudges:
    """Collects links that have something to drain, and asks for them."""

    def __init__(self, store: LinkStore, celery: Celery, wake: threading.Event) -> None:
        self._store = store
        self._celery = celery
        self._wake = wake
        self._links: set[LinkId] = set()
        self._started = threading.Lock()

    def __call__(self, link: LinkId) -> None:
        """Ask for a drain soon; returns at once."""
        self._links.add(link)
        if not self._wake.is_set():
            self._wake.set()
        if self._started.acquire(blocking=False):
            # Started at the first use, so that it lives in the serving process and not in its parent.
            threading.Thread(target=self._run, name="nudges", daemon=True).start()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self._wake.wait()
            self._wake.clear()
            for _ in range(len(self._links)):
                self._ask(self._links.pop())
            pause.wait(PAUSE_SECONDS)

    def _ask(self, link: LinkId) -> None:
        try:
            if self._store.claim_nudge(link, UNDER_WAY_SECONDS):
                self._celery.send_task(DRAIN, args=[link], expires=MESSAGE_SECONDS)
        except Exception as error:  # noqa: BLE001 - whatever it was, the thread must live to ask again
            log.warning(
                "nudge not sent, the sweep will find the work", extra={"link": link, "detail": repr(error)}
            )
