"""Meters for signs: a snapshot of every link, kept for a few milliseconds so that signs cost nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from controller.services.floor_in_force import FloorInForce
from controller.store.link_store import LinkStore, MeterState


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All meters at one reading."""

    states: tuple[MeterState, ...]
    read_at: int
    """Microseconds since the epoch: no value here is older."""


class Meters:
    """Reads all meters, at most once per cache time and process."""

    def __init__(self, floor: FloorInForce, store: LinkStore, cache_ms: int, now: Callable[[], int]) -> None:
        self._floor = floor
        self._store = store
        self._cache_micros = cache_ms * 1_000
        self._now = now
        self._lock = Lock()
        self._snapshot: Snapshot | None = None

    def snapshot(self) -> Snapshot:
        """Every meter of the floor, no older than the cache time."""
        known = self._snapshot
        if known is not None and 0 <= self._now() - known.read_at < self._cache_micros:
            return known
        with self._lock:
            known = self._snapshot
            started = self._now()
            if known is not None and 0 <= started - known.read_at < self._cache_micros:
                return known
            floor = self._floor.known().floor
            states = self._store.meters(link for link in floor.link_ids if link in floor.links_by_id)
            self._snapshot = Snapshot(tuple(states), started)
            return self._snapshot
