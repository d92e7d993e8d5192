"""The worker's composition root: tasks bound to real parts. `celery -A workers.main` finds `app` here."""

import logging
from functools import cache

from celery.signals import setup_logging, worker_ready
from prometheus_client import start_http_server

from controller.ids import LinkId
from controller.logs import configure_logs
from controller.queue import DRAIN, MESSAGE_SECONDS, SWEEP, UNDER_WAY_SECONDS, make_celery
from controller.settings import load_settings
from controller.store.connection import connect
from controller.store.link_store import LinkStore
from models.engine import Ledger
from models.in_force import floor_in_force
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


@app.task(name=DRAIN)
def drain(link: str) -> None:
    """Drain one link. Asked for by whoever wrote to its journal, and by the sweep."""
    work = _drain()
    work.store.clear_nudge(LinkId(link))
    taken = work.run(LinkId(link))
    if taken:
        log.debug("drained", extra={"link": link, "entries": taken})
    _ask_for(work, LinkId(link))


@app.task(name=SWEEP)
def sweep() -> None:
    """Ask for every link that has something waiting: whatever message was lost, this one comes."""
    work = _drain()
    found = floor_in_force(work.ledger)
    for link in found[1].link_ids if found else ():
        _ask_for(work, link)


def _ask_for(work: Drain, link: LinkId) -> None:
    """Ask for a drain where something waits, unless one is already under way: messages never pile up."""
    if work.store.backlog(link)[0] and work.store.claim_nudge(link, UNDER_WAY_SECONDS):
        drain.apply_async((link,), expires=MESSAGE_SECONDS)
