"""Meters for signs: every answer is read after its question came, and many questions share one read.

A sign that asks right after a bet was acknowledged must see the bet, so nothing is kept for a time.
Whoever asks while a read is under way shares the next one, as bets share a script call.
"""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from controller.services.floor_in_force import FloorInForce
from controller.store.link_store import LinkStore, MeterState


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All meters at one reading."""

    number: int
    states: tuple[MeterState, ...]
    read_at: int
    """Microseconds since the epoch: no value here is older."""


class Meters:
    """Reads all meters of the floor."""

    def __init__(self, floor: FloorInForce, store: LinkStore, now: Callable[[], int]) -> None:
        self._floor = floor
        self._store = store
        self._now = now
        self._reading = Lock()
        self._begun = 0
        self._last = Snapshot(0, (), 0)

    def snapshot(self) -> Snapshot:
        """Every meter of the floor, read after this call began."""
        wanted = self._begun + 1
        with self._reading:
            if self._last.number < wanted:
                self._begun += 1
                read_at = self._now()
                floor = self._floor.known().floor
                states = self._store.meters(link for link in floor.link_ids if link in floor.links_by_id)
                self._last = Snapshot(self._begun, tuple(states), read_at)
            return self._last
