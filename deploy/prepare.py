"""Making a database and a Redis ready to serve: schema, floor in force, first keys."""

import time
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from controller.errors import StartRefused
from controller.floor.file import parse_floor
from controller.services.commissioning import check_agreement, put_in_force, require_continuity
from controller.settings import Settings
from controller.store.connection import connect
from controller.store.link_store import LinkStore
from models.engine import Ledger
from models.in_force import all_floors, record_floor
from models.keys import Role, issue_key, subjects_with_keys
from models.migrate import migrate
from models.posting import position_of

OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Applied:
    """What putting a floor in force did."""

    version: int
    changed_links: list[str]


def floor_text(settings: Settings) -> tuple[str, str]:
    """The floor file's content and name: the one that is set, or the sample."""
    if settings.floor_file:
        try:
            return Path(settings.floor_file).read_text(encoding="utf-8"), settings.floor_file
        except (OSError, UnicodeDecodeError) as error:
            raise StartRefused(f"the floor file {settings.floor_file} cannot be read: {error}") from error
    return (files("deploy") / "floor.yaml").read_text(encoding="utf-8"), "the sample floor"


def apply_floor(settings: Settings, content: str, source: str) -> Applied:
    """Validate a floor and put it in force, unless Redis and the ledger disagree about the past."""
    floor = parse_floor(content, source)
    if not settings.redis_url:
        raise StartRefused("no Redis is named (JACKPOT_REDIS_URL) and none was started here")
    store = LinkStore(connect(settings.redis_url))
    ledger = Ledger(settings.ledger_url)
    for earlier in all_floors(ledger):
        require_continuity(earlier, floor)
    heads = {link: check_agreement(store, link, position_of(ledger, link)) for link in floor.link_ids}
    software = version("linked-jackpot-controller")
    put_in_force(store, floor, 0, software, heads, dry_run=True)
    number = record_floor(ledger, content, now())
    changed = put_in_force(store, floor, number, software, heads)
    return Applied(number, [str(link) for link in changed])


def first_keys(settings: Settings, content: str) -> dict[str, str]:
    """A key for the operator and for each table that never had one; shown once, stored hashed."""
    ledger = Ledger(settings.ledger_url)
    known = subjects_with_keys(ledger)
    wanted = [(Role.OPERATOR, OPERATOR)] + [(Role.TABLE, t.id) for t in parse_floor(content).tables]
    return {
        subject: issue_key(ledger, role, subject, now()) for role, subject in wanted if subject not in known
    }


def prepare_database(settings: Settings) -> None:
    """Bring the schema up to this version."""
    migrate(settings.ledger_url)


def now() -> int:
    """Microseconds since the epoch, for records that no journal entry times."""
    return time.time_ns() // 1000
