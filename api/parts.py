"""The API's composition root: every real part, put together once per process."""

import threading
import time
from dataclasses import dataclass

from api.keyring import Keyring
from api.nudges import Nudges
from controller.queue import make_celery
from controller.services.deciding import Deciding
from controller.services.floor_in_force import FloorInForce
from controller.services.house_desk import HouseDesk
from controller.services.meters import Meters
from controller.services.presence import Presence
from controller.services.round_ends import RoundEnds
from controller.services.round_lookup import RoundLookup
from controller.services.rounds import Rounds
from controller.services.wins import Wins
from controller.settings import Settings
from controller.store.connection import connect, require_durable
from controller.store.link_store import LinkStore
from controller.store.win_store import WinStore
from models.archive import ClaimHistory, RoundArchive
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
    wins: WinStore
    deciding: Deciding
    claims: Wins
    house: HouseDesk
    presence: Presence
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
    lookup = RoundLookup(store, archive)
    wins = WinStore(client, store)

    def now() -> int:
        return time.time_ns() // 1000

    nudges = Nudges(store, make_celery(settings), threading.Event())
    deciding = Deciding(floor, store, wins, nudges, settings.ledger_wait_ms / 1000)
    return Parts(
        settings=settings,
        store=store,
        ledger=ledger,
        floor=floor,
        rounds=Rounds(floor, store, archive.bets, nudges),
        round_ends=RoundEnds(floor, lookup, wins, nudges),
        wins=wins,
        deciding=deciding,
        claims=Wins(deciding, lookup),
        house=HouseDesk(deciding, ClaimHistory(ledger)),
        presence=Presence(deciding, lookup),
        meters=Meters(floor, store, now),
        keyring=Keyring(lambda: valid_keys(ledger), time.monotonic),
        nudges=nudges,
    )
