"""The worker's composition root: tasks bound to real parts. `celery -A workers.main` finds `app` here."""

import logging
import time
from functools import cache

from celery.signals import setup_logging, worker_ready
from prometheus_client import start_http_server

from controller.ids import LinkId
from controller.logs import configure_logs
from controller.queue import DRAIN, MESSAGE_SECONDS, SWEEP, UNDER_WAY_SECONDS, make_celery
from controller.services.attending import Attending
from controller.services.deciding import Deciding
from controller.services.floor_in_force import FloorInForce
from controller.settings import load_settings
from controller.store.connection import connect
from controller.store.link_store import LinkStore
from controller.store.win_store import WinStore
from models.archive import alarm_subjects
from models.claims import awarded_since
from models.engine import Ledger
from models.in_force import FloorVersions, floor_in_force
from workers.drain import Drain

log = logging.getLogger(__name__)
settings = load_settings()
app = make_celery(settings)


@setup_logging.connect
def _configure_logs(**_: object) -> None:
    configure_logs(settings.log_level)


@worker_ready.connect
def _serve_metrics(**_: object) -> None:
    if settings.worker_metrics_port:
        start_http_server(settings.worker_metrics_port)


@cache
def _drain() -> Drain:
    return Drain(
        LinkStore(connect(settings.redis_url)),
        Ledger(settings.ledger_url),
        settings.drain_batch,
        settings.drain_seconds,
    )


def _nobody(link: LinkId) -> None:
    """A worker that decides something drains it itself."""


@cache
def _attending() -> Attending:
    work = _drain()
    floor = FloorInForce(FloorVersions(work.ledger), work.store, time.monotonic)
    wins = WinStore(connect(settings.redis_url), work.store)
    return Attending(Deciding(floor, work.store, wins, _nobody))


@app.task(name=DRAIN)
def drain(link: str) -> None:
    """Drain one link. Asked for by whoever wrote to its journal, and by the sweep."""
    work = _drain()
    work.store.clear_nudge(LinkId(link))
    taken = work.run(LinkId(link))
    # What has just been ledgered may make something due, and what that writes is ledgered at once, too.
    while _attending().step(LinkId(link), work.store.released(LinkId(link))):
        taken += work.run(LinkId(link))
    if taken:
        log.debug("drained", extra={"link": link, "entries": taken})
    if work.store.backlog(LinkId(link))[0]:
        _ask_for(work, LinkId(link))


@app.task(name=SWEEP)
def sweep() -> None:
    """Ask for every link that has something waiting: whatever message was lost, this one comes."""
    work = _drain()
    found = floor_in_force(work.ledger)
    for link in found[1].link_ids if found else ():
        if work.store.has_work(link):
            _attending().forget(link, work.store.released(link))
            _ask_for(work, link)
    for name, awarded in awarded_since(work.ledger).items():
        _attending().watch(LinkId(name), awarded, alarm_subjects(work.ledger, name, "unpaid/"))


def _ask_for(work: Drain, link: LinkId) -> None:
    """Ask for a drain unless one is already under way: messages never pile up."""
    if work.store.claim_nudge(link, UNDER_WAY_SECONDS):
        drain.apply_async((link,), expires=MESSAGE_SECONDS)
