"""The API's composition root: every real part, put together once per process."""

import threading
import time
from dataclasses import dataclass

from api.keyring import Keyring
from api.nudges import Nudges
from controller.queue import make_celery
from controller.services.floor_in_force import FloorInForce
from controller.services.meters import Meters
from controller.services.round_ends import RoundEnds
from controller.services.rounds import Rounds
from controller.settings import Settings
from controller.store.connection import connect, require_durable
from controller.store.link_store import LinkStore
from models.archive import RoundArchive
from models.engine import Ledger
from models.in_force import FloorVersions
from models.keys import valid_keys


@dataclass(frozen=True, slots=True)
class Parts:
    """What handlers work with."""

    settings: Settings
    store: LinkStore
    ledger: Ledger
    floor: FloorInForce
    rounds: Rounds
    round_ends: RoundEnds
    meters: Meters
    keyring: Keyring
    nudges: Nudges


def assemble(settings: Settings) -> Parts:
    """Connect everything. Refuses a Redis that could lose what we acknowledge."""
    client = connect(settings.redis_url)
    if settings.require_durable_redis:
        require_durable(client)
    store = LinkStore(client)
    ledger = Ledger(settings.ledger_url)
    floor = FloorInForce(FloorVersions(ledger), store, time.monotonic)
    archive = RoundArchive(ledger)
    nudges = Nudges(store, make_celery(settings), threading.Event())
    return Parts(
        settings=settings,
        store=store,
        ledger=ledger,
        floor=floor,
        rounds=Rounds(floor, store, archive.bets, nudges),
        round_ends=RoundEnds(floor, store, archive, nudges),
        meters=Meters(floor, store, lambda: time.time_ns() // 1000),
        keyring=Keyring(lambda: valid_keys(ledger), time.monotonic),
        nudges=nudges,
    )
