"""The floor in force, as this process knows it, and how it learns of a newer one.

Three ways: a script says 'stale' (always right, the moment it matters), a table is unknown, or some
seconds have passed. None of them may stop bets while SQL is down.
"""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, Thread
from typing import Protocol, TypeVar

from controller.errors import Code, LedgerUnavailable, Refused, StoreUnavailable
from controller.floor.definition import Floor, Table
from controller.ids import LinkId
from controller.store.link_store import LinkMissing, LinkStore, StaleDefinition

Result = TypeVar("Result")

REFRESH_SECONDS = 5.0
UNKNOWN_SECONDS = 0.1
"""Unknown tables may make us look at most this often: a guesser must not become a load on SQL."""


class FloorSource(Protocol):
    """Where floor versions are kept."""

    def version(self) -> int:
        """The number of the newest version; 0 before the first."""

    def load(self) -> tuple[int, Floor] | None:
        """The newest version."""


@dataclass(frozen=True, slots=True)
class KnownFloor:
    """A floor version with the epoch of each of its links."""

    version: int
    floor: Floor
    epochs: dict[LinkId, int]

    def table(self, name: str) -> Table:
        """A table by name, or a refusal that names the field."""
        table = self.floor.tables_by_id.get(name)
        if table is None:
            raise Refused(Code.TABLE_UNKNOWN, f"table: there is no table {name!r} on this floor")
        return table

    def address(self, link: LinkId) -> tuple[LinkId, int, str]:
        """What a script is told: the link, its epoch, and the definition that we know."""
        return link, self.epochs[link], self.floor.digest(link)


class FloorInForce:
    """Holds the floor in memory."""

    def __init__(self, source: FloorSource, store: LinkStore, now: Callable[[], float]) -> None:
        self._source = source
        self._store = store
        self._now = now
        self._lock = Lock()
        self._known: KnownFloor | None = None
        self._checked_at = 0.0

    def known(self) -> KnownFloor:
        """The floor as this process knows it, checked every few seconds."""
        known = self._known
        if known is None:
            return self._load()
        if self._now() - self._checked_at > REFRESH_SECONDS:
            # In the background: a database that hangs must not hold a table's bets.
            self._checked_at = self._now()
            Thread(target=self._check, args=(known,), name="floor", daemon=True).start()
        return known

    def require_table(self, name: str) -> None:
        """Refuse a table that is not on the floor, after one look for a newer floor that has it."""
        known = self.known()
        if name not in known.floor.tables_by_id and self._now() - self._checked_at > UNKNOWN_SECONDS:
            known = self._check(known)
        known.table(name)

    def with_floor(self, attempt: Callable[[KnownFloor], Result]) -> Result:
        """Do something by the floor as it is known; once more if the store says that it has changed."""
        known = self.known()
        try:
            return attempt(known)
        except StaleDefinition as error:
            newer = self._after_stale(known, error)
        try:
            return attempt(newer)
        except StaleDefinition as error:
            raise Refused(Code.FLOOR_CHANGING, f"{error}; try again in a moment") from error

    def _after_stale(self, stale: KnownFloor, error: StaleDefinition) -> KnownFloor:
        """A newer floor than the one that turned out stale, or a refusal that is safe to retry."""
        current = self._load() if self._known is stale else self._known
        if current is None or (current.version == stale.version and current.epochs == stale.epochs):
            raise Refused(Code.FLOOR_CHANGING, f"{error}; try again in a moment")
        return current

    def _check(self, known: KnownFloor) -> KnownFloor:
        self._checked_at = self._now()
        try:
            return known if self._source.version() == known.version else self._load()
        except (LedgerUnavailable, StoreUnavailable):
            return known

    def _load(self) -> KnownFloor:
        with self._lock:
            found = self._source.load()
            if found is None:
                raise LinkMissing("no floor is in force yet")
            version, floor = found
            epochs: dict[LinkId, int] = {}
            for link in floor.link_ids:
                head = self._store.head(link)
                if head is None:
                    raise LinkMissing(f"Redis does not hold link {link}")
                epochs[link] = head.epoch
            self._known = KnownFloor(version, floor, epochs)
            self._checked_at = self._now()
            return self._known
