"""The floor in force, as this process knows it, and how it learns of a newer one."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from controller.errors import Code, Refused
from controller.floor.definition import Floor, Table
from controller.ids import LinkId
from controller.store.link_store import LinkMissing, LinkStore, StaleDefinition

FloorSource = Callable[[], "tuple[int, Floor] | None"]


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
    """Holds the floor in memory; a script's 'stale' is the signal to read it again."""

    def __init__(self, source: FloorSource, store: LinkStore) -> None:
        self._source = source
        self._store = store
        self._lock = Lock()
        self._known: KnownFloor | None = None

    def known(self) -> KnownFloor:
        """The floor as this process knows it."""
        return self._known or self._load()

    def after_stale(self, stale: KnownFloor, error: StaleDefinition) -> KnownFloor:
        """A newer floor than the one that turned out stale, or a refusal that is safe to retry."""
        with self._lock:
            current = self._known
        if current is stale:
            current = self._load()
        if current is None or current is stale:
            raise Refused(Code.FLOOR_CHANGING, f"{error}; try again in a moment")
        return current

    def _load(self) -> KnownFloor:
        found = self._source()
        if found is None:
            raise LinkMissing("no floor is in force yet")
        version, floor = found
        epochs: dict[LinkId, int] = {}
        for link in floor.link_ids:
            head = self._store.head(link)
            if head is None:
                raise LinkMissing(f"Redis does not hold link {link}")
            epochs[link] = head.epoch
        known = KnownFloor(version, floor, epochs)
        with self._lock:
            self._known = known
        return known
